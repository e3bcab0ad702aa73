//! `tavola doctor`: looks at the machine and at all tables, and says what to do.

use std::ffi::OsString;
use std::process::ExitCode;

use serde_json::{Map, Value, json};
use tavola::names;

use crate::durable;
use crate::error::CliError;
use crate::health::{self, Finding, Level};
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  tavola doctor
  tavola doctor --json | jq '.findings[] | select(.level == \"attention\")'
  TAVOLA_DIR=/mnt/tables tavola doctor
  tavola doctor /var/lib/app/users       a durable table, too

Looks at the directory and its rights, the room on its file system, limits of this
process, huge pages, and every table in the directory: its format, its fill, and
processes that died while attached. Of a durable table also: the file system of its
directory and the room there, the state of its journal. Changes nothing. Exit code 1 when
something needs attention.";

/// Look at this machine and at all tables, and say what to do
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Durable tables to look at, too: their files are verified if the memory is gone
    #[arg(value_name = "DIR")]
    homes: Vec<OsString>,
    /// The findings as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let homes: Result<Vec<_>, _> = args.homes.iter().map(|home| durable::home(home)).collect();
    let findings = health::examine(&names::directory(), &homes?);
    let wrong = findings
        .iter()
        .filter(|finding| finding.level == Level::Attention)
        .count();
    let mut out = Output::new();
    if args.json {
        let mut document = Map::new();
        document.insert("good".to_string(), (wrong == 0).into());
        let findings: Vec<Value> = findings.iter().map(as_json).collect();
        document.insert("findings".to_string(), findings.into());
        out.json(document)?;
    } else {
        for finding in &findings {
            write(&mut out, finding)?;
        }
        match wrong {
            0 => out.line("all is well")?,
            1 => out.line("1 thing needs attention")?,
            _ => out.line(format!("{wrong} things need attention"))?,
        }
    }
    out.finish()?;
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(crate::MISSING)
    })
}

fn write(out: &mut Output, finding: &Finding) -> Result<(), CliError> {
    let Finding {
        level,
        topic,
        message,
        advice,
    } = finding;
    out.line(format!("{:<10} {topic:<11} {message}", level.name()))?;
    if advice.is_empty() {
        return Ok(());
    }
    out.line(format!("{:>22} -> {advice}", ""))
}

fn as_json(finding: &Finding) -> Value {
    json!({
        "level": finding.level.name(),
        "topic": finding.topic,
        "message": finding.message,
        "advice": finding.advice,
    })
}
