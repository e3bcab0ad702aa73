//! Peers in C: programs that are compiled when they are needed.

use std::fs;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::{Error, Result};

/// A program in C that uses a peer's library.
pub(crate) struct Peer {
    /// For people.
    pub(crate) name: &'static str,
    pub(crate) source: &'static str,
    /// A header of the library, below the folder of all headers.
    pub(crate) header: &'static str,
    pub(crate) library: &'static str,
    /// What Debian calls it.
    pub(crate) package: &'static str,
}

impl Peer {
    /// Returns why the peer cannot be measured, if that is so.
    pub(crate) fn missing(&self) -> Option<String> {
        let Self {
            header, package, ..
        } = self;
        let compiler = Command::new("cc")
            .arg("--version")
            .stdin(Stdio::null())
            .output();
        match compiler {
            Err(_) => Some("there is no C compiler; scripts/setup compare installs it".to_owned()),
            Ok(_) if !Path::new("/usr/include").join(header).exists() => Some(format!(
                "there is no {header}; scripts/setup compare installs it ({package})"
            )),
            Ok(_) => None,
        }
    }

    /// Compiles the program in this folder.
    pub(crate) fn compile(&self, folder: &Path) -> Result<PathBuf> {
        let name = self.name;
        let doing = || format!("compiling the program for {name}");
        let program = folder.join(format!("peer-{}", self.library));
        let source = program.with_extension("c");
        fs::write(&source, self.source).map_err(Error::io("writing a program in C"))?;
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-std=gnu11", "-o"]);
        compile.arg(&program).arg(&source);
        compile.arg(format!("-l{}", self.library));
        let output = compile.stdin(Stdio::null()).output();
        let output = output.map_err(Error::io("compiling a program in C"))?;
        match output.status.success() {
            true => Ok(program),
            false => {
                let said = String::from_utf8_lossy(&output.stderr);
                let line = said.lines().find(|line| line.contains("error"));
                let line = line.unwrap_or("it failed");
                Err(Error::worker(format!("{}: {line}", doing())))
            }
        }
    }
}

/// A running program of a peer that answers each line of its standard input with two numbers: how
/// many times it did what was asked for, and how many nanoseconds that took.
pub(crate) struct PeerProcess {
    name: &'static str,
    child: Child,
    input: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

impl PeerProcess {
    /// `name` is that of the peer.
    pub(crate) fn start(name: &'static str, mut command: Command) -> Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.spawn();
        let mut child = child.map_err(Error::io("starting the program of a peer"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        Ok(Self {
            name,
            input: input.expect("a pipe"),
            answers: BufReader::new(output.expect("a pipe")).lines(),
            child,
        })
    }

    /// Returns the two numbers.
    pub(crate) fn ask(&mut self, line: &str) -> Result<(f64, f64)> {
        let asked = self.input.write_all(format!("{line}\n").as_bytes());
        asked.map_err(Error::io("asking the program of a peer"))?;
        let answer = self.answers.next().transpose();
        let answer = answer.map_err(Error::io("hearing the program of a peer"))?;
        let numbers = answer.as_deref().and_then(|line| line.split_once(' '));
        let parsed = numbers.and_then(|(count, ns)| Some((count.parse().ok()?, ns.parse().ok()?)));
        let name = self.name;
        parsed.ok_or_else(|| Error::worker(format!("the program of {name} failed")))
    }
}

impl Drop for PeerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
