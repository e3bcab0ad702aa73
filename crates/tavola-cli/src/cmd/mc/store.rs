//! `tavola mc set`, `add`, `replace`, `append`, `prepend`: one value; what memccp is for files.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use tavola_client::StoreOptions;

use super::entries::exptime;
use super::failure;
use super::fleet::FleetArgs;
use crate::args::{Notation, ValueArg, parse_ttl};
use crate::error::CliError;

const STORE_EXAMPLES: &str = "\
Examples:
  tavola mc set user:1 '{\"cart\":3}' --ttl 30m --servers 10.0.0.1,10.0.0.2
  tavola mc set page:/ --file index.html
  date +%s | tavola mc add lock:nightly --ttl 1h

The exit code of add and replace is 1 if the condition does not hold and nothing was
stored. Input from a pipe or a file is stored exactly, including the last newline.";

const JOIN_EXAMPLES: &str = "\
Examples:
  tavola mc append log:today ' one more' --servers 10.0.0.1,10.0.0.2
  tavola mc prepend log:today 'first '

Flags and expiry time stay. The exit code is 1 if the key is missing.";

/// Which key and value, and what is stored beside it.
#[derive(clap::Args)]
#[command(after_help = STORE_EXAMPLES)]
pub struct StoreArgs {
    #[command(flatten)]
    pair: Pair,
    /// Expire the key after this time: 90, 2h, 7d, in whole seconds [default: never]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl)]
    ttl: Option<Duration>,
    /// A number stored with the value, for your own use
    #[arg(long, value_name = "N", default_value_t = 0)]
    flags: u32,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Which key, and the bytes for its value.
#[derive(clap::Args)]
#[command(after_help = JOIN_EXAMPLES)]
pub struct JoinArgs {
    #[command(flatten)]
    pair: Pair,
    #[command(flatten)]
    fleet: FleetArgs,
}

#[derive(clap::Args)]
struct Pair {
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    value: ValueArg,
    #[command(flatten)]
    notation: Notation,
}

/// When a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Set,
    Add,
    Replace,
}

/// Where bytes are put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Front,
    Back,
}

pub fn run(args: StoreArgs, verb: Verb) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let key = args.pair.notation.read(&args.pair.key)?;
    let value = args.pair.value.read()?;
    let options = StoreOptions {
        flags: args.flags,
        exptime: exptime(args.ttl),
        ..StoreOptions::default()
    };
    let is_stored = match verb {
        Verb::Set => client.set(&key, &value, options).map(|()| true),
        Verb::Add => client.add(&key, &value, options),
        Verb::Replace => client.replace(&key, &value, options),
    };
    Ok(code(is_stored.map_err(failure)?))
}

pub fn join(args: JoinArgs, end: End) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let key = args.pair.notation.read(&args.pair.key)?;
    let value = args.pair.value.read()?;
    let is_stored = match end {
        End::Front => client.prepend(&key, &value),
        End::Back => client.append(&key, &value),
    };
    Ok(code(is_stored.map_err(failure)?))
}

fn code(is_stored: bool) -> ExitCode {
    match is_stored {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::MISSING),
    }
}
