//! What the charts are drawn from: figures ready for the script of the page, which decides
//! nothing but how to draw them.

use serde::Serialize;

use super::contests::{Contest, Entry};
use super::words;
use super::workloads::{self, Curve};

/// One chart of the page.
#[derive(Debug, Serialize)]
pub(super) struct Chart {
    /// Of the `figure` it belongs into.
    pub(super) id: String,
    pub(super) kind: Kind,
    /// What it shows, for those who do not see it.
    pub(super) label: String,
    pub(super) higher: bool,
    pub(super) unit: String,
    /// Below the axis; where it is empty the unit says enough.
    pub(super) x_label: &'static str,
    pub(super) marks: Vec<Mark>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// A bar a store, with least and most.
    Bars,
    /// A line a store over what grows.
    Curve,
    /// A line a store over the share of its calls.
    Latency,
    /// A row a store: what it did over time, with each process's part.
    Seconds,
}

/// What one store has in a chart.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    pub(super) label: String,
    pub(super) peer: String,
    pub(super) language: String,
    pub(super) ours: bool,
    pub(super) same: bool,
    pub(super) colour: usize,
    /// Stands at the end of a row.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) text: String,
    /// One of a bar, several of a line.
    pub(super) points: Vec<Point>,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) text: String,
    /// What each process has of `y`, one upon the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) parts: Vec<f64>,
}

/// Bars of a contest.
pub(super) fn bars(contest: &Contest) -> Chart {
    let point = |entry: &Entry| point(contest, entry, 0.0);
    let marks = contest.entries.iter();
    let marks = marks.map(|entry| mark(entry, vec![point(entry)])).collect();
    let first = contest.first;
    let direction = contest.unit.direction();
    let timed = "99 % of the calls take no longer";
    let what = if contest.timed { timed } else { direction };
    let mut chart = chart(contest, Kind::Bars, &contest.id, marks)
        .named(format!("{}, {}: {what}", first.title, first.phase));
    chart.x_label = if contest.timed { timed } else { "" };
    chart
}

/// Latencies of a contest, where they were sampled.
pub(super) fn latency(contest: &Contest) -> Option<Chart> {
    let sampled = contest.entries.iter();
    let sampled = sampled.filter(|entry| entry.row.latency.cdf.len() > 1);
    let marks: Vec<Mark> = sampled
        .map(|entry| mark(entry, latency_points(entry)))
        .collect();
    let first = contest.first;
    let id = format!("{}-latency", contest.id);
    let mut chart = chart(contest, Kind::Latency, &id, marks).named(format!(
        "{}, {}: how long single calls take",
        first.title, first.phase
    ));
    chart.higher = false;
    (!chart.marks.is_empty()).then_some(chart)
}

/// The last point of a distribution is at 1, which no axis of nines has: it is left out, and the
/// slowest call stands in the table.
fn latency_points(entry: &Entry) -> Vec<Point> {
    let points = entry.row.latency.cdf.iter();
    let drawn = points.filter(|(ns, share)| *ns > 0 && *share < 1.0);
    drawn
        .map(|&(ns, share)| Point {
            x: share,
            y: ns as f64,
            least: ns as f64,
            most: ns as f64,
            text: words::time(ns as f64),
            parts: Vec::new(),
        })
        .collect()
}

/// What stores did over time, of a contest in which several processes may read and write.
pub(super) fn seconds(contest: &Contest) -> Option<Chart> {
    let first = contest.first;
    let told = |entry: &&Entry| entry.row.per_second.iter().any(|part| part.len() > 1);
    let entries = contest.entries.iter().filter(told);
    let marks: Vec<Mark> = entries
        .filter(|_| first.phase == "mix" && !contest.timed)
        .map(|entry| Mark {
            text: at_the_end(contest, entry),
            ..mark(entry, second_points(contest, entry))
        })
        .collect();
    let id = format!("{}-seconds", contest.id);
    let mut chart = chart(contest, Kind::Seconds, &id, marks).named(format!(
        "{}, {}: operations a second over time, and each process's share",
        first.title, first.phase
    ));
    chart.x_label = "seconds";
    (!chart.marks.is_empty()).then_some(chart)
}

/// The rate of all of it, and the least and the most of a process.
fn at_the_end(contest: &Contest, entry: &Entry) -> String {
    let rate = contest.unit.show(entry.figure.median);
    match words::shares(&entry.row.shares) {
        Some(shares) => format!("{rate}, {shares}"),
        None => rate,
    }
}

/// A point a slice, in its middle.
fn second_points(contest: &Contest, entry: &Entry) -> Vec<Point> {
    let row = entry.row;
    let count = row.per_second.iter().map(Vec::len).max().unwrap_or(0);
    let slice_ms = row.case.slice_ns() / 1_000_000;
    let point = |at: usize| {
        let part = |part: &Vec<u64>| part.get(at).copied().unwrap_or(0) as f64;
        let parts: Vec<f64> = row.per_second.iter().map(part).collect();
        let all: f64 = parts.iter().sum();
        let share = |part: &f64| format!("{:.0}", 100.0 * part / all.max(1.0));
        let shares: Vec<String> = parts.iter().map(share).collect();
        let shares = match shares.len() {
            1 => String::new(),
            _ => format!("\n{} %", shares.join(" + ")),
        };
        Point {
            x: ((2 * at as u64 + 1) * slice_ms) as f64 / 2e3,
            y: all,
            least: all,
            most: all,
            text: format!("{}{shares}", contest.unit.show(all)),
            parts,
        }
    };
    (0..count).map(point).collect()
}

/// The curves of a workload: one for each phase and what else does not grow.
pub(super) fn curves(contests: &[&Contest]) -> Vec<Chart> {
    let Some((first, curve)) = contests.first().and_then(|contest| {
        let workload = workloads::workload(&contest.first.workload)?;
        Some((contest, workload.curve?))
    }) else {
        return Vec::new();
    };
    let mut groups: Vec<(Fixed, Vec<&Contest>)> = Vec::new();
    for contest in contests {
        let fixed = fixed(contest, curve);
        match groups.iter_mut().find(|(other, _)| *other == fixed) {
            Some((_, group)) => group.push(contest),
            None => groups.push((fixed, vec![contest])),
        }
    }
    let letter = &first.first.workload;
    let charts = groups
        .iter()
        .enumerate()
        .filter_map(|(number, (_, group))| {
            let id = format!("curve-{letter}-{}", number + 1);
            curve_chart(curve, &id, group)
        });
    charts.collect()
}

/// What must be the same for two rows to be points of one line.
type Fixed<'a> = (&'a str, &'a str, Vec<&'static str>, [u64; 3], Option<u32>);

fn fixed<'a>(contest: &'a Contest, curve: Curve) -> Fixed<'a> {
    let case = &contest.first.case;
    let other = |which, value: u64| if curve == which { 0 } else { value };
    let keys = match curve {
        // The larger the values, the fewer the keys that fit.
        Curve::Keys | Curve::ValueBytes => 0,
        Curve::Processes => case.keys,
    };
    let value_bytes = other(Curve::ValueBytes, case.value_bytes as u64);
    let sizes = [
        keys,
        value_bytes,
        other(Curve::Processes, case.procs.into()),
    ];
    let first = contest.first;
    (
        &first.phase,
        &first.unit,
        contest.conditions(),
        sizes,
        case.batch,
    )
}

fn curve_chart(curve: Curve, id: &str, group: &[&Contest]) -> Option<Chart> {
    let mut marks: Vec<Mark> = Vec::new();
    for contest in group {
        let x = grown(contest, curve);
        for entry in &contest.entries {
            let point = point(contest, entry, x);
            let same = |mark: &&mut Mark| mark.label == entry.label;
            match marks.iter_mut().find(same) {
                Some(mark) => mark.points.push(point),
                None => marks.push(mark(entry, vec![point])),
            }
        }
    }
    for mark in &mut marks {
        mark.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let is_line = marks.iter().any(|mark| mark.points.len() > 1);
    let contest = group.first().filter(|_| is_line)?;
    let mut chart = chart(contest, Kind::Curve, id, marks);
    chart.x_label = curve.label();
    let conditions = contest.conditions();
    let phase = std::iter::once(&*contest.first.phase).chain(conditions);
    Some(chart.named(phase.collect::<Vec<_>>().join(", ")))
}

fn grown(contest: &Contest, curve: Curve) -> f64 {
    let case = &contest.first.case;
    match curve {
        Curve::Keys => case.keys as f64,
        Curve::ValueBytes => case.value_bytes as f64,
        Curve::Processes => f64::from(case.procs),
    }
}

fn point(contest: &Contest, entry: &Entry, x: f64) -> Point {
    let figure = entry.figure;
    Point {
        x,
        y: figure.median,
        least: figure.least,
        most: figure.most,
        text: contest.unit.show(figure.median),
        parts: Vec::new(),
    }
}

fn mark(entry: &Entry, points: Vec<Point>) -> Mark {
    Mark {
        label: entry.label.clone(),
        peer: entry.store.name.to_owned(),
        language: entry.row.language.clone(),
        ours: entry.store.ours,
        same: entry.store.same,
        colour: entry.store.colour,
        text: String::new(),
        points,
    }
}

fn chart(contest: &Contest, kind: Kind, id: &str, marks: Vec<Mark>) -> Chart {
    Chart {
        id: id.to_owned(),
        kind,
        label: String::new(),
        higher: contest.unit.higher_is_better(),
        unit: contest.unit.0.to_owned(),
        x_label: "",
        marks,
    }
}

impl Chart {
    fn named(mut self, label: String) -> Self {
        self.label = label;
        self
    }
}
