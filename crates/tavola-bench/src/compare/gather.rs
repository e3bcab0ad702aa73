//! Runs become rows: medians over repetitions, with the least and the most.

use std::collections::BTreeMap;

use super::job::{Latency, is_cut_short};
use super::peers::Peer;
use super::report::{LeftOut, Row};
use super::runs::{PhaseOfAll, Run};
use super::workloads::Trial;
use crate::stats::{Spread, median_run};

/// Of a phase that follows a put that was cut short: it is done on the keys that are there. A
/// figure whose note begins like this is marked everywhere.
const CUT: &str = "only the keys of a put that was cut short";

/// The rows of one peer in one trial, and what has none.
pub(super) fn rows(trial: &Trial, peer: &Peer, runs: &[&Run]) -> (Vec<Row>, Vec<LeftOut>) {
    let left = |phase: &str, why: String| LeftOut {
        workload: trial.workload.to_string(),
        title: trial.title.clone(),
        peer: peer.name.to_owned(),
        phase: phase.to_owned(),
        why,
    };
    // A peer that failed once has no figure: a median of the lucky runs would hide it.
    if let Some(why) = runs.iter().find_map(|run| run.failed.clone()) {
        return (Vec::new(), vec![left("", why)]);
    }
    let mut phases: BTreeMap<usize, Vec<(&PhaseOfAll, &Run)>> = BTreeMap::new();
    for run in runs {
        for (at, phase) in run.phases.iter().enumerate() {
            phases.entry(at).or_default().push((phase, run));
        }
    }
    let (mut rows, mut out) = (Vec::new(), Vec::new());
    for all in phases.values() {
        let name = &all[0].0.sum.phase;
        if let Some(why) = all.iter().find_map(|(phase, _)| phase.sum.refused.clone()) {
            out.push(left(name, why));
        } else if !all.iter().all(|(phase, _)| phase.sum.verified) {
            out.push(left(
                name,
                "it gave a wrong answer: the figure is void".to_owned(),
            ));
        } else {
            let mut row = row(trial, peer, all);
            if rows.iter().any(lacks_keys) && !is_cut_short(row.note.as_deref()) {
                let had = row
                    .note
                    .take()
                    .map_or(String::new(), |had| format!("; {had}"));
                row.note = Some(format!("{CUT}{had}"));
            }
            rows.push(row);
        }
    }
    (rows, out)
}

/// Where keys are put again and again all of them may be there though not all puts were done.
fn lacks_keys(row: &Row) -> bool {
    let note = row.note.as_deref().filter(|note| is_cut_short(Some(note)));
    let done = note.and_then(|note| note.split(' ').nth(1)?.parse::<u64>().ok());
    let puts = row.phase.starts_with("put") || row.phase == "write";
    puts && done.is_some_and(|done| done < row.case.keys)
}

fn row(trial: &Trial, peer: &Peer, all: &[(&PhaseOfAll, &Run)]) -> Row {
    let figure = |of: &(&PhaseOfAll, &Run)| value(of.0, trial.unit);
    let runs: Vec<f64> = all.iter().map(figure).collect();
    let spread = Spread::of(runs.iter().copied());
    let (phase, run) = median_run(all, figure);
    let sum = &phase.sum;
    // One run that was cut short is enough: what follows may be that run's.
    let mut notes = all.iter().map(|(phase, _)| &phase.sum.note);
    let note = notes.find(|note| is_cut_short(note.as_deref()));
    let some = |number: u64| (number > 0).then_some(number);
    Row {
        workload: trial.workload.to_string(),
        title: trial.title.clone(),
        case: trial.case.clone(),
        peer: peer.name.to_owned(),
        phase: sum.phase.clone(),
        unit: trial.unit.to_owned(),
        placement: run.placement,
        transport: run.transport,
        reply: trial.case.reply,
        median: spread.median,
        least: spread.least,
        most: spread.most,
        runs,
        cpu_us_per_op: (sum.ops > 0).then(|| sum.cpu_seconds * 1e6 / sum.ops as f64),
        server_cpu_us_per_op: phase
            .server_cpu_seconds
            .filter(|_| sum.ops > 0)
            .map(|seconds| seconds * 1e6 / sum.ops as f64),
        server_bytes: run.server_bytes,
        bytes_per_key: some(run.end.bytes)
            .filter(|_| run.end.keys > 0)
            .map(|bytes| bytes as f64 / run.end.keys as f64),
        peak_rss_bytes: some(run.end.peak_rss_bytes),
        pause_ns: sum.pause_ns,
        shares: phase.shares.clone(),
        per_second: phase.per_second.clone(),
        latency: Latency {
            cdf: sum.latency.cdf.clone(),
            ..percentiles(all, |ns| ns.median)
        },
        latency_least: trial.case.timed.then(|| percentiles(all, |ns| ns.least)),
        latency_most: trial.case.timed.then(|| percentiles(all, |ns| ns.most)),
        verified: true,
        language: peer.language.to_owned(),
        note: note.unwrap_or(&sum.note).clone(),
    }
}

/// Each by itself: what `pick` takes from that of all runs, from the least on. A run of median rate
/// may have the slowest call of all.
fn percentiles(all: &[(&PhaseOfAll, &Run)], pick: fn(Spread) -> f64) -> Latency {
    let of = |percentile: fn(&Latency) -> Option<u64>| {
        let all = all
            .iter()
            .filter_map(|(phase, _)| percentile(&phase.sum.latency));
        let all: Vec<f64> = all.map(|ns| ns as f64).collect();
        (!all.is_empty()).then(|| pick(Spread::of(all)) as u64)
    };
    Latency {
        p50_ns: of(|latency| latency.p50_ns),
        p99_ns: of(|latency| latency.p99_ns),
        p999_ns: of(|latency| latency.p999_ns),
        max_ns: of(|latency| latency.max_ns),
        cdf: Vec::new(),
    }
}

fn value(phase: &PhaseOfAll, unit: &str) -> f64 {
    let (ops, seconds) = (phase.sum.ops.max(1) as f64, phase.sum.seconds.max(1e-9));
    match unit {
        "ops/s" => ops / seconds,
        "us/op" => seconds * 1e6 / ops,
        _ => seconds,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::compare::job::{PhaseLine, Placement, Transport};
    use crate::compare::peers;
    use crate::compare::workloads::{QUICK, plan};

    fn trial() -> Trial {
        plan("e", QUICK, Path::new("")).remove(0)
    }

    fn run(seconds: f64, verified: bool) -> Run {
        let sum = PhaseLine {
            phase: "get".to_owned(),
            ops: 100,
            seconds,
            verified,
            ..PhaseLine::default()
        };
        Run::of(sum)
    }

    #[test]
    fn the_median_counts_and_the_spread_is_reported() {
        let peer = peers::all().next().unwrap();
        let runs = [run(1.0, true), run(4.0, true), run(2.0, true)];
        let (rows, left) = rows(&trial(), &peer, &runs.iter().collect::<Vec<_>>());
        assert!(left.is_empty());
        let row = &rows[0];
        assert_eq!((row.least, row.median, row.most), (25.0, 50.0, 100.0));
        assert_eq!(row.runs, [100.0, 25.0, 50.0]);
    }

    #[test]
    fn each_percentile_is_the_median_of_its_own_and_the_curve_of_one_run() {
        let peer = peers::all().next().unwrap();
        let timed = |seconds, p50, p99| {
            let mut run = run(seconds, true);
            run.phases[0].sum.latency = Latency {
                p50_ns: Some(p50),
                p99_ns: Some(p99),
                cdf: vec![(p50, 1.0)],
                ..Latency::default()
            };
            run
        };
        let runs = [
            timed(1.0, 30, 500),
            timed(4.0, 10, 900),
            timed(2.0, 20, 9_000),
        ];
        let mut trial = trial();
        trial.case.timed = true;
        let (rows, _) = rows(&trial, &peer, &runs.iter().collect::<Vec<_>>());
        let row = &rows[0];
        assert_eq!(row.latency.cdf, [(20, 1.0)], "of the run of median rate");
        let two = |of: &Latency| (of.p50_ns, of.p99_ns, of.max_ns);
        assert_eq!(two(&row.latency), (Some(20), Some(900), None));
        let least = row.latency_least.as_ref().unwrap();
        let most = row.latency_most.as_ref().unwrap();
        assert_eq!(two(least), (Some(10), Some(500), None));
        assert_eq!(two(most), (Some(30), Some(9_000), None));
    }

    #[test]
    fn a_run_that_was_cut_short_is_marked_and_so_are_the_next() {
        let peer = peers::all().next().unwrap();
        let mut runs = [run(1.0, true), run(4.0, true), run(2.0, true)];
        for run in &mut runs {
            let after = run.phases[0].clone();
            run.phases.push(after);
            run.phases[0].sum.phase = "put".to_owned();
        }
        runs[1].phases[0].sum.note = Some("only 5 of 9 within its time".to_owned());
        let (made, _) = rows(&trial(), &peer, &runs.iter().collect::<Vec<_>>());
        assert!(is_cut_short(made[0].note.as_deref()));
        assert_eq!(made[1].note.as_deref(), Some(CUT));
        // A row with all keys has no mark.
        let all = format!("only {} of more within its time", trial().case.keys);
        runs[1].phases[0].sum.note = Some(all);
        let (made, _) = rows(&trial(), &peer, &runs.iter().collect::<Vec<_>>());
        assert_eq!(made[1].note, None);
    }

    #[test]
    fn what_a_server_uses_stands_beside_what_its_client_does() {
        let peer = peers::all().next().unwrap();
        let mut run = run(1.0, true);
        run.phases[0].sum.cpu_seconds = 0.3;
        run.phases[0].server_cpu_seconds = Some(0.5);
        run.server_bytes = Some(7);
        run.placement = Some(Placement::One);
        run.transport = Some(Transport::Tcp);
        let (rows, _) = rows(&trial(), &peer, &[&run]);
        assert_eq!(rows[0].cpu_us_per_op, Some(3_000.0));
        assert_eq!(rows[0].server_cpu_us_per_op, Some(5_000.0));
        assert_eq!(rows[0].server_bytes, Some(7));
        assert_eq!(rows[0].transport, Some(Transport::Tcp));
    }

    #[test]
    fn one_wrong_answer_or_failure_voids_the_figure() {
        let peer = peers::all().next().unwrap();
        let lies = [run(1.0, true), run(1.0, false)];
        let (none, left) = rows(&trial(), &peer, &lies.iter().collect::<Vec<_>>());
        assert!(none.is_empty() && left[0].why.contains("wrong answer"));
        let dead = Run {
            failed: Some("it died".to_owned()),
            ..Run::default()
        };
        let dies = [run(1.0, true), dead];
        let (none, left) = rows(&trial(), &peer, &dies.iter().collect::<Vec<_>>());
        assert!(none.is_empty() && left[0].why == "it died");
    }
}
