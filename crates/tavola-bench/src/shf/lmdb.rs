//! The processes that use LMDB: a program in C, compiled when it is needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{Error, Result};

const SOURCE: &str = include_str!("../../peers/shf/lmdb.c");

/// Returns why LMDB cannot be measured, if that is so.
pub(super) fn missing() -> Option<&'static str> {
    let compiler = Command::new("cc")
        .arg("--version")
        .stdin(Stdio::null())
        .output();
    match compiler {
        Err(_) => Some("there is no C compiler; scripts/setup compare installs it"),
        Ok(_) if !Path::new("/usr/include/lmdb.h").exists() => {
            Some("there is no lmdb.h; scripts/setup compare installs it (liblmdb-dev)")
        }
        Ok(_) => None,
    }
}

/// Compiles the program in this folder.
pub(super) fn program(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("lmdb.c"), folder.join("shf-lmdb"));
    fs::write(&source, SOURCE).map_err(Error::io("writing the program for LMDB"))?;
    let mut compile = Command::new("cc");
    compile.args(["-O2", "-std=gnu11", "-o"]);
    compile.arg(&program).arg(&source).arg("-llmdb");
    let output = compile.stdin(Stdio::null()).output();
    let output = output.map_err(Error::io("compiling the program for LMDB"))?;
    match output.status.success() {
        true => Ok(program),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().find(|line| line.contains("error"));
            let line = line.unwrap_or("it failed");
            Err(Error::worker(format!(
                "compiling the program for LMDB: {line}"
            )))
        }
    }
}
