//! `tavola compute`: a value that one of all processes that miss it makes, by running a command.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::time::Duration;

use tavola::{Error, Lease, LeaseOptions, Leased, Table};

use crate::args::{Notation, TableArg};
use crate::command::{self, Failure};
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola compute pages / -- curl -sf https://example.org/
  tavola compute jobs report --fresh 1h --stale 1d --lease 10m -- ./report.sh
  tavola compute jobs lines -- sh -c 'grep error app.log | wc -l'

If several processes miss a value at the same time, one of them runs the command and
stores its exact standard output. The others wait for the result, or print the stale value
if there is one. If the process that runs the command is killed, another one runs it.

If the command fails, nothing is stored and its exit code is passed on. No process runs it
again until the back-off is over: until then, other processes print the stale value, or
fail with exit code 2 if there is none. The standard error of the command appears in the
process that runs it.";

/// Print a value; if it is missing, run a command to compute it
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The key
    #[arg(value_name = "KEY", allow_negative_numbers = true)]
    key: OsString,
    /// How long a value is fresh: 90, 1.5s, 250ms, 2h, 7d
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "60s")]
    fresh: Duration,
    /// How long the stale value is still printed while another process recomputes it
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "0s")]
    stale: Duration,
    /// How long the command may take before another process may run it, too; at most 1h
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "60s")]
    lease: Duration,
    /// How long no process runs the command again after it failed
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "1s")]
    back_off: Duration,
    /// Recompute at random before the value is stale, earlier if the command is slow: 1 is usual,
    /// more is earlier
    #[arg(long, value_name = "BETA")]
    early: Option<f64>,
    #[command(flatten)]
    notation: Notation,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.key)?;
    let table = args.table.keys_or_create()?;
    let value = args.value(&table, &key)?;
    let mut out = Output::new();
    // On a terminal, what commands write has its end of line.
    match value.strip_suffix(b"\n") {
        Some(line) if out.on_terminal() => out.value(line)?,
        _ => out.value(&value)?,
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

impl Args {
    fn value(&self, table: &Table, key: &[u8]) -> Result<Vec<u8>, CliError> {
        let mut options = LeaseOptions::new(self.fresh)
            .stale(self.stale)
            .lease(self.lease);
        if let Some(beta) = self.early {
            options = options.early(beta);
        }
        loop {
            match table.get_or_lease(key, options) {
                Ok(Leased::Hit(value) | Leased::Stale { value, lease: None }) => return Ok(value),
                Ok(
                    Leased::Won(lease)
                    | Leased::Stale {
                        lease: Some(lease), ..
                    },
                ) => return self.make(lease),
                Ok(Leased::Wait(pending)) => drop(pending.wait(pending.left())?),
                Ok(Leased::Failed { error, retry }) => {
                    let why = String::from_utf8_lossy(&error).into_owned();
                    return Err(Error::NotComputed { why, retry }.into());
                }
                Err(full @ Error::Full { .. }) => {
                    let value = self.output().map_err(|failure| self.failed(failure))?;
                    not_stored(&full.to_string());
                    return Ok(value);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Runs the command for all who want the value.
    fn make(&self, lease: Lease) -> Result<Vec<u8>, CliError> {
        let value = match self.output() {
            Ok(value) => value,
            Err(failure) => {
                // If the others cannot be informed now, they try again at once.
                let _ = lease.fail(self.back_off, failure.why.as_bytes());
                return Err(self.failed(failure));
            }
        };
        match lease.fill(&value) {
            Ok(true) => {}
            Ok(false) => not_stored(
                "the key was set or removed meanwhile, or the command took longer than --lease",
            ),
            Err(error @ (Error::Full { .. } | Error::TooLarge { .. })) => {
                not_stored(&error.to_string());
            }
            Err(error) => return Err(error.into()),
        }
        Ok(value)
    }

    /// Runs the command and returns what it writes.
    fn output(&self) -> Result<Vec<u8>, Failure> {
        command::output_of(&self.command, None)
    }

    fn failed(&self, failure: Failure) -> CliError {
        CliError::Command {
            sentence: format!(
                "the command failed ({}); nothing was stored under {}",
                failure.why,
                output::printable(self.key.as_bytes())
            ),
            code: failure.code,
        }
    }
}

fn not_stored(why: &str) {
    eprintln!("tavola: the value was not stored: {why}");
}
