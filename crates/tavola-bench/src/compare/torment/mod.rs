//! The torment table: what stores do when they are ill-treated.
//!
//! A leader starts processes that use one store, notes on a `board` how far they have come, kills
//! some, and looks what became of the store. Every wait has its bound, and nothing of a trial
//! outlives it: no process, no file, no mount.
//!
//! | file | what it holds |
//! |---|---|
//! | `subject` | the stores, and what they promise |
//! | `job` | what a process is told, and answers |
//! | `board`, `value` | how far each has come; values that say what they are |
//! | `program`, `ground` | processes, started and killed; where a trial takes place |
//! | `trials` | what is done, and how it is judged |
//! | `worker` | a process of a trial, for the stores this program can use by itself |

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::ground::Served;
use self::ground::{Extent, Ground};
pub use self::program::Program;
use self::subject::{Maker, Subject};
use self::trials::{Verdict, counters, full, kill, limits, old_reader, server_kill};
pub use self::worker::work;
use crate::compare::report::TormentRow;
use crate::{Error, Result};

mod board;
mod ground;
mod job;
mod program;
mod subject;
#[cfg(test)]
mod tests;
mod trials;
mod value;
mod worker;

/// What is done to a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trial {
    /// A busy writer is killed, again and again.
    Kill,
    /// A small file system is filled.
    Full,
    /// Keys and values are longer than is usual.
    Limits,
    /// A reader stays while others write.
    OldReader,
    /// Four processes count together.
    Counters,
    /// The server is killed, again and again.
    ServerKill,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing is amiss.
    Holds,
    /// Values that had been written are gone, or were read wrong.
    Loses,
    /// Somebody waits for ever.
    Hangs,
    /// Others die, too.
    Dies,
    /// An error, and nothing else is amiss.
    Refuses,
    /// Its files grow without end.
    Grows,
    /// It does not open, or not work, any more.
    Ruined,
    /// There is nothing to try.
    #[serde(rename = "not applicable")]
    NotApplicable,
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The store.
    pub peer: String,
    /// What was done to it.
    pub trial: Trial,
    /// What became of it.
    pub outcome: Outcome,
    /// Its documentation promises that it holds.
    pub promised: bool,
    /// One sentence with the counts.
    pub detail: String,
    /// How often it was tried.
    pub trials: u32,
}

/// What is tried, and where.
#[derive(Clone, Debug)]
pub struct Plan {
    /// This program, so that it does the job that follows as the last argument: [`work`].
    pub own: Program,
    /// A folder for stores in memory; each trial has one of its own below it.
    pub folder: PathBuf,
    /// Fewer kills and shorter waits.
    pub quick: bool,
    /// Only these stores; empty: all.
    pub peers: Vec<String>,
}

/// The names of all stores of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    subject::SUBJECTS.iter().map(|subject| subject.name)
}

/// Where programs and servers come from.
pub trait Supply {
    /// The program that does jobs on the store `peer`, or why there is none.
    fn program(&mut self, peer: &str) -> std::result::Result<Program, String>;
    /// The server of the store `peer`, or why there is none.
    fn server(&mut self, peer: &str) -> std::result::Result<Box<dyn Served>, String>;
}

const EXTENT: Extent = Extent {
    kills: 20,
    server_kills: 5,
    bound: Duration::from_secs(5),
    mourning: Duration::from_secs(5),
    churn: 40_000,
    churn_time: Duration::from_secs(20),
    increments: 10_000,
};
const QUICK: Extent = Extent {
    kills: 12,
    server_kills: 3,
    churn: 10_000,
    increments: 2_500,
    ..EXTENT
};

/// Does the trials that are `wanted` and hands each line of the table to `done`; stores that are
/// not here to `absent`, with the reason.
///
/// # Errors
///
/// When processes or files cannot be made. What a store does is no error.
pub fn run(
    plan: &Plan,
    supply: &mut dyn Supply,
    wanted: &dyn Fn(&str, Trial) -> bool,
    done: &mut dyn FnMut(Row) -> Result<()>,
    absent: &mut dyn FnMut(&str, String),
) -> Result<()> {
    for subject in subject::SUBJECTS {
        if !plan.peers.is_empty() && !plan.peers.iter().any(|peer| peer == subject.name) {
            continue;
        }
        let left = |trial: &Trial| wanted(subject.name, *trial);
        let trials: Vec<Trial> = Trial::ALL.into_iter().filter(left).collect();
        if trials.is_empty() {
            continue;
        }
        let tools = match tools(plan, subject, supply) {
            Ok(tools) => tools,
            Err(why) => {
                absent(subject.name, why);
                continue;
            }
        };
        try_store(plan, *subject, tools, &trials, done)?;
    }
    Ok(())
}

struct Tools {
    program: Program,
    server: Option<Box<dyn Served>>,
}

fn tools(
    plan: &Plan,
    subject: &Subject,
    supply: &mut dyn Supply,
) -> std::result::Result<Tools, String> {
    let program = match subject.maker {
        Maker::Own => plan.own.clone(),
        Maker::C | Maker::Script => supply.program(subject.name)?,
    };
    let server = match subject.served {
        true => Some(supply.server(subject.name)?),
        false => None,
    };
    Ok(Tools { program, server })
}

fn try_store(
    plan: &Plan,
    subject: Subject,
    mut tools: Tools,
    trials: &[Trial],
    done: &mut dyn FnMut(Row) -> Result<()>,
) -> Result<()> {
    for &trial in trials {
        let folder = plan.folder.join(format!("{}-{trial}", subject.name));
        let server = tools.server.as_deref_mut();
        let verdict = try_once(plan, subject, &tools.program, server, &folder, trial);
        let removed = std::fs::remove_dir_all(&folder);
        let Verdict {
            outcome,
            detail,
            trials,
        } = verdict?;
        if let Err(error) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            return Err(Error::io("removing a trial's folder")(error));
        }
        // Where the store was is of no interest, and is gone.
        let place = format!("{}/", folder.join("store").display());
        done(Row {
            peer: subject.name.to_owned(),
            trial,
            outcome,
            promised: subject.promises(trial),
            detail: detail.replace(&place, ""),
            trials,
        })?;
    }
    Ok(())
}

fn try_once(
    plan: &Plan,
    subject: Subject,
    program: &Program,
    server: Option<&mut (dyn Served + 'static)>,
    folder: &Path,
    trial: Trial,
) -> Result<Verdict> {
    let extent = if plan.quick { QUICK } else { EXTENT };
    let server = server.map(|server| server as &mut dyn Served);
    let mut ground = Ground::new(subject, extent, program, folder, server)?;
    match trial {
        Trial::Kill => kill::run(&mut ground),
        Trial::Full => full::run(&mut ground, &plan.own, program, folder),
        Trial::Limits => limits::run(&mut ground),
        Trial::OldReader => old_reader::run(&mut ground),
        Trial::Counters => counters::run(&mut ground),
        Trial::ServerKill => server_kill::run(&mut ground),
    }
}

impl From<Row> for TormentRow {
    fn from(row: Row) -> Self {
        Self {
            peer: row.peer,
            trial: row.trial.to_string(),
            outcome: row.outcome.to_string(),
            promised: row.promised,
            detail: row.detail,
            trials: row.trials,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Holds => "holds",
            Self::Loses => "loses",
            Self::Hangs => "hangs",
            Self::Dies => "dies",
            Self::Refuses => "refuses",
            Self::Grows => "grows",
            Self::Ruined => "ruined",
            Self::NotApplicable => "not applicable",
        })
    }
}

impl std::fmt::Display for Trial {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Kill => "kill",
            Self::Full => "full",
            Self::Limits => "limits",
            Self::OldReader => "old-reader",
            Self::Counters => "counters",
            Self::ServerKill => "server-kill",
        })
    }
}
