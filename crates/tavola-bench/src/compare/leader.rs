//! The run: who is here, the trials in turn, and what comes out of it.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::folders::Folders;
use super::gather;
use super::journal::{Begun, Entry, Journal, PhaseOfAll, Run};
use super::machine::{machine, utc_now};
use super::measured::measured;
use super::noise::{Gauge, noise};
use super::peers::{Found, Peer};
use super::report::{LeftOut, Results, SCHEMA, TormentRow};
use super::roster::{check, find, peer_rows, workshop};
use super::supply::Stock;
use super::torment;
use super::turn::Ground;
use super::workloads::{Extent, RULES, Trial, plan};
use super::{Config, Progress, behind, company, cut};
use crate::duty::usable_cpus;
use crate::{Error, Result};

/// When a quick run begins its last turn, counted from its own beginning: with what comes after it
/// is done in three minutes on a slow machine, too, where programs take long to compile.
const QUICK: Duration = Duration::from_secs(160);
/// A store of which a turn took so long has no further one in that trial, unless it is said how
/// often each is done: it is long enough to tell, and those of all slow stores would take most of
/// the run.
const SLOW_S: f64 = 10.0;

/// A store's first turn in a trial that took less is its warm-up: files are read for the first time
/// then, and a processor that rested has not its full clock yet. Of a longer turn what comes before
/// that is over is a small share.
const WARM_S: f64 = 2.0;

/// Compares, and writes `results.json`. Whoever takes no part is told with the reason.
///
/// # Errors
///
/// An option outside its bounds; files that cannot be written; [`Error::Interrupted`].
pub fn run(config: &Config, tell: &mut dyn FnMut(&Progress)) -> Result<Results> {
    let begin = Instant::now();
    check(config)?;
    fs::create_dir_all(&config.out).map_err(Error::io("making the folder for results"))?;
    let folders = Folders::make(config)?;
    let file = match &config.company_file {
        Some(file) => std::path::absolute(file).map_err(Error::io("finding the company file"))?,
        None => {
            let file = folders.disk.join("companies.tsv");
            company::write(&file)?;
            file
        }
    };
    let cpus = usable_cpus()?;
    let extent = Extent {
        quick: config.quick,
        full: config.full,
        repeat: config.repeat,
        cpus: cpus.len(),
    };
    let begun = Begun {
        schema: SCHEMA,
        rules: RULES,
        tavola: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        started: utc_now(),
        quick: config.quick,
        measured: measured(config),
    };
    let journal = Journal::open(&config.out.join("rows.jsonl"), config.resume, begun)?;
    let (found, skipped) = find(config, &folders, tell)?;
    let trials = plan(&config.only, extent, &file);
    let mut leader = Leader {
        config,
        ground: Ground {
            memory: folders.memory.clone(),
            disk: folders.disk.clone(),
            cpus,
            tavola: config.tavola.clone().unwrap_or_default(),
            given: config.given.clone(),
            quick: config.quick,
        },
        journal,
        gauge: Gauge::new(),
        found,
        until: config.quick.then(|| begin + QUICK),
    };
    for (at, trial) in trials.iter().enumerate() {
        tell(&Progress::Trial {
            workload: trial.workload,
            title: trial.title.clone(),
            at: at + 1,
            of: trials.len(),
        });
        leader.trial(trial, tell)?;
    }
    leader.torment(&folders, tell)?;
    let results = leader.results(&trials, skipped);
    write(config, &results)?;
    Ok(results)
}

struct Leader<'a> {
    config: &'a Config,
    ground: Ground,
    journal: Journal,
    gauge: Gauge,
    found: Vec<Found>,
    /// No turn begins after this.
    until: Option<Instant>,
}

impl Leader<'_> {
    /// All repetitions of a trial; in each the peers take their turns, and another begins.
    fn trial(&mut self, trial: &Trial, tell: &mut dyn FnMut(&Progress)) -> Result<()> {
        let able: Vec<Found> = self
            .found
            .iter()
            .filter(|found| trial.takes(&found.peer) == Some(Ok(())))
            .cloned()
            .collect();
        for repetition in 0..trial.repeat {
            for at in 0..able.len() {
                let found = &able[(at + repetition as usize) % able.len()];
                let peer = &found.peer;
                // After a warm-up once more.
                while !self.is_done(trial, peer, repetition) && !self.is_outgrown(trial, peer) {
                    if self.until.is_some_and(|until| Instant::now() > until) {
                        return Ok(());
                    }
                    let run = self.turn(trial, found, repetition)?;
                    tell(&Progress::Turn {
                        peer: run.peer.clone(),
                        failed: run.failed.clone(),
                    });
                    self.journal.add(Entry::Run(Box::new(run)))?;
                }
            }
        }
        Ok(())
    }

    fn turn(&self, trial: &Trial, found: &Found, repetition: u32) -> Result<Run> {
        if self.config.is_interrupted() {
            return Err(Error::Interrupted);
        }
        let noise = self.gauge.sample();
        let begin = Instant::now();
        let turn = self.ground.turn(trial, found, repetition)?;
        if self.config.is_interrupted() {
            // Its program was told to end as well: what came of it says nothing.
            return Err(Error::Interrupted);
        }
        let is_first = self.turns_of(trial, &found.peer).next().is_none();
        let run = Run {
            noise,
            seconds: begin.elapsed().as_secs_f64(),
            ..turn
        };
        Ok(Run {
            warm_up: !self.config.quick && is_first && is_warm_up(&run),
            ..run
        })
    }

    /// What a run has already is not done again.
    fn torment(&mut self, folders: &Folders, tell: &mut dyn FnMut(&Progress)) -> Result<()> {
        if !self.config.torment {
            return Ok(());
        }
        let plan = torment::Plan {
            own: torment::Program::own()?,
            folder: folders.memory.join("torment"),
            quick: self.config.quick,
            peers: self.config.peers.clone(),
        };
        let workshop = workshop(folders, self.config)?;
        let stock = Stock {
            workshop: &workshop,
            folder: folders.memory.clone(),
            cpu: self.ground.cpus[0],
        };
        let before: Vec<TormentRow> = self.journal.torment().cloned().collect();
        let wanted = |peer: &str, trial: torment::Trial| {
            let name = torment::name(trial);
            !before
                .iter()
                .any(|row| row.peer == peer && row.trial == name)
        };
        let (config, journal) = (self.config, &mut self.journal);
        let mut skipped = Vec::new();
        let done = &mut |row: TormentRow| {
            // A process of a trial that was told to end as well says nothing of its store.
            if config.is_interrupted() {
                return Err(Error::Interrupted);
            }
            tell(&Progress::Tormented(row.clone()));
            journal.add(Entry::Torment(row))
        };
        let absent = &mut |peer: &str, why: String| skipped.push((peer.to_owned(), why));
        torment::run(&plan, &stock, &wanted, done, absent)?;
        for (peer, why) in skipped {
            tell(&Progress::Skipped { peer, why });
        }
        Ok(())
    }

    fn is_done(&self, trial: &Trial, peer: &Peer, repetition: u32) -> bool {
        let spares_slow = self.config.repeat.is_none();
        is_done(&self.runs_of(trial, peer), repetition, spares_slow)
    }

    fn is_outgrown(&self, trial: &Trial, peer: &Peer) -> bool {
        let of_peer = |run: &&Run| run.peer == peer.name && run.workload == "g";
        let runs = self.journal.runs().filter(of_peer);
        trial.workload == 'g' && is_outgrown(runs, trial.case.keys)
    }

    fn turns_of(&self, trial: &Trial, peer: &Peer) -> impl Iterator<Item = &Run> {
        self.journal.runs().filter(move |run| {
            run.peer == peer.name
                && run.title == trial.title
                && run.workload.starts_with(trial.workload)
        })
    }

    /// Those that count.
    fn runs_of(&self, trial: &Trial, peer: &Peer) -> Vec<&Run> {
        let turns = self.turns_of(trial, peer);
        turns.filter(|run| !run.warm_up).collect()
    }

    fn results(&self, trials: &[Trial], skipped: Vec<(Peer, String)>) -> Results {
        let begun = self.journal.begun().cloned();
        let mut results = Results {
            schema: SCHEMA,
            noise: noise(self.journal.runs().map(|run| run.noise)),
            quick: self.config.quick,
            torment: self.journal.torment().cloned().collect(),
            ..Results::default()
        };
        if let Some(begun) = begun {
            results.tavola = begun.tavola;
            results.machine = begun.machine;
            results.started = begun.started;
        }
        for trial in trials {
            for Found { peer, .. } in &self.found {
                match trial.takes(peer) {
                    None => {}
                    Some(Err(why)) => results.left_out.push(left_out(trial, peer, why)),
                    Some(Ok(())) if self.runs_of(trial, peer).is_empty() => {
                        let why = if self.is_outgrown(trial, peer) {
                            "its time was over with fewer keys already"
                        } else {
                            "there was no time left for it; a run without --quick has it"
                        };
                        results.left_out.push(left_out(trial, peer, why.to_owned()));
                    }
                    Some(Ok(())) => {
                        let (rows, left) = gather::rows(trial, peer, &self.runs_of(trial, peer));
                        results.rows.extend(rows);
                        results.left_out.extend(left);
                    }
                }
            }
        }
        behind::explain(&mut results.rows);
        cut::mark(&mut results.rows);
        results.seconds = self.journal.runs().map(|run| run.seconds).sum();
        results.peers = peer_rows(self.config, &self.found, skipped, &self.versions());
        results
    }

    /// What peers said of their versions.
    fn versions(&self) -> BTreeMap<String, String> {
        self.journal
            .runs()
            .filter(|run| run.failed.is_none())
            .map(|run| (run.peer.clone(), run.end.version.clone()))
            .collect()
    }
}

/// Whether a store has done a repetition of a trial, or is not asked for it: it failed once, or
/// is slow where those are spared.
fn is_done(runs: &[&Run], repetition: u32, spares_slow: bool) -> bool {
    runs.iter().any(|run| {
        let is_slow = spares_slow && run.seconds > SLOW_S;
        run.repetition == repetition || run.failed.is_some() || is_slow
    })
}

/// Whether a store's first turn is one; a failure and a wrong answer count whenever they come.
fn is_warm_up(run: &Run) -> bool {
    let is_right = |phase: &PhaseOfAll| phase.sum.verified || phase.sum.refused.is_some();
    run.failed.is_none() && run.seconds < WARM_S && run.phases.iter().all(is_right)
}

/// Whether a store's time was over before it had as many keys as a smaller trial of growth asks
/// for.
fn is_outgrown<'a>(mut runs: impl Iterator<Item = &'a Run>, keys: u64) -> bool {
    runs.any(|run| run.keys < keys && run.is_cut_short())
}

fn left_out(trial: &Trial, peer: &Peer, why: String) -> LeftOut {
    LeftOut {
        workload: trial.workload.to_string(),
        title: trial.title.clone(),
        peer: peer.name.to_owned(),
        phase: String::new(),
        why,
    }
}

fn write(config: &Config, results: &Results) -> Result<()> {
    let text = serde_json::to_string_pretty(results).expect("results have a JSON form");
    let written = fs::write(config.out.join("results.json"), text + "\n");
    written.map_err(Error::io("writing results.json"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::job::PhaseLine;
    use super::super::turn::tests::{END, PHASE, ground, toy};
    use super::*;

    /// Repetition of each turn that a toy takes in a trial of two, and whether it is a warm-up.
    fn turns(quick: bool, script: &str) -> Vec<(u32, bool)> {
        let dir = tempfile::tempdir().unwrap();
        let config = Config {
            quick,
            ..Config::default()
        };
        let rows = dir.path().join("rows.jsonl");
        let mut leader = Leader {
            config: &config,
            ground: ground(dir.path()),
            journal: Journal::open(&rows, false, Begun::default()).unwrap(),
            gauge: Gauge::new(),
            found: vec![toy(script)],
            until: None,
        };
        let extent = Extent {
            quick,
            full: false,
            repeat: Some(2),
            cpus: 1,
        };
        let trial = plan("e", extent, Path::new("")).remove(0);
        leader.trial(&trial, &mut |_| ()).unwrap();
        assert_eq!(leader.runs_of(&trial, &leader.found[0].peer).len(), 2);
        // Who goes on has no warm-up again.
        let before = leader.journal.entries.len();
        leader.journal = Journal::open(&rows, true, Begun::default()).unwrap();
        leader.trial(&trial, &mut |_| ()).unwrap();
        assert_eq!(leader.journal.entries.len(), before);
        let turns = leader.journal.runs();
        turns.map(|run| (run.repetition, run.warm_up)).collect()
    }

    #[test]
    fn a_short_first_turn_is_a_warm_up_beside_all_that_count() {
        let right = format!("{PHASE} {END}");
        let all = [(0, true), (0, false), (1, false)];
        assert_eq!(turns(false, &right), all);
        assert_eq!(turns(true, &right), all[1..], "a quick run has none");
        // What would void the figure is not hidden in one.
        let wrong = right.replace("true", "false");
        assert_eq!(turns(false, &wrong), all[1..]);
    }

    #[test]
    fn a_long_turn_needs_no_warm_up_and_a_failed_one_is_none() {
        let run = |seconds, failed: Option<&str>| Run {
            seconds,
            failed: failed.map(str::to_owned),
            ..Run::default()
        };
        assert!(is_warm_up(&run(0.9 * WARM_S, None)));
        assert!(!is_warm_up(&run(WARM_S, None)));
        assert!(!is_warm_up(&run(0.1, Some("it fell over"))));
    }

    #[test]
    fn who_failed_or_is_slow_has_no_further_turn() {
        let run = |repetition, seconds| Run {
            repetition,
            seconds,
            ..Run::default()
        };
        let (first, second) = (run(0, SLOW_S), run(1, 2.0 * SLOW_S));
        assert!(!is_done(&[], 0, true));
        assert!(is_done(&[&first], 0, true) && !is_done(&[&first], 1, true));
        assert!(is_done(&[&first, &second], 2, true));
        assert!(!is_done(&[&first, &second], 2, false));
        let failed = Run {
            failed: Some("it fell over".to_owned()),
            ..run(0, 1.0)
        };
        assert!(is_done(&[&failed], 1, false));
    }

    #[test]
    fn who_was_cut_short_is_asked_for_no_more_keys_but_for_fewer() {
        let run = |keys, note: Option<&str>| {
            let sum = PhaseLine {
                phase: "put".to_owned(),
                note: note.map(str::to_owned),
                ..PhaseLine::default()
            };
            Run {
                keys,
                ..Run::of(sum)
            }
        };
        let runs = [run(10, None), run(100, Some("only 50 of 100"))];
        let is = |keys| is_outgrown(runs.iter(), keys);
        assert_eq!([is(10), is(100), is(1_000)], [false, false, true]);
    }
}
