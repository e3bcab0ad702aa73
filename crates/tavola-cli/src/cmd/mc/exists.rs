//! `tavola mc exists`: what memcexist is.

use std::ffi::OsString;
use std::process::ExitCode;

use tavola_client::{Batch, GetOptions, Outcome};

use super::entries::{Outcomes, fault};
use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::args::Notation;
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola mc exists user:1 --servers 10.0.0.1 && echo it is there

The exit code is 0 if all keys exist, 1 if one is missing, 2 if a server did not answer.
Prints nothing. For the servers it is a read of each key.";

/// Check whether keys exist; the result is the exit code
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
        batch.get(key, GetOptions::default());
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
