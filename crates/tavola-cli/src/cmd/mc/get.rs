//! `tavola mc get`: what memccat is.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::{Map, Value};
use tavola_client::Outcome;

use super::entries::{Entries, Entry, fault};
use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::args::Notation;
use crate::error::CliError;
use crate::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  tavola mc get user:1 --servers 10.0.0.1,10.0.0.2
  tavola mc get user:1 user:2 --json       one object per key, null if it is missing

With several keys, each value is printed on a line, and a missing key as '(missing)'. The
exit code is 1 if a key is missing, and 2 if a server did not answer.";

/// Print the values of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    notation: Notation,
    /// Print one JSON object per key: value (null if missing), flags, ttl_s (null if it does not
    /// expire)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let keys = args.notation.read_all(&args.keys)?;
    let entries = Entries::get(&client, &keys, args.json);
    let mut out = Output::new();
    let (mut missing, mut failed) = (0, 0);
    for (key, entry) in keys.iter().zip(&entries.all) {
        if let Some(why) = fault(&client, entry.outcome.as_ref()) {
            complain(why);
            failed += 1;
            continue;
        }
        let is_hit = matches!(entry.outcome, Some(Outcome::Hit { .. }));
        missing += usize::from(!is_hit);
        match (args.json, is_hit) {
            (true, _) => out.json(as_json(key, is_hit.then_some(entry)))?,
            (false, true) if keys.len() == 1 => out.value(&entry.value)?,
            (false, true) => out.line(&entry.value)?,
            (false, false) if keys.len() == 1 => {}
            (false, false) => out.line("(missing)")?,
        }
    }
    out.finish()?;
    Ok(ended(missing, failed))
}

fn as_json(key: &[u8], entry: Option<&Entry>) -> Map<String, Value> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "key", key);
    match entry {
        None => {
            document.insert("value".to_string(), Value::Null);
        }
        Some(entry) => {
            output::put_bytes(&mut document, "value", &entry.value);
            document.insert("flags".to_string(), entry.flags.into());
            document.insert("ttl_s".to_string(), entry.left_s.into());
        }
    }
    document
}
