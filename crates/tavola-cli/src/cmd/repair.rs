//! `tavola repair --cut`: opens a durable table although its files are damaged.

use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use tavola::durable::{HomeReport, JournalEnd, verify};

use super::journal;
use crate::args::{TableArg, options};
use crate::durable;
use crate::error::CliError;
use crate::output::Output;
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola journal --verify /var/lib/app/users     first look
  tavola repair --cut /var/lib/app/users         says what is lost, and asks
  tavola repair --cut ./users --yes              for scripts: does not ask

Changes that were recorded behind the damage are lost; of a damaged snapshot, the keys in
the damaged part. So look for a backup first. If the table is still in memory, nothing is
lost: a snapshot of it replaces the damaged files.
Keep a copy of the directory until you are sure. To repair a table in memory, use 'tavola
check --repair'.";

/// Repair the files of a durable table, by giving up what is behind the damage
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directory of the table
    #[arg(value_name = "DIR")]
    home: OsString,
    /// Accept that what was recorded behind the damage is lost
    #[arg(long, required = true)]
    cut: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let home = durable::home(&args.home)?;
    let report = verify(&home)?;
    let mut out = Output::new();
    journal::write(&mut out, &report, true)?;
    let JournalEnd::Damaged {
        file,
        why,
        can_cut,
        lost_changes,
    } = &report.ending
    else {
        out.line("nothing to repair")?;
        out.finish()?;
        return Ok(ExitCode::SUCCESS);
    };
    if report.is_in_memory || report.is_in_use {
        out.line("the table is in memory, with all its keys: a snapshot replaces the files")?;
        out.finish()?;
        return from_memory(&args.home);
    }
    if !can_cut {
        out.finish()?;
        return Err(hopeless(&home, file, why));
    }
    out.line(match file.starts_with("snapshot-") {
        true => lost_keys(*lost_changes),
        false => format!(
            "lost: all that was recorded from position {} on, at least {}",
            report.end,
            counted(*lost_changes, "change")
        ),
    })?;
    out.finish()?;
    if !args.yes && !is_accepted()? {
        return Err(CliError::Sentence(
            "nothing was changed; to accept the loss, answer yes, or give --yes".to_owned(),
        ));
    }
    cut(&home, &report)
}

/// Writes a snapshot of the table in memory. Nothing is lost.
fn from_memory(name: &OsString) -> Result<ExitCode, CliError> {
    let table = TableArg::named(name.clone()).open_existing()?;
    match table.snapshot()? {
        true => done(&table),
        false => Ok(ExitCode::from(crate::MISSING)),
    }
}

fn cut(home: &Path, report: &HomeReport) -> Result<ExitCode, CliError> {
    let table = options().cut_damage(true).open_existing(home)?;
    // The damaged file is not needed any more.
    table.snapshot()?;
    debug_assert!(report.is_damaged());
    done(&table)
}

fn done(table: &tavola::Table) -> Result<ExitCode, CliError> {
    let mut out = Output::new();
    let keys = counted(table.live_keys()?.live, "key");
    out.line(format!("repaired: the table has {keys}"))?;
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Says what a damaged snapshot has lost. The journal behind it is read in any case.
fn lost_keys(keys: u64) -> String {
    let keys = match keys {
        0 => "an unknown number of keys".to_owned(),
        keys => counted(keys, "key"),
    };
    format!("lost: {keys} in the damaged part of the snapshot, except those that were set since")
}

fn hopeless(home: &Path, file: &str, why: &str) -> CliError {
    CliError::Sentence(format!(
        "{} cannot be repaired: {file} is needed to read the rest, and is damaged ({why}); restore \
         the directory from a backup",
        home.display()
    ))
}

/// Asks on a terminal; elsewhere the answer is no.
fn is_accepted() -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("Give that up? Type yes: ");
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|source| CliError::Read {
            path: "standard input".into(),
            source,
        })?;
    Ok(line.trim() == "yes")
}
