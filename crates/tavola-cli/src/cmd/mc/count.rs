//! `tavola mc incr` and `decr`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Map;
use tavola_client::CountOptions;

use super::entries::exptime;
use super::failure;
use super::fleet::FleetArgs;
use crate::args::{Notation, parse_ttl};
use crate::error::CliError;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tavola mc incr visits --servers 10.0.0.1,10.0.0.2
  tavola mc incr visits 10 --initial 1 --ttl 1d
  tavola mc decr seats

The exit code is 1 if the counter is missing and --initial is not given. A counter wraps
from 2^64 - 1 to 0, and does not go below 0.";

/// Which counter, and by how much.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    /// The amount
    #[arg(value_name = "BY", default_value_t = 1)]
    by: u64,
    /// The value that a missing counter gets
    #[arg(long, value_name = "N")]
    initial: Option<u64>,
    /// The TTL of a new counter [default: it does not expire]
    #[arg(long, value_name = "TIME", value_parser = parse_ttl, requires = "initial")]
    ttl: Option<Duration>,
    #[command(flatten)]
    notation: Notation,
    /// Print the key and its new value as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args, is_down: bool) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let key = args.notation.read(&args.key)?;
    let options = CountOptions::by(args.by);
    let options = match args.initial {
        Some(initial) => options.from(initial, exptime(args.ttl)),
        None => options,
    };
    let counted = match is_down {
        true => client.decr(&key, options),
        false => client.incr(&key, options),
    };
    let Some(value) = counted.map_err(failure)? else {
        return Ok(ExitCode::from(crate::MISSING));
    };
    let mut out = Output::new();
    if args.json {
        let mut document = Map::new();
        output::put_bytes(&mut document, "key", &key);
        document.insert("value".to_string(), value.into());
        out.json(document)?;
    } else {
        out.line(value.to_string())?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
