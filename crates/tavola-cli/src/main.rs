//! The command `tavola`: key-value tables in shared memory, from the shell.
//!
//! - [`cli`]: the arguments, the groups of the overview, and which command runs.
//! - [`cmd`]: one file a command; its arguments, its examples, and what it does. `cmd::serve` has
//!   the server, which takes memcached's flags as `tavola-memcached` or `tavola memcached`.
//! - [`args`]: arguments that several commands share: tables, keys, values.
//! - [`output`], [`units`], [`progress`]: bytes, JSON, sizes and bars on their way out.
//! - [`constant`]: constant files in the place of a table.
//! - [`durable`]: what the commands for durable tables share.
//! - [`pattern`], [`kind`]: which keys are meant; what a file of tables holds.
//! - [`lines`]: commands one a line, of a shell or a batch.
//! - [`session`]: tables that a shell or a batch keeps open; [`command`]: programs that are run.
//! - [`rights`], [`owner`]: mode and group of a new table; the names of users and groups.
//! - [`stream`]: the three formats of `dump` and `load`.
//! - [`health`]: what `doctor` looks at.
//! - [`interrupt`]: Ctrl-C ends a command in good order.
//! - [`error`]: everything that can go wrong, as sentences.
//!
//! Exit codes: 0 found or done, 1 missing (or something needs attention), 2 error. Commands that
//! run a program pass on its exit code if it fails.

#![forbid(unsafe_code)]

mod args;
mod beside;
mod cli;
mod cmd;
mod command;
mod constant;
mod durable;
mod error;
mod health;
mod interrupt;
mod kind;
mod lines;
mod output;
mod owner;
mod pattern;
mod progress;
mod rights;
mod session;
mod stream;
mod units;

use std::process::ExitCode;

use cli::Command;
use cmd::serve::memcached::{self, Flags};
use error::CliError;
use tavola_program::stack::on_large_stack;
use tavola_program::{ERROR, usage};

/// The name of the command, before its messages.
const NAME: &str = "tavola";
/// The exit code of "not there": a missing key, a key that was there already, a finding.
const MISSING: u8 = 1;

/// What is to be run; boxed, to be small on the stack of the main thread.
enum Asked {
    Command(Box<Command>),
    Server(Box<Flags>),
}

fn main() -> ExitCode {
    tavola::on_long_wait(|holder| {
        eprintln!("{NAME}: waiting for {holder} ({} is locked)", holder.lock);
    });
    progress::show_rebuilds();
    match on_large_stack(read_arguments) {
        Ok(Asked::Command(command)) => ended(NAME, command.run()),
        Ok(Asked::Server(flags)) => ended(memcached::NAME, flags.run()),
        Err(code) => code,
    }
}

/// Reads the arguments; shows what is wrong with them, or help, and returns the exit code then.
fn read_arguments() -> Result<Asked, ExitCode> {
    if let Some(words) = memcached::asked() {
        return match memcached::parse(words) {
            Ok(flags) => Ok(Asked::Server(Box::new(flags))),
            Err(wrong) => Err(usage::show(memcached::NAME, &wrong)),
        };
    }
    match cli::parse() {
        Ok(command) => Ok(Asked::Command(Box::new(command))),
        Err(wrong) => Err(usage::show(NAME, &wrong)),
    }
}

fn ended(program: &str, ended: Result<ExitCode, CliError>) -> ExitCode {
    match ended {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{program}: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}
