//! Where another store is ahead of Tavola, the row says whose it is and what that store is spared.

use super::figure::{figure, is_level, is_timed, ratio};
use super::peers;
use super::properties::profile;
use super::report::Row;

/// Adds a note to each row of Tavola's that a row of the same case, phase and language is ahead of.
/// Who is level is not ahead.
pub(super) fn explain(rows: &mut [Row]) {
    let notes: Vec<Option<String>> = rows
        .iter()
        .map(|row| {
            let own = row.peer.starts_with("tavola");
            let ahead = rows.iter().filter(|other| own && is_same(other, row));
            let told: Vec<String> = ahead
                .filter_map(|other| Some(sentence(&other.peer, times_ahead(other, row)?)))
                .collect();
            (!told.is_empty()).then(|| format!("behind {}", told.join("; ")))
        })
        .collect();
    for (row, note) in rows.iter_mut().zip(notes) {
        row.note = match (row.note.take(), note) {
            (Some(had), Some(note)) => Some(format!("{had}; {note}")),
            (had, note) => had.or(note),
        };
    }
}

fn is_same(other: &Row, row: &Row) -> bool {
    other.workload == row.workload
        && other.title == row.title
        && other.phase == row.phase
        && other.language == row.language
        && !other.peer.starts_with("tavola")
}

/// How many times faster the other is, where it is.
fn times_ahead(other: &Row, row: &Row) -> Option<f64> {
    let timed = is_timed(other) && is_timed(row);
    let (theirs, ours) = (figure(other, timed), figure(row, timed));
    let times = ratio(theirs, ours, row.is_rate() && !timed);
    (times > 1.0 && !is_level(theirs, ours)).then_some(times)
}

fn sentence(name: &str, times: f64) -> String {
    let peer = peers::all().find(|peer| peer.name == name);
    let title = peer.map_or(name, |peer| peer.title);
    match profile(name).map_or("", |profile| profile.spared) {
        "" => format!("{title} ({times:.2} ×)"),
        spared => format!("{title} ({times:.2} ×), {spared}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, unit: &str, median: f64) -> Row {
        Row {
            workload: "e".to_owned(),
            peer: peer.to_owned(),
            unit: unit.to_owned(),
            language: "C".to_owned(),
            median,
            least: 0.95 * median,
            most: 1.05 * median,
            ..Row::default()
        }
    }

    #[test]
    fn who_is_ahead_is_named_with_what_it_is_spared() {
        let mut rows = [
            row("tavola", "ops/s", 2e6),
            row("tinycdb", "ops/s", 5e6),
            row("lmdb", "ops/s", 1e6),
        ];
        explain(&mut rows);
        let note = rows[0].note.as_deref().unwrap();
        assert!(
            note.contains("TinyCDB (2.50 ×), whose file is made once"),
            "{note}"
        );
        assert!(!note.contains("LMDB"));
        assert_eq!((&rows[1].note, &rows[2].note), (&None, &None));
    }

    #[test]
    fn who_is_level_is_not_ahead() {
        let mut rows = [row("tavola", "ops/s", 2e6), row("lmdb", "ops/s", 2.1e6)];
        explain(&mut rows);
        assert_eq!(rows[0].note, None);
    }

    #[test]
    fn timed_calls_are_compared_as_on_the_page() {
        let mut rows = [row("tavola", "ops/s", 9e6), row("lmdb", "ops/s", 1e6)];
        for (row, p99) in rows.iter_mut().zip([3000, 1000]) {
            row.case.timed = true;
            row.latency.p99_ns = Some(p99);
        }
        explain(&mut rows);
        let note = rows[0].note.as_deref().unwrap();
        assert!(
            note.contains("LMDB (3.00 ×), which has one writer"),
            "{note}"
        );
    }

    #[test]
    fn where_less_is_better_the_larger_is_behind_and_other_languages_do_not_count() {
        let mut rows = [row("tavola", "us/op", 2.0), row("lmdb", "us/op", 1.0)];
        explain(&mut rows);
        assert!(rows[0].note.as_deref().unwrap().contains("LMDB (2.00 ×)"));
        let mut rows = [row("tavola", "us/op", 2.0), row("lmdb", "us/op", 1.0)];
        rows[1].language = "Ruby".to_owned();
        explain(&mut rows);
        assert_eq!(rows[0].note, None);
    }
}
