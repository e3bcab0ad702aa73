//! Trials that need a file system of their own: each takes place in a mount namespace, which is
//! gone with the process in it. That process is this program again, and does the trial in there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::ground::{Extent, Ground, Served};
use super::processes::Program;
use super::{Trial, Trying, Verdict, full, power, stores, verdict};
use crate::compare::supply;
use crate::{Error, Result};

/// The job of the process in the mount namespace.
#[derive(Serialize, Deserialize)]
pub(super) struct Inside {
    inside: String,
    trial: Trial,
    program: Program,
    folder: PathBuf,
    extent: Extent,
    /// The server that it is to start for itself.
    server: Option<String>,
}

/// Mounts a file system by a script, whose first argument is where, and does the trial on it.
pub(super) fn run(
    ground: &mut Ground<'_>,
    own: &Program,
    program: &Program,
    folder: &Path,
    trial: Trial,
) -> Trying<Verdict> {
    let mount = folder.join("store");
    let server = ground.server_within(&mount);
    if ground.subject.served && server.is_none() {
        let why = "a server has it in its own memory, up to a limit that is set";
        return Ok(Verdict::not_applicable(why));
    }
    fs::create_dir_all(&mount).map_err(Error::io("making a folder to mount on"))?;
    let inside = Inside {
        inside: ground.subject.name.to_owned(),
        trial,
        program: program.clone(),
        folder: folder.to_owned(),
        extent: ground.extent,
        server,
    };
    let (script, what) = match trial {
        Trial::PowerCut => (power::SCRIPT, "disk"),
        _ => (full::SCRIPT, "tmpfs"),
    };
    let text = serde_json::to_string(&inside).expect("it has a JSON form");
    let mut why = String::new();
    for flags in ["-m", "-Urm"] {
        let mut command = Command::new("unshare");
        command
            .args([flags, "--", "sh", "-c", script, "sh"])
            .arg(&mount);
        command.arg(&own.program).args(&own.args).arg(&text);
        let ended = match command.output() {
            Ok(ended) => ended,
            Err(error) => {
                why = format!("unshare: {error}");
                continue;
            }
        };
        let said = String::from_utf8_lossy(&ended.stdout);
        let verdict = said
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str(line).ok());
        if let Some(verdict) = verdict {
            return Ok(verdict);
        }
        let complaints = String::from_utf8_lossy(&ended.stderr);
        let complaint = complaints.lines().last().unwrap_or("it was refused");
        // The complaint of the first attempt, with privileges, is the more useful one.
        if why.is_empty() {
            complaint.clone_into(&mut why);
        }
    }
    let why = format!("not tried: no {what} of its own can be mounted here ({why})");
    Ok(Verdict::not_applicable(why))
}

/// In the namespace: does the trial and prints how it ended.
pub(super) fn inside(inside: &Inside) -> Result<()> {
    let Some(subject) = stores::named(&inside.inside) else {
        let what = format!("there is no store named {} here", inside.inside);
        return Err(Error::worker(what));
    };
    let mut server = inside.server.as_deref().map(supply::served).transpose()?;
    let served = server
        .as_deref_mut()
        .map(|server| server as &mut dyn Served);
    let ground = Ground::new(
        subject,
        inside.extent,
        &inside.program,
        &inside.folder,
        served,
    );
    let mut found = match ground {
        Ok(mut ground) => verdict(match inside.trial {
            Trial::PowerCut => power::of_disk(&mut ground),
            _ => full::fill(&mut ground),
        })?,
        // Not everybody who may mount may start a server.
        Err(Error::Worker { what }) => Verdict::not_applicable(format!("not tried: {what}")),
        Err(error) => return Err(error),
    };
    if !subject.room.is_empty() {
        found.detail = format!("{}; {}", found.detail, subject.room);
    }
    let text = serde_json::to_string(&found).expect("it has a JSON form");
    println!("\n{text}");
    Ok(())
}
