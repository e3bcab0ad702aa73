//! `tavola mc del`: what memcrm is.

use std::ffi::OsString;
use std::process::ExitCode;

use tavola_client::{Batch, Outcome, Reply};

use super::entries::{Outcomes, fault};
use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::args::Notation;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola mc del user:1 user:2 --servers 10.0.0.1,10.0.0.2
  tavola mc dump | grep ^tmp: | xargs -d '\\n' tavola mc del

If a key is missing, the exit code is 1; the other keys are removed anyway.";

/// Remove keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The keys
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let keys = args.notation.read_all(&args.keys)?;
    let mut batch = Batch::new();
    for key in &keys {
        batch.delete(key, Reply::Wait);
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
