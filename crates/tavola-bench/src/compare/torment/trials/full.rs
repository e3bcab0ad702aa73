//! A file system of 16 MiB is filled by puts: an error, a death, or ruin?
//!
//! The file system is a tmpfs in a mount namespace of its own, which is gone with the process in
//! it. That process is this program again, and does the trial in there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::{Verdict, count};
use crate::compare::supply;
use crate::compare::torment::Outcome;
use crate::compare::torment::ground::{Extent, Ground};
use crate::compare::torment::job::{Job, Role};
use crate::compare::torment::program::{Ended, Program, signal_name};
use crate::compare::torment::{Served, subject};
use crate::{Error, Result};

const ROOM_MIB: u64 = 16;
const VALUE_BYTES: u64 = 32_000;
/// Before the file system is filled: a store that is made anew has been made once.
const FIRST: u64 = 64;
/// Four times what fits.
const PUTS: u64 = 2 << 10;
/// More than there are puts: every put has its own key.
const KEYS: u64 = 1 << 30;
const PASSES: u32 = 2;

/// What the process in the namespace is told.
#[derive(Serialize, Deserialize)]
pub(in crate::compare::torment) struct Inside {
    inside: String,
    program: Program,
    folder: PathBuf,
    extent: Extent,
    /// The server that it is to start for itself.
    server: Option<String>,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
struct Report {
    outcome: Outcome,
    detail: String,
}

pub(in crate::compare::torment) fn run(
    ground: &mut Ground<'_>,
    own: &Program,
    program: &Program,
    folder: &Path,
) -> Result<Verdict> {
    if program.forks {
        return fill(ground);
    }
    let mount = folder.join("store");
    let server = ground.server_within(&mount);
    if ground.subject.served && server.is_none() {
        let why = "a server has it in its own memory, up to a limit that is set";
        return Ok(Verdict::new(Outcome::NotApplicable, why, 0));
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
        let report = said
            .lines()
            .rev()
            .find_map(|line| serde_json::from_str(line).ok());
        if let Some(Report { outcome, detail }) = report {
            return Ok(Verdict::new(outcome, detail, 1));
        }
        let complaints = String::from_utf8_lossy(&ended.stderr);
        why = complaints
            .lines()
            .last()
            .unwrap_or("it was refused")
            .to_owned();
    }
    let detail = format!("not tried: no tmpfs of its own can be mounted here ({why})");
    Ok(Verdict::new(Outcome::NotApplicable, detail, 0))
}

const SCRIPT: &str = "mount -t tmpfs -o size=16m,mode=0777 torment \"$1\" && shift && exec \"$@\"";

/// In the namespace: does the trial and prints how it ended.
pub(in crate::compare::torment) fn inside(inside: &Inside) -> Result<()> {
    let Some(subject) = subject::named(&inside.inside) else {
        let what = format!("there is no store named {} here", inside.inside);
        return Err(Error::Worker { what });
    };
    let Inside {
        program,
        folder,
        extent,
        server,
        ..
    } = inside;
    let mut server = server.as_deref().map(supply::served).transpose()?;
    let served = server.as_deref_mut();
    let served = served.map(|server| server as &mut dyn Served);
    let Verdict {
        outcome,
        mut detail,
        ..
    } = match Ground::new(subject, *extent, program, folder, served) {
        Ok(mut ground) => fill(&mut ground)?,
        // Not everybody who may mount may start a server.
        Err(Error::Worker { what }) => {
            Verdict::new(Outcome::NotApplicable, format!("not tried: {what}"), 0)
        }
        Err(error) => return Err(error),
    };
    if !subject.room.is_empty() {
        detail = format!("{detail}; {}", subject.room);
    }
    let text = serde_json::to_string(&Report { outcome, detail }).expect("it has a JSON form");
    println!("\n{text}");
    Ok(())
}

fn fill(ground: &mut Ground<'_>) -> Result<Verdict> {
    let (board, job) = ground.round()?;
    let bound = ground.extent.bound * PASSES;
    let slowness = ground.subject.slowness;
    let first = Job {
        keys: KEYS,
        value_bytes: VALUE_BYTES * slowness,
        ops: FIRST / slowness,
        millis: bound.as_millis() as u64 * 2,
        ..job
    };
    let begun = ground.starter.run(&first, bound)?;
    if let Some(verdict) = Verdict::of_fault(begun.as_ref(), "the first puts") {
        return Ok(verdict);
    }
    let job = Job {
        from: first.ops + 1,
        ops: PUTS / slowness,
        slot: 2,
        ..first.clone()
    };
    let filled = ground.starter.run(&job, bound)?;
    let acked = board.notes(2)?.acked.max(first.ops);
    let after = Job { from: acked, ..job };
    let look = Job {
        role: Role::Look,
        slot: 3,
        ..after.clone()
    };
    let looked = ground.starter.run(&look, bound)?;
    let remove = Job {
        role: Role::Remove,
        slot: 4,
        ..after
    };
    let removed = ground.starter.run(&remove, bound)?;
    Ok(judge(
        acked,
        filled.as_ref(),
        looked.as_ref(),
        removed.as_ref(),
        ground.subject.cache,
    ))
}

fn judge(
    acked: u64,
    filled: Option<&Ended>,
    looked: Option<&Ended>,
    removed: Option<&Ended>,
    cache: bool,
) -> Verdict {
    let Some(filled) = filled else {
        let what = format!("after {} a put did not return", count(acked, "value"));
        return Verdict::new(Outcome::Hangs, what, 1);
    };
    let mut said = vec![match (filled.signal, filled.fault()) {
        (Some(signal), _) => {
            format!(
                "after {} the writer died of {}",
                count(acked, "value"),
                signal_name(signal)
            )
        }
        (None, Some(why)) => format!("after {} an error: {why}", count(acked, "value")),
        (None, None) => format!("all {} taken", count(acked, "value")),
    }];
    let (state, sentence) = afterwards(looked, cache);
    said.push(sentence);
    let makes_room = removed
        .and_then(|ended| ended.answer.as_ref())
        .is_some_and(|answer| answer.works && answer.error.is_none());
    if state != Outcome::Ruined {
        said.push(match makes_room {
            true => "it worked after half was removed".to_owned(),
            false => match removed.map(|ended| ended.fault()) {
                Some(Some(why)) => format!("it did not work after half was removed: {why}"),
                _ => "it did not work after half was removed".to_owned(),
            },
        });
    }
    let outcome = match (state, filled.signal, filled.fault()) {
        (Outcome::Ruined, ..) => Outcome::Ruined,
        (_, Some(_), _) => Outcome::Dies,
        (Outcome::Loses, ..) => Outcome::Loses,
        (_, _, Some(_)) => Outcome::Refuses,
        _ => Outcome::Holds,
    };
    said.insert(0, format!("{ROOM_MIB} MiB"));
    Verdict::new(outcome, said.join("; "), 1)
}

/// What the store is like once it was full.
fn afterwards(looked: Option<&Ended>, cache: bool) -> (Outcome, String) {
    let Some(looked) = looked else {
        return (
            Outcome::Ruined,
            "whoever opens it afterwards hangs".to_owned(),
        );
    };
    let answer = match (&looked.answer, looked.fault()) {
        (Some(answer), None) => answer,
        (_, why) => {
            let why = why.unwrap_or_default();
            return (
                Outcome::Ruined,
                format!("it cannot be read afterwards: {why}"),
            );
        }
    };
    let (good, lost, torn) = (answer.good, answer.lost, answer.torn);
    match (torn, lost) {
        (0, 0) => (Outcome::Holds, "all are there".to_owned()),
        (0, lost) if cache => (
            Outcome::Holds,
            format!("{lost} were evicted, {good} are there"),
        ),
        (0, lost) => (Outcome::Loses, format!("{lost} are lost, {good} are there")),
        (torn, lost) => (
            Outcome::Ruined,
            format!("{torn} are cut short or mixed, {lost} lost, {good} there"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::torment::job::Answer;

    fn answered(answer: Answer) -> Ended {
        Ended {
            answer: Some(answer),
            ..Ended::default()
        }
    }

    #[test]
    fn an_error_is_no_death_and_ruin_is_worse() {
        let refused = answered(Answer {
            opened: true,
            error: Some("no space".to_owned()),
            ..Answer::default()
        });
        let whole = answered(Answer {
            opened: true,
            good: 9,
            works: true,
            ..Answer::default()
        });
        let outcome = |filled: &Ended, looked: &Ended, cache| {
            judge(9, Some(filled), Some(looked), Some(&whole), cache).outcome
        };
        assert_eq!(outcome(&refused, &whole, false), Outcome::Refuses);
        assert_eq!(outcome(&whole, &whole, false), Outcome::Holds);
        let bus = Ended {
            signal: Some(7),
            ..Ended::default()
        };
        assert_eq!(outcome(&bus, &whole, false), Outcome::Dies);
        assert_eq!(outcome(&bus, &bus, false), Outcome::Ruined);
        let less = answered(Answer {
            opened: true,
            good: 5,
            lost: 4,
            ..Answer::default()
        });
        assert_eq!(outcome(&refused, &less, false), Outcome::Loses);
        assert_eq!(outcome(&whole, &less, true), Outcome::Holds);
        assert_eq!(
            judge(3, None, Some(&whole), None, false).outcome,
            Outcome::Hangs
        );
    }
}
