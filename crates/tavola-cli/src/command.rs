//! Programs that a command runs: `compute`, `update`, `lock` and `queue pop`.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use crate::output::printable;
use crate::session;

/// Why a program did not succeed.
pub struct Failure {
    /// How it ended, in few words: `curl: exit status: 22`.
    pub why: String,
    /// The exit code to pass on: its own, 128 and the signal that killed it, 127 if it was not
    /// found, 126 if it could not be started.
    pub code: u8,
}

/// Runs a program and returns what it writes on standard output. With `input`, that is its
/// standard input.
pub fn output_of(command: &[OsString], input: Option<&[u8]>) -> Result<Vec<u8>, Failure> {
    let mut program = program(command)?;
    program.stdout(Stdio::piped());
    let Some(input) = input else {
        let ran = program
            .output_with_input()
            .map_err(|e| no_start(command, &e))?;
        return succeeded(command, ran.status).map(|()| ran.stdout);
    };
    program.stdin(Stdio::piped());
    let mut child = program.spawn().map_err(|e| no_start(command, &e))?;
    let stdin = child.stdin.take();
    let ran = thread::scope(|scope| {
        // A program that needs no more input closes the pipe early.
        scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(input)));
        child.wait_with_output()
    });
    let ran = ran.map_err(|error| no_start(command, &error))?;
    succeeded(command, ran.status).map(|()| ran.stdout)
}

/// Runs a program whose standard input is `input` and whose output goes where this one's goes.
pub fn feed(command: &[OsString], input: &[u8]) -> Result<(), Failure> {
    let mut program = program(command)?;
    program.stdin(Stdio::piped());
    let mut child = program.spawn().map_err(|e| no_start(command, &e))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that needs no more input closes the pipe early.
        let _ = pipe.write_all(input);
    }
    let status = child.wait().map_err(|error| no_start(command, &error))?;
    succeeded(command, status)
}

/// Returns the program, ready to start. In a batch it may not read the batch.
pub fn program(command: &[OsString]) -> Result<Command, Failure> {
    let [name, args @ ..] = command else {
        let why = "there is no command".to_string();
        return Err(Failure { why, code: 2 });
    };
    let mut program = Command::new(name);
    program.args(args);
    if session::reads_standard_input() {
        program.stdin(Stdio::null());
    }
    Ok(program)
}

/// Standard input stays as it was set, unlike in [`Command::output`].
trait OutputWithInput {
    fn output_with_input(&mut self) -> io::Result<std::process::Output>;
}

impl OutputWithInput for Command {
    fn output_with_input(&mut self) -> io::Result<std::process::Output> {
        self.spawn()?.wait_with_output()
    }
}

/// Returns how a program failed, if it did.
pub fn succeeded(command: &[OsString], status: ExitStatus) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    let by_signal = || status.signal().map_or(1, |signal| 128 + signal);
    let code = status.code().unwrap_or_else(by_signal);
    Err(Failure {
        why: format!("{}: {status}", name_of(command)),
        code: u8::try_from(code).unwrap_or(1),
    })
}

/// Returns why a program could not be started.
pub fn no_start(command: &[OsString], error: &io::Error) -> Failure {
    Failure {
        why: format!("{}: {error}", name_of(command)),
        code: match error.kind() {
            ErrorKind::NotFound => 127,
            _ => 126,
        },
    }
}

fn name_of(command: &[OsString]) -> String {
    let program = command.first().map_or(OsStr::new(""), |name| name);
    let name = Path::new(program).file_name().unwrap_or(program);
    printable(name.as_bytes()).into_owned()
}
