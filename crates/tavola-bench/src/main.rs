//! The program `tavola-bench`: measures Tavola on this machine.
//!
//! [`cmd`] has the arguments, one file for each measurement, and prints the results; the library
//! `tavola_bench` measures. The program starts itself again, with a hidden subcommand, for the
//! worker processes of a measurement.
//!
//! Exit codes: 0 done, 2 error, also when a table gave a wrong answer.
#![forbid(unsafe_code)]

mod cmd;

use std::process::ExitCode;

use tavola_program::stack::on_large_stack;
use tavola_program::{ERROR, usage};

/// The name of the program, before its messages.
const NAME: &str = "tavola-bench";

fn main() -> ExitCode {
    tavola::on_long_wait(|holder| {
        eprintln!("{NAME}: waiting for {holder} ({} is locked)", holder.lock);
    });
    let args = match on_large_stack(cmd::parse) {
        Ok(args) => args,
        Err(wrong) => return usage::show(NAME, &wrong),
    };
    match args.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{NAME}: {error}");
            ExitCode::from(ERROR)
        }
    }
}
