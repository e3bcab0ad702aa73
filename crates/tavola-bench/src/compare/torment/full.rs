//! The trial of a full disk: a file system of 16 MiB is filled by puts. An error, a death, or ruin?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::ground::{Extent, Ground, Served};
use super::job::{Job, Role};
use super::processes::{Ended, Program, signal_name};
use super::{Outcome, Trying, Verdict, count, stores, verdict};
use crate::compare::supply;
use crate::{Error, Result};

const ROOM_MIB: u64 = 16;
const SCRIPT: &str = "mount -t tmpfs -o size=16m,mode=0777 torment \"$1\" && shift && exec \"$@\"";
const FULL_VALUE_BYTES: u64 = 32_000;
/// Puts before the file system is filled: a store that is made again has been made once.
const FIRST: u64 = 64;
/// Four times what fits.
const PUTS: u64 = 2 << 10;
/// More than there are puts: every put has its own key.
const MANY_KEYS: u64 = 1 << 30;
/// A put may pass over all data.
const PASSES: u32 = 2;

/// The job of the process in the mount namespace.
#[derive(Serialize, Deserialize)]
pub(super) struct Inside {
    inside: String,
    program: Program,
    folder: PathBuf,
    extent: Extent,
    /// The server that it is to start for itself.
    server: Option<String>,
}

/// A file system of 16 MiB is filled by puts: an error, a death, or ruin? It is a tmpfs in a mount
/// namespace of its own, which is gone with the process in it. That process is this program again,
/// and does the trial in there.
pub(super) fn run(
    ground: &mut Ground<'_>,
    own: &Program,
    program: &Program,
    folder: &Path,
) -> Trying<Verdict> {
    if program.forks {
        return fill(ground);
    }
    let mount = folder.join("store");
    let server = ground.server_within(&mount);
    if ground.subject.served && server.is_none() {
        let why = "a server has it in its own memory, up to a limit that is set";
        return Ok(Verdict::not_applicable(why));
    }
    fs::create_dir_all(&mount).map_err(Error::io("making a folder to mount on"))?;
    let inside = Inside {
        inside: ground.subject.name.to_owned(),
        program: program.clone(),
        folder: folder.to_owned(),
        extent: ground.extent,
        server,
    };
    let text = serde_json::to_string(&inside).expect("it has a JSON form");
    let mut why = String::new();
    for flags in ["-m", "-Urm"] {
        let mut command = Command::new("unshare");
        command
            .args([flags, "--", "sh", "-c", SCRIPT, "sh"])
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
        why = complaints
            .lines()
            .last()
            .unwrap_or("it was refused")
            .to_owned();
    }
    let why = format!("not tried: no tmpfs of its own can be mounted here ({why})");
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
        Ok(mut ground) => verdict(fill(&mut ground))?,
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

fn fill(ground: &mut Ground<'_>) -> Trying<Verdict> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound * PASSES;
    let slowness = ground.subject.slowness;
    let first = Job {
        keys: MANY_KEYS,
        value_bytes: FULL_VALUE_BYTES * slowness,
        ops: FIRST / slowness,
        millis: bound.as_millis() as u64 * 2,
        ..job
    };
    ground.answer(&first, bound, "the first puts")?;
    let job = Job {
        from: first.ops + 1,
        ops: PUTS / slowness,
        slot: 2,
        ..first.clone()
    };
    let filled = ground.starter.run(&job, bound)?;
    let acked = board.notes(2)?.acked.max(first.ops);
    let mut after = |role, slot| {
        let job = Job {
            from: acked,
            role,
            slot,
            ..job.clone()
        };
        ground.starter.run(&job, bound)
    };
    let (verified, removed) = (after(Role::VerifyFull, 3)?, after(Role::Remove, 4)?);
    Ok(judge_full(
        acked,
        filled,
        verified,
        removed,
        ground.subject.cache,
    ))
}

fn judge_full(
    acked: u64,
    filled: Option<Ended>,
    verified: Option<Ended>,
    removed: Option<Ended>,
    cache: bool,
) -> Verdict {
    let values = count(acked, "value");
    let Some(filled) = filled else {
        let what = format!("after {values} a put did not return");
        return Verdict::new(Outcome::Hangs, what, 1);
    };
    let (filling, end) = match (filled.signal, filled.fault()) {
        (Some(signal), _) => {
            let signal = signal_name(signal);
            (
                format!("after {values} the writer died of {signal}"),
                Outcome::Dies,
            )
        }
        (None, Some(why)) => (format!("after {values} an error: {why}"), Outcome::Refuses),
        (None, None) => (format!("all {values} taken"), Outcome::Holds),
    };
    let (state, sentence) = after_full(verified, cache);
    let mut said = vec![format!("{ROOM_MIB} MiB"), filling, sentence];
    if state != Outcome::Ruined {
        let answer = removed.as_ref().and_then(|ended| ended.answer.as_ref());
        let works = answer.is_some_and(|answer| answer.works && answer.error.is_none());
        let fault = removed.as_ref().and_then(Ended::fault);
        said.push(match (works, fault) {
            (true, _) => "it worked after half was removed".to_owned(),
            (false, Some(why)) => format!("it did not work after half was removed: {why}"),
            (false, None) => "it did not work after half was removed".to_owned(),
        });
    }
    let outcome = match (state, end) {
        (Outcome::Ruined, _) => Outcome::Ruined,
        (_, Outcome::Dies) => Outcome::Dies,
        (Outcome::Loses, _) => Outcome::Loses,
        (_, end) => end,
    };
    Verdict::new(outcome, said.join("; "), 1)
}

/// What the store is like once it was full.
fn after_full(verified: Option<Ended>, cache: bool) -> (Outcome, String) {
    let Some(verified) = verified else {
        return (
            Outcome::Ruined,
            "a process that opens it afterwards hangs".to_owned(),
        );
    };
    let (answer, fault) = (verified.answer.as_ref(), verified.fault());
    let (Some(answer), None) = (answer, &fault) else {
        let why = fault.unwrap_or_default();
        return (
            Outcome::Ruined,
            format!("it cannot be read afterwards: {why}"),
        );
    };
    let (good, lost, torn) = (answer.good, answer.lost, answer.torn);
    match (torn, lost) {
        (0, 0) => (Outcome::Holds, "all are there".to_owned()),
        (0, lost) if cache => (
            Outcome::Holds,
            format!("{lost} were evicted, {good} are there"),
        ),
        (0, lost) => (Outcome::Loses, format!("{lost} are lost, {good} are there")),
        (torn, lost) => {
            let sentence = format!("{torn} are cut short or mixed, {lost} lost, {good} there");
            (Outcome::Ruined, sentence)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::torment::job::Answer;

    fn answered(error: Option<&str>, good: u64, lost: u64) -> Option<Ended> {
        Some(Ended {
            answer: Some(Answer {
                opened: true,
                error: error.map(str::to_owned),
                good,
                lost,
                works: true,
                ..Answer::default()
            }),
            ..Ended::default()
        })
    }

    #[test]
    fn an_error_is_no_death_and_ruin_is_worse() {
        let (refused, whole) = (answered(Some("no space"), 0, 0), answered(None, 9, 0));
        let less = answered(None, 5, 4);
        let bus = Some(Ended {
            signal: Some(7),
            ..Ended::default()
        });
        let outcome = |filled: &Option<Ended>, verified: &Option<Ended>, cache| {
            judge_full(9, filled.clone(), verified.clone(), whole.clone(), cache).outcome
        };
        for (filled, verified, cache, expected) in [
            (&refused, &whole, false, Outcome::Refuses),
            (&whole, &whole, false, Outcome::Holds),
            (&bus, &whole, false, Outcome::Dies),
            (&bus, &bus, false, Outcome::Ruined),
            (&refused, &less, false, Outcome::Loses),
            (&whole, &less, true, Outcome::Holds),
            (&None, &whole, false, Outcome::Hangs),
        ] {
            assert_eq!(outcome(filled, verified, cache), expected);
        }
    }
}
