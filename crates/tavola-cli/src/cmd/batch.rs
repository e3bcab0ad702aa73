//! `tavola batch`: many commands, one a line, in one process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::error::CliError;
use crate::lines::{Lines, Ran};
use crate::session;
use tavola_program::stack::on_large_stack;

const EXAMPLES: &str = "\
Examples:
  printf 'set t a 1\\nincr t a\\nget t a\\n' | tavola batch
  tavola batch --table sessions < commands.txt     then 'set alice {}' is enough
  tavola batch commands.txt --keep-going

Each line is a command without 'tavola'. Quote words as in sh; # begins a comment. Tables
stay open, so thousands of commands run per second. A command reads its value from its
arguments or from --file, never from standard input. Each printed value ends with a
newline.

The batch stops at the first error: it reports the line number, and the exit code is 2.
With --keep-going the remaining lines run, too. If there was no error, the exit code is 1
if any command had a nonzero exit code.";

/// Run many commands, one per line, in one process
#[derive(clap::Args, Clone)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The file with the commands [default: standard input, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Use this table for all commands; the lines then do not name one
    #[arg(long, value_name = "TABLE")]
    table: Option<OsString>,
    /// Continue after an error
    #[arg(long)]
    keep_going: bool,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    // A result that cannot be sent to another thread is printed in its own.
    let code = on_large_stack(move || {
        run_lines(&args).unwrap_or_else(|error| match error.is_broken_pipe() {
            true => ExitCode::SUCCESS,
            false => {
                eprintln!("{}: {error}", crate::NAME);
                ExitCode::from(crate::ERROR)
            }
        })
    });
    Ok(code)
}

fn run_lines(args: &Args) -> Result<ExitCode, CliError> {
    let file = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let failed = |source| CliError::Read {
        path: file.unwrap_or(Path::new("standard input")).to_path_buf(),
        source,
    };
    let mut input: Box<dyn BufRead> = match file {
        Some(path) => Box::new(BufReader::new(File::open(path).map_err(failed)?)),
        None if args.file.is_none() && io::stdin().is_terminal() => {
            return Err(CliError::NoInput {
                wanted: "file with commands",
            });
        }
        None => Box::new(io::stdin().lock()),
    };
    session::start(file.is_none());
    let mut lines = Lines::new(args.table.clone());
    let (mut line, mut number, mut code) = (Vec::new(), 0_u64, ExitCode::SUCCESS);
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            return Ok(code);
        }
        number += 1;
        match lines.run(line.trim_ascii()) {
            Ok(Ran::Code(ExitCode::SUCCESS) | Ran::Nothing) => {}
            Ok(Ran::Code(_)) if code == ExitCode::SUCCESS => {
                code = ExitCode::from(crate::MISSING);
            }
            Ok(Ran::Code(_)) => {}
            Ok(Ran::Help(text)) => print!("{text}"),
            Err(error) if error.is_broken_pipe() => return Err(error),
            Err(error) => {
                let name = file.unwrap_or(Path::new("standard input")).display();
                eprintln!("{}: {name}, line {number}: {error}", crate::NAME);
                code = ExitCode::from(crate::ERROR);
                if !args.keep_going {
                    return Ok(code);
                }
            }
        }
    }
}
