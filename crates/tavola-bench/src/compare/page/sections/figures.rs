//! The figures of a workload: a chart and a table for each case.

use maud::{Markup, html};

use super::super::charts::{self, Chart, Kind};
use super::super::contests::{Contest, Entry, Outcome};
use super::super::words::{self, Unit};
use super::super::workloads::workload;
use super::{Run, counted, promise, title_of};

/// All charts of a workload.
pub(super) fn charts(run: &Run, letter: &str) -> Vec<Chart> {
    let contests = of(run, letter);
    let curves = charts::curves(&contests);
    let bars = contests.iter().filter(|_| curves.is_empty());
    let bars: Vec<Chart> = bars.map(|contest| charts::bars(contest)).collect();
    let latencies = contests
        .iter()
        .filter_map(|contest| charts::latency(contest));
    let seconds = contests
        .iter()
        .filter_map(|contest| charts::seconds(contest));
    let figures = curves.into_iter().chain(bars).chain(latencies);
    figures.chain(seconds).collect()
}

fn of<'a>(run: &Run<'a>, letter: &str) -> Vec<&'a Contest<'a>> {
    let contests = run.contests.iter();
    contests
        .filter(|contest| contest.first.workload == letter)
        .collect()
}

pub(super) fn section(run: &Run, letter: &str) -> Markup {
    let contests = of(run, letter);
    let curves = charts::curves(&contests);
    let what = workload(letter).map_or("", |workload| workload.what);
    html! {
        section id={ "w-" (letter) } data-workload=(letter) {
            h2 { (title_of(letter)) }
            p { (what) }
            @if curves.is_empty() {
                div.cases { @for contest in &contests { (case(contest, true)) } }
            } @else {
                div.cases { @for curve in &curves { (figure(curve)) } }
                details.all open {
                    summary { "The figures of the curves: " (counted(contests.len())) }
                    div.cases { @for contest in &contests { (case(contest, false)) } }
                }
            }
        }
    }
}

fn figure(chart: &Chart) -> Markup {
    html! {
        figure id={ "figure-" (chart.id) } data-chart=(chart.id) hidden {
            @match chart.kind {
                Kind::Bars => figcaption.unseen { (chart.label) },
                Kind::Curve => figcaption { (chart.label) },
                Kind::Latency => figcaption {
                    "How long single calls take, in the run of median rate"
                },
                Kind::Seconds => figcaption {
                    "Operations a second over time; each band is a process's part. A row reaches up
                     to the best of its store, whatever that of the others is."
                },
            }
            div.chart {}
        }
    }
}

fn case(contest: &Contest, with_bars: bool) -> Markup {
    let first = contest.first;
    let latency = charts::latency(contest);
    let seconds = charts::seconds(contest);
    html! {
        article id=(contest.id) {
            h3 { (first.title) ", " span.phase { (first.phase) } }
            @for condition in contest.conditions() { p.condition { (condition) } }
            (verdict(contest))
            (notes(contest, true))
            @if with_bars { (figure(&charts::bars(contest))) }
            @if let Some(latency) = &latency { (figure(latency)) }
            @if let Some(seconds) = &seconds { (figure(seconds)) }
            details open {
                summary { "Figures" }
                @let label = format!("Figures: {}, {}", first.title, first.phase);
                div.scroll tabindex="0" role="region" aria-label=(label) {
                    (table(contest))
                }
                (notes(contest, false))
            }
        }
    }
}

/// What a reader must know of Tavola's figures, or of the others'.
fn notes(contest: &Contest, ours: bool) -> Markup {
    let entries = contest
        .entries
        .iter()
        .filter(|entry| entry.store.ours == ours);
    let noted = entries.filter_map(|entry| Some((entry, entry.row.note.as_ref()?)));
    let noted: Vec<_> = noted.collect();
    html! {
        @if !noted.is_empty() {
            ul.notes { @for (entry, note) in &noted { li { (entry.label) ": " (note) } } }
        }
    }
}

/// One sentence, or two where who is fastest of all promises less.
fn verdict(contest: &Contest) -> Markup {
    let any = contest.standing(false);
    let same = contest.standing(true);
    let Some(any) = any else {
        return html! {};
    };
    let beside = same.filter(|same| !std::ptr::eq(same.other, any.other));
    html! {
        p.verdict {
            (sentence(&any)) ". "
            @if let Some(beside) = &beside {
                "With the same guarantees: " (sentence(beside)) "."
            }
        }
    }
}

fn sentence(standing: &super::super::contests::Standing) -> Markup {
    let (ours, other) = (&standing.ours.label, &standing.other.label);
    html! {
        @match standing.outcome() {
            Outcome::Ours => {
                strong { (ours) " is fastest" } ", "
                (words::ratio(standing.ratio)) " as fast as " (other)
            },
            Outcome::Level => { strong { (ours) " and " (other) " are level" } },
            Outcome::Other => {
                strong { (other) " is faster" } ", "
                (words::ratio(1.0 / standing.ratio)) " as fast as " (ours)
            },
        }
    }
}

/// A column of the table, where at least one row has something to show in it.
struct Column {
    heading: &'static str,
    show: fn(&Entry) -> Option<String>,
}

const COLUMNS: [Column; 12] = [
    Column {
        heading: "Its server",
        show: |entry| entry.row.server(),
    },
    Column {
        heading: "CPU an operation",
        show: |entry| {
            let server = entry.row.server_cpu_us_per_op.unwrap_or(0.0);
            Some(words::time((entry.row.cpu_us_per_op? + server) * 1e3))
        },
    },
    Column {
        heading: "of it the server",
        show: |entry| Some(words::time(entry.row.server_cpu_us_per_op? * 1e3)),
    },
    Column {
        heading: "Bytes a key",
        show: |entry| Some(words::digits(entry.row.bytes_per_key?)),
    },
    Column {
        heading: "Memory of the program",
        show: |entry| Some(words::bytes(entry.row.peak_rss_bytes? as f64)),
    },
    Column {
        heading: "of the server",
        show: |entry| Some(words::bytes(entry.row.server_bytes? as f64)),
    },
    Column {
        heading: "Half of the calls",
        show: |entry| Some(words::time(entry.row.latency.p50_ns? as f64)),
    },
    Column {
        heading: "99 %",
        show: |entry| {
            let p99 = entry.row.latency.p99_ns.filter(|_| !entry.row.case.timed)?;
            Some(words::time(p99 as f64))
        },
    },
    Column {
        heading: "99.9 %",
        show: |entry| Some(words::time(entry.row.latency.p999_ns? as f64)),
    },
    Column {
        heading: "Slowest",
        show: |entry| Some(words::time(entry.row.latency.max_ns? as f64)),
    },
    Column {
        heading: "Longest pause",
        show: |entry| Some(words::time(entry.row.pause_ns? as f64)),
    },
    Column {
        heading: "Share of a process",
        show: |entry| words::shares(&entry.row.shares),
    },
];

fn table(contest: &Contest) -> Markup {
    let unit = contest.unit;
    let shown = |column: &&Column| contest.entries.iter().any(|e| (column.show)(e).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(shown).collect();
    let ours = contest.entries.iter().find(|entry| entry.store.ours);
    html! {
        table.figures {
            thead { tr {
                th scope="col" { "Store" } th scope="col" { "Language" }
                th.number scope="col" {
                    @if contest.timed { "99 % of the calls within" } @else { "Median" }
                }
                th.number scope="col" { "Least to most" }
                th.number scope="col" { "Tavola is" }
                @for column in &columns { th.number scope="col" { (column.heading) } }
            } }
            tbody {
                @for entry in &contest.entries {
                    (line(contest, entry, ours, &columns))
                }
                @for entry in &contest.wrong { (wrong(entry, columns.len() + 3)) }
            }
        }
        p.unit {
            (of_runs(contest)) "; " (unit.direction()) "."
            @if contest.entries.iter().any(|entry| entry.row.server_cpu_us_per_op.is_some()) {
                " CPU time is that of client + server."
            }
        }
    }
}

/// What the figures are of.
fn of_runs(contest: &Contest) -> String {
    let mut entries = contest.entries.iter();
    let told = entries.any(|entry| entry.row.latency_least.is_some());
    let runs = repetitions(contest);
    match (contest.timed, told) {
        (false, _) => format!("Median of {runs}"),
        (true, true) => format!("Each percentile, and the slowest call: median of {runs}"),
        // As results of before have them.
        (true, false) => "Of the run of median rate".to_owned(),
    }
}

/// Slow stores are run less often than others.
fn repetitions(contest: &Contest) -> String {
    let runs = contest.entries.iter();
    let runs = runs.map(|entry| entry.row.runs.len().max(1));
    let most = runs.clone().max().unwrap_or(1);
    let up_to = if runs.min() < Some(most) {
        "up to "
    } else {
        ""
    };
    format!("{up_to}{}", words::plural(most, "run", "runs"))
}

fn line(contest: &Contest, entry: &Entry, ours: Option<&Entry>, columns: &[&Column]) -> Markup {
    let (row, figure, unit) = (entry.row, entry.figure, contest.unit);
    html! {
        (opening(entry, html! {
            td { (row.language) }
            td.number { (unit.show(figure.median)) }
            td.number { (spread(unit, figure.least, figure.most)) }
            td.number {
                @if let Some(ours) = ours.filter(|_| !entry.store.ours) {
                    (words::ratio(contest.ratio(ours, entry)))
                }
            }
            @for column in columns { td.number { (((column.show)(entry)).unwrap_or_default()) } }
        }))
    }
}

fn opening(entry: &Entry, cells: Markup) -> Markup {
    html! {
        tr data-peer=(entry.store.name) data-language=(entry.row.language)
            data-same=(entry.store.same) class=[entry.store.ours.then_some("us")] {
            th scope="row" { (promise(entry.store)) " " (entry.store.title) }
            (cells)
        }
    }
}

fn spread(unit: Unit, least: f64, most: f64) -> String {
    format!("{} – {}", unit.show(least), unit.show(most))
}

fn wrong(entry: &Entry, columns: usize) -> Markup {
    opening(
        entry,
        html! {
            td { (entry.row.language) }
            td.bad colspan=(columns) {
                strong { "✗ gave wrong answers" } "; its figure does not count"
            }
        },
    )
}
