//! `tavola mc flush`: what memcflush is.

use std::process::ExitCode;

use super::fleet::FleetArgs;
use super::{complain, ended, failure};
use crate::error::CliError;

const EXAMPLES: &str = "\
Examples:
  tavola mc flush --yes --servers 10.0.0.1,10.0.0.2
  tavola mc flush --yes --delay 30

Removes all keys of all servers, whatever the namespace: servers cannot do less.";

/// Remove all keys of all servers
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Really do it
    #[arg(long)]
    yes: bool,
    /// Do it in so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    delay: u32,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    if !args.yes {
        let names: Vec<&str> = client
            .servers()
            .iter()
            .map(|server| server.name())
            .collect();
        return Err(failure(format!(
            "this removes all keys of {}; give --yes if that is what you want",
            names.join(", ")
        )));
    }
    let mut failed = 0;
    for answer in client.flush_all(args.delay) {
        if let Err(why) = answer {
            complain(why);
            failed += 1;
        }
    }
    Ok(ended(0, failed))
}
