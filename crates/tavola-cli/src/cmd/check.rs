//! `tavola check`: is everything in a table as it should be; with `--repair`, make it so.

use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;
use std::rc::Rc;

use serde_json::{Map, Value};
use tavola::{CheckReport, Error, Table};
use tavola_cdb::Constant;

use crate::args::{TableArg, TablesArg};
use crate::constant;
use crate::error::CliError;
use crate::output::{self, Output};
use crate::units::{counted, size};

const EXAMPLES: &str = "\
Examples:
  tavola check sessions
  tavola check                  all tables, one line for each intact one
  tavola check sessions --repair
  tavola check sessions --json | jq .problems
  tavola check ./words.cdb      a constant file

Other processes can use the table meanwhile. Without write permission the check takes no
locks, and may report a write in progress as a problem. The exit code is 1 if problems are
found (with --repair: if problems remain), and for a file that was copied while a process
was attached: its values may be torn. Of a constant file, all records, slots and checksums
are compared; it cannot be repaired.";

/// Check the integrity of a table, and repair it with --repair
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    tables: TablesArg,
    /// Rebuild all derived structures, and remove unreadable items
    #[arg(long)]
    repair: bool,
    /// Print the findings as JSON, one object per line and table
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    args.tables.each(|table| check(table, &args))
}

fn check(name: &TableArg, args: &Args) -> Result<ExitCode, CliError> {
    match constant::open(name.name()) {
        Ok(None) => {}
        Ok(Some(file)) => return check_constant(name, args, &file),
        Err(CliError::Constant(error)) => return report_constant(name, args, Err(error)),
        Err(error) => return Err(error),
    }
    let table = open(name, args.repair)?;
    let before = table.check()?;
    let report = match args.repair {
        true => {
            table.reclaim()?;
            table.repair()?;
            table.check()?
        }
        false => before.clone(),
    };
    let mut out = Output::new();
    match args.json {
        true => out.json(as_json(&table, args.repair.then_some(&before), &report))?,
        false => write(&mut out, name, args.repair, &before, &report)?,
    }
    out.finish()?;
    Ok(if report.is_clean() && !report.copied_in_use {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(crate::MISSING)
    })
}

fn check_constant(name: &TableArg, args: &Args, file: &Constant) -> Result<ExitCode, CliError> {
    let checked = file.check().map(|records| Intact { records, file });
    report_constant(name, args, checked)
}

/// A constant file without problems.
struct Intact<'a> {
    records: u64,
    file: &'a Constant,
}

/// Prints what was found in a constant file. A file that the system does not let this process read
/// is an error, and not a problem of the file.
fn report_constant(
    name: &TableArg,
    args: &Args,
    found: Result<Intact<'_>, tavola_cdb::Error>,
) -> Result<ExitCode, CliError> {
    if args.repair {
        let label = name.label();
        let why = format!(
            "{label} is a constant file, which cannot be repaired; leave out --repair, and make it \
             again from its source if 'tavola check {label}' finds a problem"
        );
        return Err(CliError::Sentence(why));
    }
    let found = match found {
        Err(error @ tavola_cdb::Error::System { .. }) => return Err(error.into()),
        found => found.map_err(|error| error.to_string()),
    };
    let mut out = Output::new();
    match (&found, args.json) {
        (_, true) => out.json(constant_as_json(name, &found))?,
        (Ok(Intact { records, file }), false) => {
            let (records, bytes) = (counted(*records, "record"), size(file.size_bytes()));
            let label = name.label();
            out.line(format!("{label}: no problems; {records}, {bytes}"))?;
        }
        (Err(problem), false) => {
            out.line(format!("{}: 1 problem", name.label()))?;
            out.line(format!("  {problem}"))?;
        }
    }
    out.finish()?;
    Ok(match found {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(crate::MISSING),
    })
}

fn constant_as_json(name: &TableArg, found: &Result<Intact<'_>, String>) -> Map<String, Value> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "path", name.name().as_bytes());
    document.insert("clean".to_string(), found.is_ok().into());
    if let Ok(Intact { records, file }) = found {
        document.insert("keys".to_string(), (*records).into());
        document.insert("file_bytes".to_string(), file.size_bytes().into());
    }
    let problems: Vec<&str> = found
        .as_ref()
        .err()
        .map(String::as_str)
        .into_iter()
        .collect();
    document.insert("problem_count".to_string(), problems.len().into());
    document.insert("problems".to_string(), problems.into());
    document
}

/// To look at a table, the right to read it is enough.
fn open(name: &TableArg, repair: bool) -> Result<Rc<Table>, CliError> {
    match name.open_existing() {
        Err(CliError::Table(Error::Permission { .. } | Error::ReadOnly)) if !repair => {
            name.open_to_read()
        }
        opened => opened,
    }
}

fn write(
    out: &mut Output,
    name: &TableArg,
    repair: bool,
    before: &CheckReport,
    report: &CheckReport,
) -> Result<(), CliError> {
    let label = name.label();
    if repair && !before.is_clean() {
        write_problems(out, &format!("{label} before the repair"), before)?;
    }
    if report.is_clean() {
        let (keys, bytes) = (counted(report.keys, "key"), size(report.bytes_in_use));
        let repaired = if repair { "repaired, " } else { "" };
        if report.copied_in_use {
            out.line(format!("{label}: {repaired}{keys}, {bytes} in use"))?;
            return out.line(COPIED_IN_USE);
        }
        return out.line(format!(
            "{label}: {repaired}no problems; {keys}, {bytes} in use"
        ));
    }
    write_problems(out, &label, report)?;
    if report.copied_in_use {
        out.line(COPIED_IN_USE)?;
    }
    if repair {
        return out.line(
            "the remaining problems cannot be repaired: save the readable keys with \
            'tavola dump', then drop the table",
        );
    }
    out.line(format!(
        "'tavola check {label} --repair' keeps everything that can be read"
    ))
}

/// What neither a check nor a repair can find.
const COPIED_IN_USE: &str = "  values may be torn: the file was copied (cp, mv to another file \
    system, a snapshot) while a process was attached,\n  so a value may mix the bytes of two \
    writes; copy tables in use with 'tavola copy', and restore this one if it was written \
    meanwhile";

fn write_problems(out: &mut Output, label: &str, report: &CheckReport) -> Result<(), CliError> {
    out.line(format!(
        "{label}: {}",
        counted(report.problem_count, "problem")
    ))?;
    for problem in &report.problems {
        out.line(format!("  {problem}"))?;
    }
    let unseen = report
        .problem_count
        .saturating_sub(report.problems.len() as u64);
    if unseen > 0 {
        out.line(format!("  and {unseen} more"))?;
    }
    Ok(())
}

fn as_json(table: &Table, before: Option<&CheckReport>, now: &CheckReport) -> Map<String, Value> {
    let mut document = Map::new();
    output::put_bytes(&mut document, "path", table.path().as_os_str().as_bytes());
    document.insert("clean".to_string(), now.is_clean().into());
    document.insert("copied_in_use".to_string(), now.copied_in_use.into());
    document.insert("keys".to_string(), now.keys.into());
    document.insert("bytes_reachable".to_string(), now.bytes_reachable.into());
    document.insert("bytes_in_use".to_string(), now.bytes_in_use.into());
    document.insert("problem_count".to_string(), now.problem_count.into());
    document.insert("problems".to_string(), now.problems.clone().into());
    if let Some(before) = before {
        document.insert(
            "problems_before_repair".to_string(),
            before.problems.clone().into(),
        );
    }
    document
}
