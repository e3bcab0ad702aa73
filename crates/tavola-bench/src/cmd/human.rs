//! The results of `tavola-bench` as tables for people.

use tavola_bench::kv::{Collapse, Config, Line, PhaseLine, Placement, Summary};
use tavola_bench::{Percentiles, copy, iter, open, tags, uid};
use tavola_program::units::{count, counted, size};

/// What is measured, and the head of the table.
pub fn header(config: &Config) -> String {
    let place = match config.placement {
        Placement::Free => String::new(),
        Placement::Spread => ", each on its CPU".to_owned(),
        Placement::One(cpu) => format!(", all on CPU {cpu}"),
    };
    let batch = match config.batch {
        1 => "one key a call".to_owned(),
        batch => format!("{batch} keys a call"),
    };
    let columns = format!(
        "{:<6}{:>13}{:>9}{:>9}  {:<15}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "phase", "ops", "seconds", "M/s", "", "p50", "p99", "p99.9", "p99.99", "max"
    );
    format!(
        "{} of {} B with values of {} B, {} by {}{place}\n\n{columns}",
        counted(config.keys, "key"),
        config.key_bytes,
        config.value_bytes,
        batch,
        match config.procs {
            1 => "1 process".to_owned(),
            procs => format!("{procs} processes"),
        },
    )
}

pub fn line(line: &Line) -> String {
    match line {
        Line::Phase(line) => phase(line),
        Line::Collapse(line) => collapse(line),
        Line::Summary(line) => summary(line),
    }
}

fn phase(line: &PhaseLine) -> String {
    let least = line.runs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = line.runs.iter().copied().fold(0.0, f64::max);
    let range = match line.runs.len() {
        0 | 1 => String::new(),
        _ => format!("({least:.2}–{most:.2})"),
    };
    let mut text = format!(
        "{:<6}{:>13}{:>9.3}{:>9.2}  {range:<15}",
        line.phase.name(),
        count(line.ops),
        line.seconds,
        line.mops,
    );
    if let Some(latency) = &line.latency {
        text.push_str(&percentiles(latency));
    }
    if let Some(mops) = line.writer_mops {
        text.push_str(&format!("\n       the hot writer meanwhile: {mops:.2} M/s"));
    }
    text
}

fn percentiles(latency: &Percentiles) -> String {
    let all = [
        latency.p50_ns,
        latency.p99_ns,
        latency.p999_ns,
        latency.p9999_ns,
        latency.max_ns,
    ];
    all.iter()
        .map(|&ns| format!("{:>9}", duration(ns)))
        .collect()
}

fn collapse(line: &Collapse) -> String {
    match line.huge_pages_supported {
        true => format!(
            "       {} on huge pages, {:.2} s",
            size(line.collapsed_bytes),
            line.seconds
        ),
        false => "       no huge pages here; 'tavola doctor' tells why".to_owned(),
    }
}

fn summary(summary: &Summary) -> String {
    format!(
        "\nmemory  {}, {:.1} bytes a key ({:.1} after put)\n\
         index   {} at load {:.2} in {}\n\
         items   {}, large ones {}, free {}\n\
         costs   {:.1} ns an operation for the loop around it, {:.0} ns for reading the clock",
        size(summary.resident_bytes),
        summary.bytes_per_key,
        summary.bytes_per_key_after_put,
        size(summary.index_bytes),
        summary.index_load,
        counted(summary.shards.into(), "shard"),
        size(summary.slab_bytes),
        size(summary.large_bytes),
        size(summary.free_bytes),
        summary.harness_ns,
        summary.timer_ns,
    )
}

pub fn open(report: &open::Report) -> String {
    format!(
        "{:.2} µs an open + get + close, mean of {} (open {:.2}, get {:.2}, close {:.2})\n\
         p50 {}, p99 {}, p99.9 {}, max {}; {} in the table",
        report.us_each,
        count(report.count),
        report.open_us,
        report.get_us,
        report.close_us,
        duration(report.latency.p50_ns),
        duration(report.latency.p99_ns),
        duration(report.latency.p999_ns),
        duration(report.latency.max_ns),
        counted(report.keys, "key"),
    )
}

pub fn iter(report: &iter::Report) -> String {
    let runs: Vec<String> = report
        .runs
        .iter()
        .map(|mops| format!("{mops:.1}"))
        .collect();
    format!(
        "{:.1} M/s over {} with values of {} B, median of {} ({:.1} ns each)",
        report.mops,
        counted(report.keys, "record"),
        report.value_bytes,
        runs.join(", "),
        report.seconds * 1e9 / report.keys as f64,
    )
}

pub fn uid(report: &uid::Report) -> String {
    format!(
        "get by uid {:.2} M/s, by key {:.2} ({:.2} x), by key in a table without uids {:.2} \
         ({:.2} x); set by uid {:.2} M/s, by key {:.2} ({:.2} x); {:.1} bytes a key, without uids \
         {:.1}; {}",
        report.uid_get_mops,
        report.get_mops,
        report.get_ratio,
        report.plain_get_mops,
        report.plain_get_ratio,
        report.uid_set_mops,
        report.set_mops,
        report.set_ratio,
        report.bytes_per_key,
        report.plain_bytes_per_key,
        counted(report.keys, "key"),
    )
}

pub fn tags(report: &tags::Report) -> String {
    let invalidated = report.invalidate_us.map_or(String::new(), |us| {
        format!("; that of all keys was invalidated in {us:.1} us")
    });
    format!(
        "{}: get {:.2} M/s ({:.2} x), set {:.2} M/s, {:.1} bytes a key; {}{invalidated}",
        counted(report.tags as u64, "tag"),
        report.get_mops,
        report.get_ratio,
        report.set_mops,
        report.bytes_per_key,
        counted(report.keys, "key"),
    )
}

pub fn copy(report: &copy::Report) -> String {
    format!(
        "{} bytes: get {:.0} ns, plain copy {:.0} ns ({:.2} x); lent in {:.0} ns",
        report.value_bytes, report.get_ns, report.plain_ns, report.get_ratio, report.view_ns,
    )
}

fn duration(ns: u64) -> String {
    match ns {
        0..10_000 => format!("{ns} ns"),
        10_000..10_000_000 => format!("{} µs", ns / 1_000),
        _ => format!("{} ms", ns / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_four_digits_at_most() {
        assert_eq!(duration(9_999), "9999 ns");
        assert_eq!(duration(10_000), "10 µs");
        assert_eq!(duration(9_999_999), "9999 µs");
        assert_eq!(duration(12_345_678), "12 ms");
    }

    #[test]
    fn percentiles_stand_under_their_heads() {
        let latency = Percentiles {
            max_ns: 14_900_000,
            ..Percentiles::default()
        };
        assert_eq!(percentiles(&latency).chars().count(), 5 * 9);
        assert!(percentiles(&latency).ends_with("    14 ms"));
    }
}
