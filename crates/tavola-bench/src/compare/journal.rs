//! `rows.jsonl`: what was measured, written down at once, so that a run can go on where it stopped.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::job::{EndLine, PhaseLine, Placement, Transport, is_cut_short};
use super::measured::{Measured, difference};
use super::noise::Sample;
use super::report::{Machine, TormentRow};
use crate::{Error, Result};

/// One line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum Entry {
    /// The first.
    Begun(Begun),
    /// One peer did one case once.
    Run(Box<Run>),
    /// One trial of the torment table.
    Torment(TormentRow),
}

/// What must be the same when a run goes on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Begun {
    pub(super) schema: u32,
    /// [`RULES`](super::workloads::RULES).
    #[serde(default)]
    pub(super) rules: u32,
    pub(super) tavola: String,
    pub(super) machine: Machine,
    pub(super) started: String,
    pub(super) quick: bool,
    /// What the rows are of.
    #[serde(default)]
    pub(super) measured: Measured,
}

/// One peer did one case once, or did not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Run {
    pub(super) workload: String,
    pub(super) title: String,
    pub(super) peer: String,
    pub(super) repetition: u32,
    /// It does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) warm_up: bool,
    /// Keys that the trial asks for.
    #[serde(default)]
    pub(super) keys: u64,
    /// How its server was reached, and where that was.
    #[serde(default)]
    pub(super) transport: Option<Transport>,
    /// See `transport`.
    #[serde(default)]
    pub(super) placement: Option<Placement>,
    /// How long all of it took, with what is not timed.
    #[serde(default)]
    pub(super) seconds: f64,
    /// How fast the machine was just before.
    #[serde(default)]
    pub(super) noise: Sample,
    pub(super) phases: Vec<PhaseOfAll>,
    pub(super) end: EndLine,
    /// What its server, and the files of that, had in memory at the end.
    #[serde(default)]
    pub(super) server_bytes: Option<u64>,
    /// Why there is nothing.
    pub(super) failed: Option<String>,
}

impl Run {
    /// One of a single phase.
    #[cfg(test)]
    pub(super) fn of(sum: PhaseLine) -> Self {
        let phase = PhaseOfAll {
            sum,
            ..PhaseOfAll::default()
        };
        Self {
            phases: vec![phase],
            ..Self::default()
        }
    }

    /// Whether the store has fewer keys than it was to have, as its time was over.
    pub(super) fn is_cut_short(&self) -> bool {
        let mut sums = self.phases.iter().map(|phase| &phase.sum);
        sums.any(|sum| sum.phase == "put" && is_cut_short(sum.note.as_deref()))
    }
}

/// A phase of all processes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PhaseOfAll {
    /// Summed up, from the common start to the end of the last.
    #[serde(flatten)]
    pub(super) sum: PhaseLine,
    /// CPU time of its server meanwhile.
    #[serde(default)]
    pub(super) server_cpu_seconds: Option<f64>,
    /// Each process's part of the operations.
    #[serde(default)]
    pub(super) shares: Vec<f64>,
    /// Operations a second in each slice, by each process or thread.
    #[serde(default)]
    pub(super) per_second: Vec<Vec<u64>>,
}

/// The file and what it has.
pub(super) struct Journal {
    file: File,
    pub(super) entries: Vec<Entry>,
}

impl Journal {
    /// Begins anew, or reads what is there when `resume` is said. Turns that failed do not count
    /// then: they are taken again.
    pub(super) fn open(path: &Path, resume: bool, begun: Begun) -> Result<Self> {
        let mut entries = if resume { read(path)? } else { Vec::new() };
        entries.retain(|entry| !matches!(entry, Entry::Run(run) if run.failed.is_some()));
        let mut options = OpenOptions::new();
        let fresh = entries.is_empty();
        options.create(true).append(true);
        if fresh {
            options = OpenOptions::new();
            options.create(true).write(true).truncate(true);
        }
        let file = options
            .open(path)
            .map_err(Error::io("opening rows.jsonl"))?;
        let mut journal = Self { file, entries };
        match journal.begun() {
            None => journal.add(Entry::Begun(begun))?,
            Some(before) => must_fit(before, &begun)?,
        }
        Ok(journal)
    }

    pub(super) fn add(&mut self, entry: Entry) -> Result<()> {
        let mut line = serde_json::to_string(&entry).expect("entries have a JSON form");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written.map_err(Error::io("writing rows.jsonl"))?;
        self.entries.push(entry);
        Ok(())
    }

    pub(super) fn begun(&self) -> Option<&Begun> {
        self.entries.iter().find_map(|entry| match entry {
            Entry::Begun(begun) => Some(begun),
            _ => None,
        })
    }

    pub(super) fn runs(&self) -> impl Iterator<Item = &Run> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Run(run) => Some(&**run),
            _ => None,
        })
    }

    pub(super) fn torment(&self) -> impl Iterator<Item = &TormentRow> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Torment(row) => Some(row),
            _ => None,
        })
    }
}

/// A last line that was cut short by the end of the program does not count.
fn read(path: &Path) -> Result<Vec<Entry>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            let doing = "reading rows.jsonl";
            return Err(Error::Io { doing, source });
        }
    };
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    if whole < text.len() {
        let file = OpenOptions::new().write(true).open(path);
        let cut = file.and_then(|file| file.set_len(whole as u64));
        cut.map_err(Error::io("cutting off half a line of rows.jsonl"))?;
    }
    let lines = text[..whole].lines().enumerate();
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| {
                Error::option(
                    "resume",
                    format!(
                        "line {} of rows.jsonl is not of this program: {error}",
                        at + 1
                    ),
                )
            })
        })
        .collect()
}

fn must_fit(before: &Begun, now: &Begun) -> Result<()> {
    let same = |of: &Begun| (of.schema, of.rules, of.quick, of.tavola.clone());
    let machine = |begun: &Begun| (begun.machine.cpu.clone(), begun.machine.cpus);
    let why = if same(before) != same(now) || machine(before) != machine(now) {
        "the run there is of another machine or version, or the other of --quick and not".to_owned()
    } else if let Some(what) = difference(&before.measured, &now.measured) {
        format!("the rows there were measured with another {what}")
    } else {
        return Ok(());
    };
    Err(Error::option(
        "resume",
        format!("{why}; give another --out, or begin anew without --resume"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(quick: bool) -> Begun {
        Begun {
            schema: 1,
            rules: 1,
            tavola: "0".to_owned(),
            machine: Machine::default(),
            started: "then".to_owned(),
            quick,
            measured: vec![("program".to_owned(), "this".to_owned())],
        }
    }

    #[test]
    fn what_was_written_is_there_again_but_half_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        let mut journal = Journal::open(&path, false, begun(true)).unwrap();
        let run = Run {
            workload: "e".to_owned(),
            peer: "lmdb".to_owned(),
            phases: vec![PhaseOfAll::default()],
            ..Run::default()
        };
        journal.add(Entry::Run(Box::new(run.clone()))).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"kind\":\"ru").unwrap();
        for _ in 0..2 {
            let again = Journal::open(&path, true, begun(true)).unwrap();
            assert_eq!(again.runs().collect::<Vec<_>>(), [&run]);
        }
        assert!(Journal::open(&path, true, begun(false)).is_err());
        let anew = Journal::open(&path, false, begun(false)).unwrap();
        assert_eq!(anew.runs().count(), 0);
    }

    #[test]
    fn nobody_goes_on_with_the_rows_of_another_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        drop(Journal::open(&path, false, begun(true)).unwrap());
        let rows = std::fs::read(&path).unwrap();
        let mut other = begun(true);
        other.measured.clear();
        let error = Journal::open(&path, true, other).err().unwrap().to_string();
        assert!(
            error.contains("another program; give another --out"),
            "{error}"
        );
        assert_eq!(std::fs::read(&path).unwrap(), rows, "they stay");
        // Those of before this was written down.
        let text = String::from_utf8(rows).unwrap();
        let before = text.replace(r#","measured":[["program","this"]]"#, "");
        assert_ne!(before, text);
        std::fs::write(&path, before).unwrap();
        assert!(Journal::open(&path, true, begun(true)).is_err());
    }

    #[test]
    fn what_failed_is_not_there_when_a_run_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rows.jsonl");
        let mut journal = Journal::open(&path, false, begun(true)).unwrap();
        for failed in [None, Some("it fell over".to_owned())] {
            let run = Run {
                failed,
                ..Run::default()
            };
            journal.add(Entry::Run(Box::new(run))).unwrap();
        }
        assert_eq!(journal.runs().count(), 2);
        let again = Journal::open(&path, true, begun(true)).unwrap();
        assert_eq!(again.runs().collect::<Vec<_>>(), [&Run::default()]);
    }

    #[test]
    fn a_put_that_was_cut_short_leaves_fewer_keys() {
        let run = |phase: &str, note: Option<&str>| {
            Run::of(PhaseLine {
                phase: phase.to_owned(),
                note: note.map(str::to_owned),
                ..PhaseLine::default()
            })
        };
        let note = Some("only 5 of 9 within its time");
        assert!(run("put", note).is_cut_short());
        assert!(!run("get", note).is_cut_short());
        assert!(!run("put", None).is_cut_short());
    }
}
