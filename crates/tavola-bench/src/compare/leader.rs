//! The run: who is here, the trials in turn, and what comes out of it.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use super::machine::{machine, utc_now};
use super::noise::{Gauge, noise};
use super::peers::{Found, Peer};
use super::report::{LeftOut, Results, SCHEMA, TormentRow};
use super::roster::{Folders, check, find, peer_rows, workshop};
use super::runs::{PhaseOfAll, Run};
use super::supply::Stock;
use super::turn::Ground;
use super::workloads::{Extent, Trial, plan};
use super::{Config, company, gather, torment};
use crate::duty::usable_cpus;
use crate::{Error, Result, command};

/// When a quick run begins its last turn, counted from its own beginning: with what comes after it
/// is done in three minutes on a slow machine, too, where programs take long to compile.
const QUICK: Duration = Duration::from_secs(160);
/// A store of which a turn took so long has no further one in that trial, unless it is said how
/// often each is done: it is long enough to measure, and those of all slow stores would take most
/// of the run.
const SLOW_S: f64 = 10.0;

/// A store's first turn in a trial that took less is its warm-up: files are read for the first time
/// then, and a processor that rested has not its full clock yet. Of a longer turn what comes before
/// that is over is a small share.
const WARM_S: f64 = 2.0;

/// Compares, and writes `results.json`. A peer that takes no part is reported with the reason.
pub(super) fn run(config: &Config) -> Result<Results> {
    let begin = Instant::now();
    check(config)?;
    let folders = Folders::make(config)?;
    let file = match &config.company_file {
        Some(file) => std::path::absolute(file).map_err(Error::io("finding the company file"))?,
        None => {
            let file = folders.disk.path().join("companies.tsv");
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
    let (found, skipped) = find(config, &folders)?;
    for (peer, why) in &skipped {
        eprintln!("# without {}: {why}", peer.name);
    }
    let trials = plan(config.letters(), extent, &file);
    let mut leader = Leader {
        config,
        ground: Ground {
            memory: folders.memory.path().to_owned(),
            disk: folders.disk.path().to_owned(),
            cpus,
            tavola: command::find(config.tavola.as_deref())?.unwrap_or_default(),
            given: config.given.clone(),
            quick: config.quick,
        },
        runs: Vec::new(),
        gauge: Gauge::new(),
        found,
        until: config.quick.then(|| begin + QUICK),
    };
    let mut results = Results {
        schema: SCHEMA,
        tavola: env!("CARGO_PKG_VERSION").to_owned(),
        machine: machine(),
        started: utc_now(),
        quick: config.quick,
        ..Results::default()
    };
    for (at, trial) in trials.iter().enumerate() {
        let (at, of) = (at + 1, trials.len());
        eprintln!("# {at}/{of}  {}  {}", trial.workload, trial.title);
        let done = leader.trial(trial);
        leader.add(trial, &mut results);
        results.noise = noise(leader.runs.iter().map(|run| run.noise));
        results.seconds = leader.runs.iter().map(|run| run.seconds).sum();
        results.peers = peer_rows(config, &leader.found, &skipped, &leader.versions());
        write(config, &results)?;
        done?;
    }
    if trials.is_empty() {
        results.peers = peer_rows(config, &leader.found, &skipped, &BTreeMap::new());
    }
    if config.torments() {
        let done = leader.torment(&folders, &mut results.torment);
        write(config, &results)?;
        done?;
    }
    Ok(results)
}

struct Leader<'a> {
    config: &'a Config,
    ground: Ground,
    runs: Vec<Run>,
    gauge: Gauge,
    found: Vec<Found>,
    /// No turn begins after this.
    until: Option<Instant>,
}

impl Leader<'_> {
    /// All repetitions of a trial; in each the peers take their turns, and another begins.
    fn trial(&mut self, trial: &Trial) -> Result<()> {
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
                    if let Some(why) = &run.failed {
                        eprintln!("#   {}: {why}", run.peer);
                    }
                    self.runs.push(run);
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
            // Its program was asked to end as well: what came of it says nothing.
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

    fn torment(&self, folders: &Folders, rows: &mut Vec<TormentRow>) -> Result<()> {
        let plan = torment::Plan {
            own: torment::Program::own()?,
            folder: folders.memory.path().join("torment"),
            quick: self.config.quick,
            peers: self.config.peers.clone(),
        };
        let workshop = workshop(folders, self.config)?;
        let stock = Stock {
            workshop: &workshop,
            folder: folders.memory.path().to_owned(),
            cpu: self.ground.cpus[0],
        };
        torment::run(&plan, &stock, &mut |row| {
            // A process of a trial that was asked to end as well says nothing of its store.
            if self.config.is_interrupted() {
                return Err(Error::Interrupted);
            }
            let (peer, trial) = (&row.peer, &row.trial);
            eprintln!(
                "# torment  {peer}  {trial}: {}: {}",
                row.outcome, row.detail
            );
            rows.push(row);
            Ok(())
        })
    }

    fn is_done(&self, trial: &Trial, peer: &Peer, repetition: u32) -> bool {
        let spares_slow = self.config.repeat.is_none();
        is_done(&self.runs_of(trial, peer), repetition, spares_slow)
    }

    fn is_outgrown(&self, trial: &Trial, peer: &Peer) -> bool {
        let of_peer = |run: &&Run| run.peer == peer.name && run.workload == "g";
        let runs = self.runs.iter().filter(of_peer);
        trial.workload == 'g' && is_outgrown(runs, trial.case.keys)
    }

    fn turns_of(&self, trial: &Trial, peer: &Peer) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(move |run| {
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

    /// What came of a trial.
    fn add(&self, trial: &Trial, results: &mut Results) {
        for Found { peer, .. } in &self.found {
            let runs = self.runs_of(trial, peer);
            let why = match trial.takes(peer) {
                None => continue,
                Some(Err(why)) => why,
                Some(Ok(())) if !runs.is_empty() => {
                    let (rows, left) = gather::rows(trial, peer, &runs);
                    results.rows.extend(rows);
                    results.left_out.extend(left);
                    continue;
                }
                Some(Ok(())) if self.is_outgrown(trial, peer) => {
                    "its time was over with fewer keys already".to_owned()
                }
                Some(Ok(())) => "there was no time left for it".to_owned(),
            };
            results.left_out.push(LeftOut {
                workload: trial.workload.to_string(),
                title: trial.title.clone(),
                peer: peer.name.to_owned(),
                phase: String::new(),
                why,
            });
        }
    }

    /// What peers said of their versions.
    fn versions(&self) -> BTreeMap<String, String> {
        let finished = self.runs.iter().filter(|run| run.failed.is_none());
        finished
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

fn write(config: &Config, results: &Results) -> Result<()> {
    let text = serde_json::to_string_pretty(results).expect("results have a JSON form");
    let written = fs::write(config.out().join("results.json"), text + "\n");
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
        let mut leader = Leader {
            config: &config,
            ground: ground(dir.path()),
            runs: Vec::new(),
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
        leader.trial(&trial).unwrap();
        assert_eq!(leader.runs_of(&trial, &leader.found[0].peer).len(), 2);
        let turns = leader.runs.iter();
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
    fn a_failed_or_slow_peer_gets_no_further_turn_and_no_warm_up() {
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
        assert!(is_done(&[&failed], 1, false) && !is_warm_up(&failed));
        assert!(is_warm_up(&run(0, 0.9 * WARM_S)) && !is_warm_up(&run(0, WARM_S)));
    }

    #[test]
    fn a_peer_that_was_cut_short_is_asked_for_fewer_keys() {
        let run = |keys, note: Option<&str>| Run {
            keys,
            ..Run::of(PhaseLine {
                phase: "put".to_owned(),
                note: note.map(str::to_owned),
                ..PhaseLine::default()
            })
        };
        let runs = [run(10, None), run(100, Some("only 50 of 100"))];
        let is = |keys| is_outgrown(runs.iter(), keys);
        assert_eq!([is(10), is(100), is(1_000)], [false, false, true]);
    }
}
