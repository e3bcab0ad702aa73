//! `tavola tour`: the main job, shown. Real data, several processes, one of them killed.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::Subcommand;
use tavola::{Table, names};

use crate::error::CliError;
use crate::interrupt;
use crate::units::{count, counted, size};

mod former;
mod journal;
mod live;
mod next_steps;
mod records;
mod screen;
mod seats;
mod value;
mod verify;
mod worker;

use live::{Live, Outcome};
use next_steps::quoted;
use records::Records;
use screen::Screen;
use seats::Seats;

const EXAMPLES: &str = "\
Examples:
  tavola tour                           four processes, one of them killed
  tavola tour --procs 8 --kills 20 --seconds 30
  tavola tour --drop                    drops the table at the end

Loads the Unicode Character Database into a table. Several processes read, edit and count
in it; some are killed with SIGKILL while they write. Then the tour checks that all
acknowledged writes are in the table. The exit code is 0 only if all checks passed.";

/// Written by the tour into its table, so that the next tour knows it may replace it.
const MARKER: &[u8] = b"tour";
const MARKER_VALUE: &[u8] = b"made by 'tavola tour', which replaces it when it runs again";
/// Each shard has pages of its own for each size of item: little data is best kept in few.
const SHARDS: u32 = 16;
/// Records a call of `set_many`.
const BATCH: usize = 32;
/// What an entry of the history takes at most, roughly: item and its part of the index.
const HISTORY_ENTRY_BYTES: u64 = 100;
/// Entries of the history that may be there together.
const HISTORY_ENTRIES: u64 = 1_000_000;

/// Run a demonstration: several processes, real data, one of them killed
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    role: Option<Role>,
    /// How long the processes work
    #[arg(long, value_name = "S", default_value_t = 7.0, value_parser = parse_seconds)]
    seconds: f64,
    /// Processes
    #[arg(long, value_name = "P", default_value_t = 4,
          value_parser = clap::value_parser!(u32).range(1..=64))]
    procs: u32,
    /// How many of the processes are killed, one after the other
    #[arg(long, value_name = "K", default_value_t = 1)]
    kills: u32,
    /// The table: a name, or a path if it contains a /
    #[arg(long, value_name = "TABLE", default_value = "tour")]
    table: OsString,
    /// Keep the table at the end (default)
    #[arg(long, conflicts_with = "drop")]
    keep: bool,
    /// Drop the table at the end
    #[arg(long)]
    drop: bool,
}

#[derive(Subcommand)]
enum Role {
    #[command(hide = true)]
    Worker(worker::Args),
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if let Some(Role::Worker(args)) = args.role {
        return worker::run(args);
    }
    if args.kills > 0 && args.procs < 2 {
        let sentence = "kills need at least 2 processes, so that one survives; give --procs 2 or \
            more, or --kills 0";
        return Err(CliError::Sentence(sentence.to_owned()));
    }
    let interrupted = interrupt::install_handlers()?;
    let screen = Screen::new(args.procs as usize);
    let records = Records::load();
    let table = fresh_table(&args.table)?;
    let shown = show(&args, &table, &records, &screen, interrupted);
    drop(table);
    match shown {
        Ok(Ending::Held) if args.drop => {
            names::remove(&args.table)?;
            screen.line("\nThe table is dropped; without --drop it is kept.")?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Ending::Held) => {
            next_steps::show(&screen, &args.table)?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Ending::Failed) => {
            let table = quoted(&args.table);
            screen.line(&format!(
                "\nA check failed. The table {table} is kept for inspection."
            ))?;
            Ok(ExitCode::from(crate::MISSING))
        }
        Ok(Ending::Interrupted) => {
            names::remove(&args.table)?;
            Ok(ExitCode::from(130))
        }
        // Nobody looks any more, and nothing was shown to hold.
        Err(error) if error.is_broken_pipe() => {
            names::remove(&args.table)?;
            Ok(ExitCode::from(crate::ERROR))
        }
        Err(error) => {
            let table = quoted(&args.table);
            Err(CliError::Sentence(format!(
                "{error}; the table {table} is kept for inspection"
            )))
        }
    }
}

/// How the tour ended.
enum Ending {
    /// All was shown, and all of it held.
    Held,
    /// All was shown, and something was found amiss.
    Failed,
    Interrupted,
}

/// Makes the table, in place of one that an earlier tour left.
fn fresh_table(name: &OsStr) -> Result<Table, CliError> {
    former::clear(name)?;
    let table = Table::options().shards(SHARDS).create(name)?;
    table.set(MARKER, MARKER_VALUE)?;
    Ok(table)
}

/// All acts of the tour.
fn show(
    args: &Args,
    table: &Table,
    records: &Records,
    screen: &Screen,
    interrupted: Arc<AtomicBool>,
) -> Result<Ending, CliError> {
    screen.title("One table, several processes, one of them killed")?;
    load(table, records, screen)?;
    let keep = history_to_keep(table.path(), args.procs)?;
    let mut seats = Seats::start(args.procs, &args.table, keep)?;
    introduce(args, &seats, screen)?;
    let live = Live {
        table,
        records,
        seats: &mut seats,
        screen,
        seconds: args.seconds,
        kills: args.kills,
        interrupted: Arc::clone(&interrupted),
    };
    let Some(Outcome {
        mut holds,
        operations,
    }) = live.run()?
    else {
        return Ok(Ending::Interrupted);
    };
    seats.stop()?;
    screen.title(&format!(
        "{} operations later: is everything correct?",
        count(operations)
    ))?;
    for verdict in verify::everything(table, records, &seats)? {
        screen.verdict(&verdict)?;
        holds &= verdict.holds;
    }
    if holds {
        holds = tidy_up(table, records, &seats, screen)?;
    }
    Ok(match (interrupted.load(Ordering::Relaxed), holds) {
        (true, _) => Ending::Interrupted,
        (false, true) => Ending::Held,
        (false, false) => Ending::Failed,
    })
}

fn load(table: &Table, records: &Records, screen: &Screen) -> Result<(), CliError> {
    let pairs: Vec<(&str, &str)> = records
        .all
        .iter()
        .map(|record| (record.key.as_str(), record.text))
        .collect();
    let begin = Instant::now();
    for some in pairs.chunks(BATCH) {
        table.set_many(some)?;
    }
    let seconds = begin.elapsed().as_secs_f64();
    screen.line(&format!(
        "{} of UnicodeData.txt loaded in {} ({} per second)",
        counted(records.all.len() as u64, "record"),
        screen::duration((seconds * 1e9) as u64),
        screen::rate(records.all.len() as f64 / seconds),
    ))?;
    let memory = size(table.stats()?.resident_bytes);
    screen.line(&format!(
        "into {}, which now uses {memory} of memory",
        table.path().display()
    ))
}

/// How many entries of its history a process keeps, so that a small machine is not filled.
fn history_to_keep(path: &Path, procs: u32) -> Result<u64, CliError> {
    let room = rustix::fs::statvfs(path);
    let room = room.map_err(|source| CliError::Read {
        path: path.to_owned(),
        source: source.into(),
    })?;
    let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    let entries = (free_bytes / 4 / HISTORY_ENTRY_BYTES).min(HISTORY_ENTRIES);
    Ok((entries / u64::from(procs)).max(100))
}

fn introduce(args: &Args, seats: &Seats, screen: &Screen) -> Result<(), CliError> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    let pids: Vec<String> = seats
        .all
        .iter()
        .filter_map(|seat| seat.pid())
        .map(|pid| pid.to_string())
        .collect();
    screen.title(&format!(
        "{} on {} read, edit and count on it",
        processes(args.procs.into()),
        counted(cpus, "CPU")
    ))?;
    screen.line(&format!("pids {}", pids.join(", ")))?;
    screen
        .line("Each process checks all it reads, and records each completed write in a journal:")?;
    screen.line("an edit, its history entry, a shared counter. Operations per second:\n")
}

/// Leaves the data as it was loaded, with the counters, and gives back the memory of the rest.
fn tidy_up(
    table: &Table,
    records: &Records,
    seats: &Seats,
    screen: &Screen,
) -> Result<bool, CliError> {
    let (keys, before) = (table.len()?, table.stats()?.resident_bytes);
    let begin = Instant::now();
    for seat in &seats.all {
        let acknowledged = seat.acknowledged(records)?;
        for number in acknowledged.trimmed + 1..=acknowledged.history + 1 {
            table.remove(history_key(seat.number, number))?;
        }
    }
    let pairs: Vec<(&str, &str)> = records
        .all
        .iter()
        .map(|record| (record.key.as_str(), record.text))
        .collect();
    for some in pairs.chunks(BATCH) {
        table.set_many(some)?;
    }
    table.compact()?;
    let after = table.stats()?;
    screen.title("The history is removed, the records are restored")?;
    screen.line(&format!(
        "{} and {} became {} and {} in {}",
        counted(keys, "key"),
        size(before),
        counted(after.keys, "key"),
        size(after.resident_bytes),
        screen::duration(begin.elapsed().as_nanos() as u64),
    ))?;
    let verdict = verify::whole(table)?;
    screen.verdict(&verdict)?;
    Ok(verdict.holds)
}

fn processes(number: u64) -> String {
    if number == 1 {
        "1 process".to_owned()
    } else {
        format!("{} processes", count(number))
    }
}

/// The only process that writes a record.
fn owner_of(record: usize, seats: u32) -> u32 {
    (record % seats as usize) as u32
}

/// Which of its records a process edits the so-many-th time.
fn record_of_edit(seat: u32, number: u64, seats: u32, records: &Records) -> usize {
    let own = (records.all.len() - seat as usize).div_ceil(seats as usize) as u64;
    let random = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
    seat as usize + seats as usize * (random % own) as usize
}

fn history_key(seat: u32, number: u64) -> Vec<u8> {
    format!("edit/p{}/{number}", seat + 1).into_bytes()
}

fn journal_failed(source: io::Error) -> CliError {
    CliError::Sentence(format!(
        "cannot use a journal in memory ({source}); see 'ulimit -a'"
    ))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (1.0..=86_400.0).contains(&seconds) => Ok(seconds),
        _ => Err("write a number of seconds from 1 to 86400".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_edits_all_of_its_records_and_no_others() {
        let records = Records::load();
        let mut edited = std::collections::HashSet::new();
        for number in 1..100_000 {
            let at = record_of_edit(2, number, 5, &records);
            assert_eq!(owner_of(at, 5), 2);
            edited.insert(at);
        }
        let own = (0..records.all.len())
            .filter(|&at| owner_of(at, 5) == 2)
            .count();
        assert!(edited.len() * 10 > own * 9, "{} of {own}", edited.len());
    }

    #[test]
    fn seconds_have_bounds() {
        assert_eq!(parse_seconds("2.5"), Ok(2.5));
        for wrong in ["0", "-1", "NaN", "1e9", "x"] {
            assert!(parse_seconds(wrong).is_err(), "{wrong}");
        }
    }
}
