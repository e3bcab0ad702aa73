//! `tavola mc touch`: what memctouch is.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use tavola_client::{Batch, Outcome, Reply};

use super::entries::{Outcomes, exptime, fault};
use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::args::{Notation, parse_ttl};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola mc touch user:1 user:2 --ttl 30m --servers 10.0.0.1,10.0.0.2
  tavola mc touch user:1 --never

If a key is missing, the exit code is 1; the other keys are changed anyway.";

/// Change the TTL of keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    /// The new TTL: 90, 2h, 7d, in whole seconds
    #[arg(long, value_name = "TIME", value_parser = parse_ttl, required_unless_present = "never")]
    ttl: Option<Duration>,
    /// Let the keys never expire
    #[arg(long, conflicts_with = "ttl")]
    never: bool,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let keys = args.notation.read_all(&args.keys)?;
    let time = exptime(args.ttl);
    let mut batch = Batch::new();
    for key in &keys {
        batch.touch(key, time, Reply::Wait);
    }
    let (mut missing, mut failed) = (0, 0);
    for outcome in Outcomes::of(&client, &mut batch).0 {
        if let Some(why) = fault(&client, outcome.as_ref()) {
            complain(why);
            failed += 1;
        }
        missing += usize::from(outcome == Some(Outcome::Miss));
    }
    Ok(ended(missing, failed))
}
