//! `tavola lock`: runs a command while it holds a lock that ends with its holder.
//!
//! The lock is a key. Its value names the holder: its slot among the participants of the table,
//! the time at which it attached, its pid, and a random number, so that no two values are equal.
//! Three changes of the key are made, each in one step: a process adds the missing key; its holder
//! removes it, if it still has the holder's value; another process replaces the value of a holder
//! that it has seen dead, if the key still has that value. A participant is alive as long as the
//! kernel keeps its record lock on the table's file, and one that has died never lives again. So
//! as long as a holder lives no other process holds the lock, whatever is killed when.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tavola::{Attributes, CasOutcome, CasToken, Expiry, Participant, Table};
use tavola_program::interrupt::ignores_hangup;

use crate::args::{Notation, TableArg};
use crate::command::{self, Failure};
use crate::error::CliError;
use crate::output::printable;
use crate::units;

/// Between two looks at a lock that another process holds, at first and at most.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(20)];
/// Between two looks for signals to pass on.
const TICK: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  tavola lock locks nightly-report -- ./report.sh
  tavola lock locks deploy --timeout 0 -- make deploy || echo another one runs
  tavola get locks nightly-report                  which process holds it

The lock is released when the command ends, and also when 'tavola lock' is killed: the
next process that wants the lock detects that its holder is dead. In that case the command
may still be running. SIGTERM and SIGHUP are passed on to the command. The lock is
advisory: any process can remove its key. A cache may evict the key, so use a table that
is not a cache.

The exit code is that of the command, 1 if the timeout ends before the lock is free, or 2
for an error.";

/// Run a command while holding a lock
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The name of the lock, a key of the table
    #[arg(value_name = "NAME", allow_negative_numbers = true)]
    lock: OsString,
    /// Wait for the lock at most this long [default: forever]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    timeout: Option<Duration>,
    #[command(flatten)]
    notation: Notation,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let key = args.notation.read(&args.lock)?;
    let table = args.table.keys_or_create()?;
    if table.capacity()?.is_some() {
        return Err(CliError::Sentence(format!(
            "{} is a cache, which may evict a lock; use a table that is not a cache",
            args.table.label()
        )));
    }
    let Some(token) = acquire(&table, &key, args.timeout)? else {
        eprintln!(
            "tavola: another process holds {} ({})",
            printable(args.lock.as_bytes()),
            printable(&table.get(&key)?.unwrap_or_default())
        );
        return Ok(ExitCode::from(crate::MISSING));
    };
    let ran = run_command(&args.command);
    let released = table.compare_and_remove(&key, token)?;
    if released != CasOutcome::Swapped {
        let name = printable(args.lock.as_bytes()).into_owned();
        eprintln!("tavola: another process removed or changed the lock {name} meanwhile");
    }
    ran.map(|()| ExitCode::SUCCESS)
        .map_err(|failure| CliError::Command {
            sentence: format!("the command failed ({})", failure.why),
            code: failure.code,
        })
}

/// The holder of a lock, as the value of its key.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Holder {
    pid: u32,
    slot: u32,
    attached_unix_s: u64,
    nonce: String,
}

impl Holder {
    /// Returns this process as a holder.
    fn this(table: &Table) -> Result<Holder, CliError> {
        // Attaches, so that this process has a slot.
        table.reclaim()?;
        let all = table.participants()?;
        let me = all.iter().find(|one| one.is_this_process());
        let me = me.ok_or_else(|| {
            CliError::Sentence("this process is not attached to the table; try again".to_string())
        })?;
        let random = RandomState::new();
        Ok(Holder {
            pid: me.pid,
            slot: me.slot,
            attached_unix_s: me.attached_unix_s,
            nonce: format!("{:016x}", random.hash_one(me.pid)),
        })
    }

    fn is(&self, one: &Participant) -> bool {
        let same = (self.pid, self.slot, self.attached_unix_s);
        one.alive && same == (one.pid, one.slot, one.attached_unix_s)
    }
}

/// Waits for the lock and takes it. Returns the token of its key, or `None` if the time is up.
fn acquire(
    table: &Table,
    key: &[u8],
    timeout: Option<Duration>,
) -> Result<Option<CasToken>, CliError> {
    let (start, mut pause) = (Instant::now(), PAUSES[0]);
    let me = Holder::this(table)?;
    let value = serde_json::to_vec(&me).unwrap_or_default();
    let never = Attributes {
        expiry: Expiry::Never,
        flags: 0,
    };
    loop {
        let is_mine = match table.get_with_token(key)? {
            None => table.add_with(key, &value, never)?,
            Some((held, token)) => {
                is_over(table, &me, &held)?
                    && table.compare_and_swap_with(key, token, &value, never)?
                        == CasOutcome::Swapped
            }
        };
        if is_mine {
            let now = table.get_with_token(key)?;
            return match now {
                Some((held, token)) if held == value => Ok(Some(token)),
                _ => continue,
            };
        }
        if timeout.is_some_and(|timeout| start.elapsed() >= timeout) {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSES[1]);
    }
}

/// Returns whether the holder that a value names is dead.
fn is_over(table: &Table, me: &Holder, value: &[u8]) -> Result<bool, CliError> {
    let holder: Holder = serde_json::from_slice(value).map_err(|_| {
        CliError::Sentence(
            "the key exists, but its value is not a lock; choose another name for the lock"
                .to_string(),
        )
    })?;
    let is_like_me =
        (holder.pid, holder.slot, holder.attached_unix_s) == (me.pid, me.slot, me.attached_unix_s);
    if is_like_me {
        // A process that had this slot and pid before, in the same second.
        return Ok(holder.nonce != me.nonce);
    }
    Ok(!table.participants()?.iter().any(|one| holder.is(one)))
}

/// Runs the command and passes signals on to it.
fn run_command(command: &[OsString]) -> Result<(), Failure> {
    let signals = Signals::install().map_err(|error| command::no_start(command, &error))?;
    let mut program = command::program(command)?;
    let mut child = program
        .spawn()
        .map_err(|error| command::no_start(command, &error))?;
    let status = signals
        .wait(&mut child)
        .map_err(|error| command::no_start(command, &error))?;
    command::succeeded(command, status)
}

/// Signals that must not end this process while the command runs.
struct Signals {
    term: Arc<AtomicBool>,
    hangup: Arc<AtomicBool>,
}

impl Signals {
    fn install() -> std::io::Result<Signals> {
        let signals = Signals {
            term: Arc::default(),
            hangup: Arc::default(),
        };
        signal_hook::flag::register(SIGTERM, Arc::clone(&signals.term))?;
        if !ignores_hangup() {
            signal_hook::flag::register(SIGHUP, Arc::clone(&signals.hangup))?;
        }
        // The terminal sends these to the command as well.
        for signal in [SIGINT, SIGQUIT] {
            signal_hook::flag::register(signal, Arc::default())?;
        }
        Ok(signals)
    }

    /// Waits for the end of the command.
    fn wait(&self, child: &mut Child) -> std::io::Result<ExitStatus> {
        let pid = Pid::from_child(child);
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let has_ended = AtomicBool::new(false);
        thread::scope(|scope| {
            let passing = scope.spawn(|| {
                while !has_ended.load(Ordering::Acquire) {
                    for (flag, signal) in [(&self.term, Signal::TERM), (&self.hangup, Signal::HUP)]
                    {
                        if flag.swap(false, Ordering::AcqRel) {
                            let _ = kill_process(pid, signal);
                        }
                    }
                    thread::park_timeout(TICK);
                }
            });
            // Its pid is not free before it was waited for: no signal goes to another process.
            while matches!(waitid(WaitId::Pid(pid), ended), Err(Errno::INTR)) {}
            has_ended.store(true, Ordering::Release);
            passing.thread().unpark();
        });
        child.wait()
    }
}
