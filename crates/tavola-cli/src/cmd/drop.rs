//! `tavola drop`: removes whole tables.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tavola::Error;

use crate::args::options;
use crate::error::CliError;
use crate::output::printable;
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola drop sessions
  tavola drop scratch --if-exists     no error if it is missing
  tavola drop /var/lib/app/users      a durable table, with its files
  tavola drop scratch --after-pid $$ &       when this shell has ended, however it ends

Processes that have the table open can use it until they close it. A process that opens
the name later gets a new table. Of a durable table, the files in its directory are
removed, and the directory if nothing else is in it; processes that have it open cannot
write any more.

With --after-pid it sleeps until the process has ended, and drops the tables within 50 ms:
after half of 150 kills within 1 ms, after all within 19 ms, on 2 busy CPUs. A process that
is stopped has not ended; its forked children are not waited for.";

/// Remove tables and all their keys
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The tables: names, or paths if they contain a /
    #[arg(value_name = "TABLE", required = true)]
    tables: Vec<OsString>,
    /// Do not fail if a table is missing
    #[arg(long)]
    if_exists: bool,
    /// Wait for the end of a process first; a table that is missing then is no error. A process
    /// that has ended already is not waited for
    #[arg(long, value_name = "PID", value_parser = parse_pid)]
    after_pid: Option<Pid>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    if let Some(pid) = args.after_pid {
        wait_for_end(pid)?;
    }
    let may_be_missing = args.if_exists || args.after_pid.is_some();
    for name in &args.tables {
        let users = other_users(name);
        match options().remove(name) {
            Err(Error::NotFound { .. }) if may_be_missing => {}
            removed => removed?,
        }
        if users > 0 {
            let name = printable(name.as_bytes());
            let users = units::counted(users, "process");
            eprintln!(
                "tavola: {name} is dropped, but still open in {users}; \
                 its memory is freed when it is closed"
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn parse_pid(text: &str) -> Result<Pid, String> {
    let pid = text.parse().ok().and_then(Pid::from_raw);
    pid.filter(|pid| pid.as_raw_nonzero().get() > 0)
        .ok_or_else(|| format!("'{text}' is not the number of a process"))
}

/// Waits until a process has ended. The descriptor stands for the process, also if its number is
/// given to another one meanwhile.
fn wait_for_end(pid: Pid) -> Result<(), CliError> {
    let failed = |errno: Errno| {
        CliError::Sentence(format!(
            "cannot wait for process {} ({errno}); check its number",
            pid.as_raw_nonzero()
        ))
    };
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Err(Errno::SRCH) => return Ok(()),
        opened => opened.map_err(failed)?,
    };
    loop {
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], None) {
            Err(Errno::INTR) => {}
            ended => return ended.map(drop).map_err(failed),
        }
    }
}

/// Returns how many other processes are attached. A table that cannot be read can be dropped, too.
fn other_users(name: &OsString) -> u64 {
    let participants = options()
        .open_read_only(name)
        .and_then(|table| table.participants());
    let others = participants.unwrap_or_default().into_iter();
    others
        .filter(|one| one.alive && !one.is_this_process())
        .count() as u64
}
