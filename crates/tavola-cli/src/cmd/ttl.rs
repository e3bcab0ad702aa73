//! `tavola ttl`: the time until a key expires.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::Map;
use tavola::Expiry;

use crate::args::{Notation, TableArg};
use crate::error::CliError;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tavola ttl sessions alice           seconds, for example 1799.25, or 'never'
  tavola ttl sessions alice --json    with its flags

The exit code is 1 if the key is missing or has expired.";

/// Print the time until a key expires
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    #[command(flatten)]
    notation: Notation,
    /// Print the key, its flags and its TTL in milliseconds (null if none) as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let Some(entry) = args.table.keys_to_read()?.get_entry(&key)? else {
        return Ok(ExitCode::from(crate::MISSING));
    };
    let left = match entry.attributes.expiry {
        Expiry::After(left) => Some(left),
        _ => None,
    };
    let mut out = Output::new();
    if args.json {
        let mut document = Map::new();
        output::put_bytes(&mut document, "key", &key);
        let ms = left.map(|left| left.as_millis() as u64);
        document.insert("ttl_ms".to_string(), ms.into());
        document.insert("flags".to_string(), entry.attributes.flags.into());
        out.json(document)?;
    } else {
        out.line(match left {
            Some(left) => format!("{:.2}", left.as_secs_f64()),
            None => "never".to_string(),
        })?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}
