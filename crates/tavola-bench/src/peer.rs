//! Peers in C: programs that are compiled when they are needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

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
