//! `tavola keep`: keeps durable tables open, so that they are synced in time.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tavola::Table;

use super::serve::notice::notify;
use crate::args::TableArg;
use crate::durable;
use crate::error::CliError;
use crate::interrupt;
use crate::units::counted;

const EXAMPLES: &str = "\
Examples:
  tavola keep /var/lib/app/users /var/lib/app/carts
  systemctl enable --now tavola-keep@users       the table /var/lib/tavola/users

Opens durable tables and stays until it gets SIGTERM or SIGINT. Meanwhile their policy is
kept (--sync 50ms: on disk 50 ms after each write), and snapshots are made when they are
due, although the processes that write come and go, as those of PHP do. It also rebuilds
the tables, after a restart of the machine, before their first user needs them. Nothing
else depends on it: it may be killed or started again at any time.";

/// Between two looks whether the process is to end.
const TICK: Duration = Duration::from_millis(50);
/// Between two looks at the state of the journals.
const LOOK: Duration = Duration::from_secs(1);

/// Keep durable tables open, so that their changes are on disk in time
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The directories of the tables
    #[arg(value_name = "DIR", required = true)]
    homes: Vec<OsString>,
}

/// A table that is kept.
struct Kept {
    name: OsString,
    label: String,
    table: Option<Rc<Table>>,
    failed: Option<i32>,
    /// The last reason why it could not be opened.
    why_not: String,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let ended = interrupt::install_handlers()?;
    let mut tables = Vec::new();
    for name in &args.homes {
        let home = durable::home(name)?;
        durable::warn_of_home(&home);
        let kept = open(name)?;
        if let Some(table) = &kept.table {
            say(table, &home)?;
        }
        tables.push(kept);
        if ended.load(Ordering::Relaxed) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    notify("READY=1");
    stay(&mut tables, &ended);
    notify("STOPPING=1");
    end(&tables)
}

fn open(name: &OsString) -> Result<Kept, CliError> {
    let table = TableArg::named(name.clone());
    Ok(Kept {
        name: name.clone(),
        label: table.label(),
        table: Some(table.open_existing()?),
        failed: None,
        why_not: String::new(),
    })
}

fn say(table: &Table, home: &Path) -> Result<(), CliError> {
    let keys = counted(table.live_keys()?.live, "key");
    let stats = table.durable_stats()?;
    let policy = stats.map_or(String::new(), |stats| durable::policy(stats.policy));
    let mut out = io::stdout().lock();
    writeln!(out, "keeping {}: {keys}, --sync {policy}", home.display())?;
    out.flush()?;
    Ok(())
}

/// Waits for the end. The handles do the work, each in its thread; this looks whether it succeeds.
fn stay(tables: &mut [Kept], ended: &AtomicBool) {
    let mut next = Instant::now();
    while !ended.load(Ordering::Relaxed) {
        if Instant::now() >= next {
            next = Instant::now() + LOOK;
            tables.iter_mut().for_each(check);
        }
        thread::sleep(TICK);
    }
}

/// Reports a change of the state, and opens the table again if it was replaced.
fn check(kept: &mut Kept) {
    let Some(table) = &kept.table else {
        return reopen(kept);
    };
    match table.reopened() {
        Ok(None) => {}
        Ok(Some(fresh)) => {
            eprintln!(
                "tavola: the memory of {} was removed; the table is rebuilt",
                kept.label
            );
            kept.table = Some(Rc::new(fresh));
            return;
        }
        Err(_) => {
            eprintln!(
                "tavola: the memory of {} was removed; others still use it",
                kept.label
            );
            // They see it as well. It cannot be rebuilt as long as two processes use it.
            let _ = table.sync();
            kept.table = None;
            return reopen(kept);
        }
    }
    let failed = match table.durable_stats() {
        Ok(Some(stats)) => stats.failed,
        _ => return,
    };
    if failed == kept.failed {
        return;
    }
    kept.failed = failed;
    match failed {
        Some(errno) => eprintln!(
            "tavola: the disk of {} failed ({}): writes are refused until a snapshot succeeds, \
             which is tried again and again",
            kept.label,
            io::Error::from_raw_os_error(errno)
        ),
        None => eprintln!("tavola: {} is good again; writes go on", kept.label),
    }
}

/// Tries to open a table that was lost.
fn reopen(kept: &mut Kept) {
    match TableArg::named(kept.name.clone()).open_existing() {
        Ok(table) => {
            eprintln!("tavola: keeping {} again", kept.label);
            kept.table = Some(table);
            kept.why_not.clear();
        }
        Err(error) if error.to_string() == kept.why_not => {}
        Err(error) => {
            kept.why_not = error.to_string();
            eprintln!("tavola: {error}");
        }
    }
}

/// Brings to disk what is not there yet.
fn end(tables: &[Kept]) -> Result<ExitCode, CliError> {
    let mut code = ExitCode::SUCCESS;
    for kept in tables {
        let synced = kept.table.as_ref().map_or(Ok(()), |table| table.sync());
        if let Err(error) = synced {
            eprintln!("tavola: {}: {error}", kept.label);
            code = ExitCode::from(crate::ERROR);
        }
    }
    Ok(code)
}
