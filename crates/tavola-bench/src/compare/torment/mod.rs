//! The torment table: what stores do when they are ill-treated.
//!
//! A leader starts processes that use one store, notes on a `board` how far they have come, kills
//! some, and looks what became of the store. Every wait has its bound, and nothing of a trial
//! outlives it: no process, no file, no mount.
//!
//! | file | what it holds |
//! |---|---|
//! | `stores` | the stores, and what they promise |
//! | `job` | what a process gets, notes and answers; values that say what they are |
//! | `processes`, `ground` | processes, started and killed; where a trial takes place |
//! | `kills`, `full`, `power`, `trials` | what is done, and how it is judged |
//! | `namespace` | file systems for `full` and `power` |
//! | `worker` | a process of a trial, for the stores this program can use by itself |

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(super) use self::ground::Served;
use self::ground::{Extent, Ground};
use self::processes::Ended;
pub use self::processes::Program;
use self::stores::{Maker, Subject};
pub use self::worker::work;
use super::report::TormentRow;
use super::supply::Stock;
use crate::{Error, Result};

mod full;
mod ground;
mod job;
mod kills;
mod namespace;
mod power;
mod processes;
mod stores;
#[cfg(test)]
mod tests;
mod trials;
mod worker;

/// What is done to a store.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Trial {
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
    /// Power is cut under a writer, again and again.
    PowerCut,
}

impl Trial {
    /// Those of a store in memory, in the order of the table.
    const IN_MEMORY: &[Self] = &[
        Self::Kill,
        Self::Full,
        Self::Limits,
        Self::OldReader,
        Self::Counters,
        Self::ServerKill,
    ];

    /// Those of a store.
    fn of(subject: &Subject) -> &'static [Self] {
        match subject.durable {
            true => &[Self::PowerCut],
            false => Self::IN_MEMORY,
        }
    }
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    /// Nothing is amiss.
    Holds,
    /// Values that had been written are gone, or were read wrong.
    Loses,
    /// A process waits forever.
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

/// The name in JSON.
fn name(of: impl Serialize) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// How one trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Verdict {
    outcome: Outcome,
    detail: String,
    trials: u32,
}

impl Verdict {
    fn new(outcome: Outcome, detail: impl Into<String>, trials: u32) -> Self {
        Self {
            outcome,
            detail: detail.into(),
            trials,
        }
    }

    fn not_applicable(why: impl Into<String>) -> Self {
        Self::new(Outcome::NotApplicable, why, 0)
    }

    /// The store could not be used for the trial at all.
    fn of_fault(ended: Option<&Ended>, doing: &str) -> Option<Self> {
        let Some(ended) = ended else {
            return Some(Self::new(Outcome::Hangs, format!("{doing} did not end"), 1));
        };
        let fault = ended.fault()?;
        let outcome = match ended.signal {
            Some(_) => Outcome::Dies,
            None => Outcome::Refuses,
        };
        Some(Self::new(outcome, format!("{doing}: {fault}"), 1))
    }
}

/// Why a trial ended early: with a verdict, or because processes or files cannot be made.
enum Stop {
    Verdict(Verdict),
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

type Trying<T> = std::result::Result<T, Stop>;

fn verdict(tried: Trying<Verdict>) -> Result<Verdict> {
    match tried {
        Ok(verdict) | Err(Stop::Verdict(verdict)) => Ok(verdict),
        Err(Stop::Error(error)) => Err(error),
    }
}

/// "1 value", "2 values".
fn count(number: u64, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}

/// What is tried, and where.
pub(super) struct Plan {
    /// This program, so that it does the job that follows as the last argument: [`work`].
    pub(super) own: Program,
    /// A folder for stores in memory; each trial has one of its own below it.
    pub(super) folder: PathBuf,
    /// Fewer kills and shorter waits.
    pub(super) quick: bool,
    /// Only these stores; empty: all.
    pub(super) peers: Vec<String>,
}

/// The names of all stores of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    stores::SUBJECTS.iter().map(|subject| subject.name)
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

/// Does the trials and hands each line of the table to `done`; reports stores that are missing.
/// A store that fails a trial is a result, not an error.
pub(super) fn run(
    plan: &Plan,
    stock: &Stock<'_>,
    done: &mut dyn FnMut(TormentRow) -> Result<()>,
) -> Result<()> {
    let asked = |name: &str| plan.peers.is_empty() || plan.peers.iter().any(|peer| peer == name);
    for subject in stores::SUBJECTS.iter().filter(|one| asked(one.name)) {
        match tools(plan, subject, stock) {
            Ok((program, mut server)) => {
                for &trial in Trial::of(subject) {
                    let server = server.as_deref_mut();
                    done(row(plan, *subject, &program, server, trial)?)?;
                }
            }
            Err(why) => eprintln!("# without {}: {why}", subject.name),
        }
    }
    Ok(())
}

type Tools = (Program, Option<Box<dyn Served>>);

fn tools(plan: &Plan, subject: &Subject, stock: &Stock<'_>) -> std::result::Result<Tools, String> {
    let program = match subject.maker {
        Maker::Own => plan.own.clone(),
        Maker::Peer => stock.program(subject.name)?,
    };
    let server = subject.served.then(|| stock.server(subject.name));
    Ok((program, server.transpose()?))
}

fn row(
    plan: &Plan,
    subject: Subject,
    program: &Program,
    server: Option<&mut (dyn Served + 'static)>,
    trial: Trial,
) -> Result<TormentRow> {
    let folder = plan
        .folder
        .join(format!("{}-{}", subject.name, name(trial)));
    let verdict = try_once(plan, subject, program, server, &folder, trial);
    let removed = std::fs::remove_dir_all(&folder);
    let verdict = verdict?;
    if let Err(error) = removed
        && error.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::io("removing a trial's folder")(error));
    }
    // Where the store was is of no interest, and is gone.
    let place = format!("{}/", folder.join("store").display());
    Ok(TormentRow {
        peer: subject.name.to_owned(),
        trial: name(trial),
        outcome: name(verdict.outcome),
        promised: subject.promises(&name(trial)),
        detail: verdict.detail.replace(&place, ""),
        trials: verdict.trials,
    })
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
    let ground = &mut Ground::new(subject, extent, program, folder, server)?;
    verdict(match trial {
        Trial::Kill => kills::of_writers(ground),
        Trial::Full if program.forks => full::fill(ground),
        Trial::Full | Trial::PowerCut => namespace::run(ground, &plan.own, program, folder, trial),
        Trial::Limits => trials::limits(ground),
        Trial::OldReader => trials::old_reader(ground),
        Trial::Counters => trials::counters(ground),
        Trial::ServerKill => kills::of_servers(ground),
    })
}
