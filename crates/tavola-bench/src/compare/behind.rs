//! Where another store is ahead of Tavola, the row says whose it is and what that store is spared.

use super::peers::{self, Peer};
use super::report::Row;

/// Adds a note to each row of Tavola's that a row of the same case, phase and language is ahead of.
pub(super) fn explain(rows: &mut [Row]) {
    let peers: Vec<Peer> = peers::all().collect();
    let peer = |name: &str| peers.iter().find(|peer| peer.name == name);
    let notes: Vec<Option<String>> = rows
        .iter()
        .map(|row| {
            let own = row.peer.starts_with("tavola");
            let ahead = rows.iter().filter(|other| own && is_ahead(other, row));
            let told: Vec<String> = ahead
                .filter_map(|other| Some((other, peer(&other.peer)?)))
                .map(|(other, peer)| sentence(other, row, peer))
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

fn is_ahead(other: &Row, row: &Row) -> bool {
    let same = other.workload == row.workload
        && other.title == row.title
        && other.phase == row.phase
        && other.language == row.language
        && !other.peer.starts_with("tavola");
    same && ratio(other, row) > 1.0
}

/// How many times faster the other is.
fn ratio(other: &Row, row: &Row) -> f64 {
    match (other.latency.p50_ns, row.latency.p50_ns) {
        (Some(theirs), Some(ours)) => ours as f64 / theirs.max(1) as f64,
        _ if row.is_rate() => other.median / row.median.max(1e-12),
        _ => row.median / other.median.max(1e-12),
    }
}

fn sentence(other: &Row, row: &Row, peer: &Peer) -> String {
    let times = ratio(other, row);
    match peer.spared {
        Some(spared) => format!("{} ({times:.2} ×), {spared}", peer.title),
        None => format!("{} ({times:.2} ×)", peer.title),
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
