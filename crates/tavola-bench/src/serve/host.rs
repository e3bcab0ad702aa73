//! A process that becomes a server: on its CPUs, and dead when the leader is.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::duty::{follow, stay_on_all};
use crate::{Error, Result};

/// Becomes the program that follows the leader's number and the CPUs, with its arguments.
///
/// # Errors
///
/// The program cannot be started; else it does not return.
pub fn host(args: &[OsString]) -> Result<()> {
    let bad = || Error::Worker {
        what: "a host needs a leader, CPUs and a program".to_owned(),
    };
    let [leader, cpus, program, args @ ..] = args else {
        return Err(bad());
    };
    let number = |text: &str| text.parse::<usize>().map_err(|_| bad());
    let leader = number(leader.to_str().ok_or_else(bad)?)?;
    let cpus = cpus.to_str().ok_or_else(bad)?.split(',').map(number);
    follow(leader as u32, None)?;
    stay_on_all(&cpus.collect::<Result<Vec<_>>>()?)?;
    Err(Error::Io {
        doing: "starting a server",
        source: Command::new(program).args(args).exec(),
    })
}
