//! `tavola mc stat`: what memcstat is.

use std::process::ExitCode;

use serde_json::{Map, Value};

use super::fleet::FleetArgs;
use super::{complain, ended};
use crate::error::CliError;
use crate::output::{Output, printable};

const EXAMPLES: &str = "\
Examples:
  tavola mc stat --servers 10.0.0.1,10.0.0.2
  tavola mc stat items --servers 10.0.0.1
  tavola mc stat --json | jq .figures.curr_items

The exit code is 2 if a server did not answer; the others are shown anyway.";

/// Show the figures of each server
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What the figures are about: items, slabs, settings, conns and others [default: general]
    #[arg(value_name = "TOPIC", default_value = "", hide_default_value = true)]
    topic: String,
    /// Print one JSON object per server
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    fleet: FleetArgs,
}

pub fn run(args: &Args) -> Result<ExitCode, CliError> {
    let client = args.fleet.client()?;
    let mut out = Output::new();
    let mut failed = 0;
    let answers = client.stats(&args.topic);
    for (server, answer) in client.servers().iter().zip(answers) {
        let figures = match answer {
            Ok(figures) => figures,
            Err(why) => {
                complain(why);
                failed += 1;
                continue;
            }
        };
        if args.json {
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let mut document = Map::new();
            document.insert("server".to_string(), server.name().into());
            let figures = figures.iter();
            let figures: Map<String, Value> = figures
                .map(|[name, value]| (text(name), text(value).into()))
                .collect();
            document.insert("figures".to_string(), figures.into());
            out.json(document)?;
            continue;
        }
        out.line(format!("Server: {}", server.name()))?;
        for [name, value] in figures {
            out.line(format!("  {}: {}", printable(&name), printable(&value)))?;
        }
    }
    out.finish()?;
    Ok(ended(0, failed))
}
