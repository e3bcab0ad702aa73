//! Sections with bars: the chart over time, histograms, memory by size class.

use tavola::Latencies;

use super::section::{Letters, Section, Tint, percent, rate, time};
use super::watch::{View, total};
use crate::units::size;

/// The hit ratio over time, or changes over time; a column a look, the last at the right.
pub fn chart(view: &View<'_>, letters: &Letters, width: usize, height: usize) -> Section {
    let columns = width.saturating_sub(8);
    let points = view
        .points
        .iter()
        .skip(view.points.len().saturating_sub(columns));
    let points: Vec<Option<f64>> = points.copied().collect();
    let (title, top) = match view.now.is_cache() {
        true => ("hit ratio over time", 1.0),
        false => {
            let most = points.iter().flatten().copied().fold(1.0, f64::max);
            ("changes per second over time", most)
        }
    };
    let written = |value: f64| match view.now.is_cache() {
        true => format!("{:.0} %", value * 100.0),
        false => rate(Some(value)),
    };
    let mut section = Section::new(format!("{:8}{title}", ""));
    for row in (0..height).rev() {
        let label = match row {
            _ if row + 1 == height => written(top),
            0 => written(0.0),
            _ if row * 2 + 1 == height => written(top / 2.0),
            _ => String::new(),
        };
        let letter = |point: &Option<f64>| match point {
            Some(value) => letters.of_row(value / top, row, height),
            None => ' ',
        };
        let bars: String = points.iter().map(letter).collect();
        section.line(Tint::Bar, format!("{label:>7} {bars:>columns$}"));
    }
    section
}

/// Quantiles, and below them as much of the histogram as there is room for.
pub fn latencies(view: &View<'_>, letters: &Letters, width: usize, rows: usize) -> Section {
    if !view.now.is_cache() {
        let mut section = Section::new("latency");
        section.line(Tint::Plain, "measured in caches only");
        return section;
    }
    let since = if view.latencies_are_recent {
        "60 s"
    } else {
        "in all"
    };
    let title = format!("latency, {since}");
    let heads = ["p50", "p99", "p99.9"].map(|head| format!("{head:>8}"));
    let mut section = Section::new(format!("{title:<17}{}", heads.concat()));
    let Latencies { reads, writes, .. } = &view.latencies;
    let kinds = [("reads", reads), ("writes", writes)];
    let wide = rows >= 9;
    for (name, buckets) in kinds {
        let cells = [0.5, 0.99, 0.999].map(|part| {
            let quantile = Latencies::quantile_ns(buckets, part);
            format!("{:>8}", quantile.map_or("-".to_owned(), time))
        });
        section.line(Tint::Plain, format!("{name:<17}{}", cells.concat()));
        if !wide {
            section.line(Tint::Bar, standing(buckets, letters, width));
        }
    }
    if wide {
        lying(&kinds.map(|(_, buckets)| buckets), letters, width, rows - 2)
            .into_iter()
            .for_each(|line| section.line(Tint::Bar, line));
    }
    section
}

/// From the first to the last bucket with anything in it.
fn used(buckets: &[(u64, u64)]) -> Option<(usize, usize)> {
    let is_used = |(_, count): &(u64, u64)| *count > 0;
    let first = buckets.iter().position(is_used)?;
    Some((first, buckets.iter().rposition(is_used)?))
}

/// A histogram in one line, a letter a bucket.
fn standing(buckets: &[(u64, u64)], letters: &Letters, width: usize) -> String {
    let Some((first, last)) = used(buckets) else {
        return String::new();
    };
    let begin = if first == 0 { 0 } else { buckets[first - 1].0 };
    let most = buckets.iter().map(|(_, count)| *count).max().unwrap_or(1);
    let bars = buckets[first..=last].iter().map(|(_, count)| {
        let part = *count as f64 / most as f64;
        letters.of_row(part, 0, 1)
    });
    let bars: String = bars.take(width.saturating_sub(20)).collect();
    format!("  {:>7} {bars} {}", time(begin), end_of(buckets[last].0))
}

/// A histogram of two kinds of calls, a line a bucket, or several where there are too many.
fn lying(
    kinds: &[&Vec<(u64, u64)>; 2],
    letters: &Letters,
    width: usize,
    rows: usize,
) -> Vec<String> {
    let ranges = kinds.iter().filter_map(|buckets| used(buckets));
    let both = ranges.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)));
    let (Some((first, last)), true) = (both, rows > 1) else {
        return Vec::new();
    };
    let step = (last + 1 - first).div_ceil(rows - 1);
    let totals = kinds.map(|buckets| total(buckets).max(1) as f64);
    let half = width.saturating_sub(11) / 2;
    let mut lines = vec![format!("{:>10} {:<half$}{}", "within", "reads", "writes")];
    for from in (first..=last).step_by(step) {
        let to = (from + step - 1).min(last);
        let [reads, writes] = [0, 1].map(|kind| {
            let part = total(&kinds[kind][from..=to]) as f64 / totals[kind];
            let bar = letters.bar(part, half.saturating_sub(9));
            let text = if part > 0.0 {
                format!("{bar} {}", percent(part))
            } else {
                String::new()
            };
            format!("{text:<half$}")
        });
        let end = end_of(kinds[0][to].0);
        lines.push(format!("{end:>10} {reads}{writes}").trim_end().to_owned());
    }
    lines
}

fn end_of(ns: u64) -> String {
    match ns {
        u64::MAX => "any time".to_owned(),
        ns => time(ns),
    }
}

/// Memory of small items: the largest parts of it, by the size of their blocks.
pub fn classes(view: &View<'_>, letters: &Letters, width: usize, rows: usize) -> Section {
    let mut classes: Vec<_> = view.now.stats.classes.iter().collect();
    let all = classes.len();
    let bytes = |class: &tavola::ClassStats| class.blocks * u64::from(class.block_bytes);
    classes.sort_by_key(|class| std::cmp::Reverse(bytes(class)));
    classes.truncate(rows);
    classes.sort_by_key(|class| class.block_bytes);
    let more = match all - classes.len() {
        0 => String::new(),
        more => format!("  (of {more} more not shown)"),
    };
    let mut section = Section::new(format!(
        "{:>8}{:>11}{:>8}{more}",
        "blocks", "memory", "used"
    ));
    for class in classes {
        let used = class.used as f64 / class.blocks.max(1) as f64;
        let bar = letters.bar(used, width.saturating_sub(29).min(20));
        let block = format!("{} B", class.block_bytes);
        let [memory, used] = [size(bytes(class)), percent(used)];
        section.line(Tint::Bar, format!("{block:>8}{memory:>11}{used:>8}  {bar}"));
    }
    section
}
