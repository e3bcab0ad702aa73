//! `tavola status`: one page about all tables.

use std::process::ExitCode;
use std::rc::Rc;

use serde_json::{Value, json};
use tavola::{LiveKeys, Participant, Stats, Table, names};

use crate::args::TablesArg;
use crate::beside;
use crate::error::CliError;
use crate::health::{self, Finding, Level};
use crate::kind::Kind;
use crate::output::{Output, printable};
use crate::units::{count, counted, size};

const EXAMPLES: &str = "\
Examples:
  tavola status
  tavola status --json | jq .memory_bytes

Shows the tables with their sizes, the total memory, the processes that serve them, and
what needs attention; 'tavola doctor' also lists the checks that passed. The exit code is
1 if something needs attention. Changes nothing.";

/// Show all tables, their memory, their servers, and what needs attention
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Print the numbers as one JSON object
    #[arg(long)]
    json: bool,
}

/// A table that could be read.
struct Row {
    name: String,
    kind: Kind,
    stats: Stats,
    keys: LiveKeys,
    participants: Vec<Participant>,
    /// What it holds: keys, elements of queues, or lines.
    content: String,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let mut rows = Vec::new();
    for table in TablesArg::all()? {
        // What cannot be read is among the findings.
        rows.extend(read(&table.label(), || table.open_to_read()).ok());
    }
    let mut findings = health::examine(&names::directory(), &[]);
    findings.retain(|finding| finding.level == Level::Attention);
    let mut out = Output::new();
    match args.json {
        true => out.line(as_json(&rows, &findings).to_string())?,
        false => write(&mut out, &rows, &findings)?,
    }
    out.finish()?;
    Ok(match findings.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(crate::MISSING),
    })
}

fn read(name: &str, open: impl Fn() -> Result<Rc<Table>, CliError>) -> Result<Row, CliError> {
    let table = open()?;
    let mut participants = table.participants()?;
    participants.retain(|one| one.alive && !one.is_this_process());
    let (kind, keys) = (Kind::of(&table)?, table.live_keys()?);
    let (held, what) = beside::held(&table, kind)?;
    Ok(Row {
        name: name.to_string(),
        kind,
        stats: table.stats()?,
        keys,
        participants,
        content: counted(held, what),
    })
}

fn memory(rows: &[Row]) -> u64 {
    rows.iter().map(|row| row.stats.resident_bytes).sum()
}

fn write(out: &mut Output, rows: &[Row], findings: &[Finding]) -> Result<(), CliError> {
    out.line(format!("{}", names::directory().display()))?;
    let keys = rows.iter().map(|row| row.keys.live).sum();
    out.line(format!(
        "  {} with {}, {} of memory in all",
        counted(rows.len() as u64, "table"),
        counted(keys, "key"),
        size(memory(rows))
    ))?;
    if !rows.is_empty() {
        out.line("")?;
    }
    let width = rows.iter().map(|row| row.name.chars().count()).max();
    let width = width.unwrap_or(0);
    for row in rows {
        let most = row.stats.capacity.unwrap_or(row.stats.max_size);
        let used = row.participants.len() as u64;
        let users = match used {
            0 => String::new(),
            1 => ", 1 process".to_string(),
            _ => format!(", {} processes", count(used)),
        };
        let (memory, most) = (size(row.stats.resident_bytes), size(most));
        let (name, kind, content) = (&row.name, row.kind.name(), &row.content);
        out.line(format!(
            "  {name:<width$}  {kind:<5}  {content:>16}  {memory:>10} of {most}{users}"
        ))?;
        for one in row.participants.iter().filter(|one| one.serving.is_some()) {
            let connections = one.serving.map_or(0, |serving| serving.connections);
            let command = one.command.as_deref().unwrap_or("?");
            out.line(format!(
                "  {:<width$}  served by {} ({}), {}",
                "",
                one.process_label(),
                printable(command.as_bytes()),
                counted(connections, "connection")
            ))?;
        }
    }
    out.line("")?;
    for Finding {
        topic,
        message,
        advice,
        ..
    } in findings
    {
        out.line(format!("attention  {topic}: {message}"))?;
        out.line(format!("           -> {advice}"))?;
    }
    match findings.len() {
        0 => out.line("nothing needs attention"),
        1 => out.line("1 thing needs attention"),
        many => out.line(format!("{many} things need attention")),
    }
}

fn as_json(rows: &[Row], findings: &[Finding]) -> Value {
    let row = |row: &Row| {
        let servers = row.participants.iter().filter_map(|one| {
            let serving = one.serving?;
            Some(json!({ "pid": one.pid, "connections": serving.connections }))
        });
        json!({
            "name": row.name,
            "kind": row.kind.name(),
            "live_keys": row.keys.live,
            "resident_bytes": row.stats.resident_bytes,
            "max_size": row.stats.max_size,
            "capacity": row.stats.capacity,
            "processes": row.participants.len(),
            "servers": servers.collect::<Vec<_>>(),
        })
    };
    let finding = |finding: &Finding| {
        json!({
            "topic": finding.topic,
            "message": finding.message,
            "advice": finding.advice,
        })
    };
    json!({
        "directory": names::directory().to_string_lossy(),
        "tables": rows.iter().map(row).collect::<Vec<_>>(),
        "memory_bytes": memory(rows),
        "attention": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}
