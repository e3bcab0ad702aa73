//! `tavola lock`: runs a command while it holds a named lock of a table.

use std::ffi::OsString;
use std::process::{Child, ExitCode, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use tavola::{LockGuard, NamedLock};
use tavola_program::interrupt::ignores_hangup;

use crate::args::TableArg;
use crate::command::{self, Failure};
use crate::error::CliError;
use crate::units;

/// Between two looks for signals to pass on.
const TICK: Duration = Duration::from_millis(20);

const EXAMPLES: &str = "\
Examples:
  tavola lock locks nightly-report -- ./report.sh
  tavola lock locks deploy --timeout 0 -- make deploy || echo another one runs
  tavola lock locks config --shared -- ./read-config.sh

The lock is released when the command ends, and also when 'tavola lock' is killed: then
the next one that wants the lock has it at once, and says so. In that case the command may
still be running. SIGTERM and SIGHUP are passed on to the command. Programs meet at the
same locks with named_lock of the library.

The exit code is that of the command, 1 if the timeout ends before the lock is free, or 2
for an error.";

/// Run a command while holding a lock
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The name of the lock, 1 to 56 bytes
    #[arg(value_name = "NAME", allow_negative_numbers = true)]
    lock: String,
    /// Share the lock with others that share it
    #[arg(long)]
    shared: bool,
    /// Wait for the lock at most this long [default: forever]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    timeout: Option<Duration>,
    /// The command and its arguments, after --
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<OsString>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = args.table.keys_or_create()?;
    let lock = table.named_lock(&args.lock)?;
    let Some(guard) = args.acquire(&lock)? else {
        eprintln!("tavola: {} is held by {}", args.lock, holders(&lock));
        return Ok(ExitCode::from(crate::MISSING));
    };
    if guard.owner_died() {
        eprintln!(
            "tavola: the last holder of {} was killed while it held the lock",
            args.lock
        );
    }
    let ran = run_command(&args.command);
    drop(guard);
    ran.map(|()| ExitCode::SUCCESS)
        .map_err(|failure| CliError::Command {
            sentence: format!("the command failed ({})", failure.why),
            code: failure.code,
        })
}

impl Args {
    fn acquire<'a>(&self, lock: &'a NamedLock) -> Result<Option<LockGuard<'a>>, CliError> {
        Ok(match (self.shared, self.timeout) {
            (false, None) => Some(lock.lock()?),
            (false, Some(limit)) => lock.lock_within(limit)?,
            (true, None) => Some(lock.share()?),
            (true, Some(limit)) => lock.share_within(limit)?,
        })
    }
}

fn holders(lock: &NamedLock) -> String {
    let all = lock.holders();
    match all.first() {
        None => "a process that has just released it".to_string(),
        Some(first) if all.len() == 1 => first.to_string(),
        Some(first) => format!("{first} and {} more", all.len() - 1),
    }
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
