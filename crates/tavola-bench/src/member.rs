//! One worker process as its leader sees it: started, told, heard, ended.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// A member answered, but not what it was asked.
pub(crate) fn out_of_turn() -> Error {
    Error::Worker {
        what: "it answered something else than was asked".to_owned(),
    }
}

/// Reads one JSON value a line, and answers so.
pub(crate) struct Member {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Member {
    pub(crate) fn start((program, args): &(PathBuf, Vec<OsString>)) -> Result<Self> {
        let mut child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::io("starting a worker"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("the output is piped"));
        Ok(Self {
            child,
            input,
            output,
        })
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_string(message).expect("messages have a JSON form");
        line.push('\n');
        let input = self
            .input
            .as_mut()
            .expect("the input is open until the end");
        input
            .write_all(line.as_bytes())
            .map_err(Error::io("telling a worker"))
    }

    /// `at` and `phase` are for the sentence when there is no answer.
    pub(crate) fn hear<T: DeserializeOwned>(&mut self, at: usize, phase: &str) -> Result<T> {
        let mut line = String::new();
        let len = self
            .output
            .read_line(&mut line)
            .map_err(Error::io("hearing a worker"))?;
        if len == 0 {
            let waited = self.child.wait();
            let status = waited.map_err(Error::io("waiting for a worker"))?;
            let what = format!("worker {at} ended in phase {phase}: {status}");
            return Err(Error::Worker { what });
        }
        serde_json::from_str(&line).map_err(|error| Error::Io {
            doing: "understanding a worker",
            source: error.into(),
        })
    }

    /// Closes its input, and waits until it has cleaned up and ended.
    pub(crate) fn dismiss(mut self) -> Result<()> {
        self.input = None;
        let waited = self.child.wait();
        waited.map_err(Error::io("waiting for a worker")).map(drop)
    }
}

impl Drop for Member {
    /// Closing its input ends a worker that waits; one that still works is ended.
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
