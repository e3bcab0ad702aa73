//! `tavola mc ping` and `version`: what memcping and `memcstat --version` are.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::Map;

use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::error::CliError;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tavola mc ping --servers 10.0.0.1,10.0.0.2 && echo all are up

Connects to each server and asks for its version. The exit code is 2 if one did not answer.";

const VERSION_EXAMPLES: &str = "\
Examples:
  tavola mc version --servers 10.0.0.1,10.0.0.2";

/// Check that all servers answer, and print how long each took
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct PingArgs {
    /// Print nothing on standard output; the result is the exit code
    #[arg(long, short)]
    quiet: bool,
    /// Print one JSON object per server
    #[arg(long, conflicts_with = "quiet")]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// Print the version of each server
#[derive(clap::Args)]
#[command(after_help = VERSION_EXAMPLES)]
pub struct VersionArgs {
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn ping(args: &PingArgs) -> Result<ExitCode, CliError> {
    let clients = args.fleet.link.clients(args.fleet.servers()?)?;
    let mut out = Output::new();
    let mut failed = 0;
    for client in clients {
        let name = client.servers()[0].name();
        let begin = Instant::now();
        let answer = client.versions().pop();
        let time_ms = begin.elapsed().as_secs_f64() * 1e3;
        let version = match answer {
            Some(Ok(version)) => Some(version),
            Some(Err(why)) => {
                complain(why);
                failed += 1;
                None
            }
            None => None,
        };
        if args.json {
            let mut document = Map::new();
            document.insert("server".to_string(), name.into());
            document.insert("is_up".to_string(), version.is_some().into());
            document.insert("version".to_string(), version.into());
            document.insert("time_ms".to_string(), time_ms.into());
            out.json(document)?;
        } else if !args.quiet && version.is_some() {
            out.line(format!("{name}: up, {time_ms:.2} ms"))?;
        }
    }
    out.finish()?;
    Ok(ended(0, failed))
}

pub fn version(args: &VersionArgs) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let mut out = Output::new();
    let mut failed = 0;
    for (server, answer) in client.servers().iter().zip(client.versions()) {
        match answer {
            Ok(version) => out.line(format!("{}: {version}", server.name()))?,
            Err(why) => {
                complain(why);
                failed += 1;
            }
        }
    }
    out.finish()?;
    Ok(ended(0, failed))
}
