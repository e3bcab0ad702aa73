//! `tavola journal`: what is in the directory of a durable table.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use tavola::durable::{HomeFile, HomeFileKind, HomeReport, JournalEnd, verify};
use tavola::serving::verify_saved;

use crate::durable;
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units::{age, counted, size};

const EXAMPLES: &str = "\
Examples:
  tavola journal /var/lib/app/users              what is in the files, and whether it is whole
  tavola journal /var/lib/app/users --verify     the same, with each file
  tavola journal ./users --json | jq .ending
  tavola journal --verify /var/cache/app/pages.saved   a file of 'tavola save'

Reads the newest snapshot and all records behind it, as a rebuild does, and changes
nothing; processes may use the table meanwhile. A journal that is torn has lost nothing
that was on disk: a record was being written when power failed, or is just being written.
A journal that is damaged lacks records that were on disk; the exit code is 1 then.";

/// Check the files of a durable table, or a file of 'save'
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory of the table, or the file
    #[arg(value_name = "DIR")]
    home: OsString,
    /// Show every file
    #[arg(long)]
    verify: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if Path::new(&args.home).is_file() {
        return saved(Path::new(&args.home), args.json);
    }
    let report = verify(durable::home(&args.home)?)?;
    let mut out = Output::new();
    match args.json {
        true => out.json(as_json(&report))?,
        false => write(&mut out, &report, args.verify)?,
    }
    out.finish()?;
    Ok(match report.is_damaged() {
        true => ExitCode::from(crate::MISSING),
        false => ExitCode::SUCCESS,
    })
}

/// Checks a file of `tavola save`.
fn saved(path: &Path, as_json: bool) -> Result<ExitCode, CliError> {
    let file = match verify_saved(path) {
        Err(tavola::Error::NotRestorable { why, .. }) if !as_json => {
            let mut out = Output::new();
            out.line(format!("{}  {why}", shown(path)))?;
            out.finish()?;
            return Ok(ExitCode::from(crate::MISSING));
        }
        outcome => outcome?,
    };
    let since = file.saved_at.duration_since(SystemTime::UNIX_EPOCH);
    let saved_s = since.map_or(0, |since| since.as_secs());
    let mut out = Output::new();
    if as_json {
        let mut document = Map::new();
        output::put_bytes(&mut document, "file", path.as_os_str().as_bytes());
        document.insert("keys".to_owned(), file.keys.into());
        document.insert("bytes".to_owned(), file.bytes.into());
        document.insert("saved_unix_s".to_owned(), saved_s.into());
        out.json(document)?;
    } else {
        let ago = SystemTime::now().duration_since(file.saved_at);
        out.line(format!(
            "{}  {}, {}, saved {} ago: nothing is missing",
            shown(path),
            counted(file.keys, "key"),
            size(file.bytes),
            age(ago.unwrap_or_default().as_secs())
        ))?;
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn shown(path: &Path) -> String {
    output::printable(path.as_os_str().as_bytes()).into_owned()
}

/// Writes the report; `with_files`: a line for each file, too.
pub fn write(out: &mut Output, report: &HomeReport, with_files: bool) -> Result<(), CliError> {
    let home = output::printable(report.home.as_os_str().as_bytes()).into_owned();
    let state = match (report.is_in_use, report.is_in_memory) {
        (true, _) => "in use",
        (false, true) => "in memory, not in use",
        (false, false) => "not in memory",
    };
    let policy = durable::policy(report.policy);
    out.line(format!("{home}  --sync {policy}, {state}"))?;
    out.line(match report.snapshot {
        Some((position, keys)) => {
            format!(
                "  snapshot   {}, at position {position}",
                counted(keys, "key")
            )
        }
        None => "  snapshot   none".to_owned(),
    })?;
    out.line(format!(
        "  journal    {} of {}, up to position {}",
        counted(report.records, "record"),
        counted(report.changes, "change"),
        report.end
    ))?;
    if with_files {
        for file in &report.files {
            out.line(format!("  {}", of_file(file)))?;
        }
    }
    out.line(format!("  {}", ending(report)))
}

fn of_file(file: &HomeFile) -> String {
    let holds = match file.kind {
        HomeFileKind::Journal => counted(file.entries, "record"),
        HomeFileKind::Snapshot if file.problem.is_none() => counted(file.entries, "key"),
        HomeFileKind::Other => "not of the table".to_owned(),
        _ => String::new(),
    };
    let name = output::printable(file.name.as_bytes());
    let text = format!("{name:<26} {:>10}  {holds}", size(file.bytes));
    match &file.problem {
        Some(problem) => format!("{text}  DAMAGED {problem}"),
        None => text.trim_end().to_owned(),
    }
}

/// Says how the journal ends, and what to do.
fn ending(report: &HomeReport) -> String {
    match &report.ending {
        JournalEnd::Clean => "whole       nothing is missing".to_owned(),
        JournalEnd::Torn if report.is_in_use => {
            "whole       the last record is just being written".to_owned()
        }
        JournalEnd::Torn => {
            "torn        the last record was not complete when power failed; nothing that was \
             on disk is missing"
                .to_owned()
        }
        JournalEnd::Damaged { file, why, .. } => format!("DAMAGED     {file} {why}"),
        _ => "unknown".to_owned(),
    }
}

fn as_json(report: &HomeReport) -> Map<String, Value> {
    let mut document = Map::new();
    let home = report.home.as_os_str().as_bytes();
    output::put_bytes(&mut document, "home", home);
    let ending = match &report.ending {
        JournalEnd::Clean => json!({"is": "whole"}),
        JournalEnd::Torn => json!({"is": "torn"}),
        JournalEnd::Damaged {
            file,
            why,
            can_cut,
            lost_changes,
        } => json!({
            "is": "damaged", "file": file, "why": why, "can_cut": can_cut,
            "lost_changes": lost_changes,
        }),
        _ => json!({"is": "unknown"}),
    };
    let numbers = json!({
        "sync": durable::policy(report.policy),
        "in_use": report.is_in_use,
        "in_memory": report.is_in_memory,
        "snapshot_position": report.snapshot.map(|(position, _)| position),
        "snapshot_keys": report.snapshot.map(|(_, keys)| keys),
        "records": report.records,
        "changes": report.changes,
        "end": report.end,
        "ending": ending,
        "files": report.files.iter().map(file_as_json).collect::<Vec<_>>(),
    });
    if let Value::Object(mut numbers) = numbers {
        document.append(&mut numbers);
    }
    document
}

fn file_as_json(file: &HomeFile) -> Value {
    let kind = match file.kind {
        HomeFileKind::Table => "table",
        HomeFileKind::Journal => "journal",
        HomeFileKind::Snapshot => "snapshot",
        _ => "other",
    };
    json!({
        "name": file.name, "kind": kind, "bytes": file.bytes, "entries": file.entries,
        "problem": file.problem,
    })
}
