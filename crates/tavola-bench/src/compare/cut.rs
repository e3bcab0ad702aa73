//! A put that was cut short leaves a store with fewer keys than its case has, and what is done next
//! is done on those: the rows of it say so, too.

use super::job::is_cut_short;
use super::report::Row;

/// Of a phase after such a put; a figure whose note begins like this is marked everywhere.
const NOTE: &str = "only the keys of a put that was cut short";

/// Adds the note to the rows that follow such a put of the same store in the same case. Rows that
/// have it already stay as they are: results that were written before may be given again.
pub(super) fn mark(rows: &mut [Row]) {
    for at in 1..rows.len() {
        let (before, rest) = rows.split_at_mut(at);
        let row = &mut rest[0];
        let lacks = |earlier: &Row| is_same(earlier, row) && lacks_keys(earlier);
        if is_cut_short(row.note.as_deref()) || !before.iter().any(lacks) {
            continue;
        }
        row.note = Some(match row.note.take() {
            Some(had) => format!("{NOTE}; {had}"),
            None => NOTE.to_owned(),
        });
    }
}

fn is_same(one: &Row, other: &Row) -> bool {
    one.workload == other.workload
        && one.peer == other.peer
        && one.title == other.title
        && one.language == other.language
}

/// Where keys are put again and again all of them may be there though not all puts were done.
fn lacks_keys(row: &Row) -> bool {
    let note = row.note.as_deref().filter(|note| is_cut_short(Some(note)));
    let done = note.and_then(|note| note.split(' ').nth(1)?.parse::<u64>().ok());
    let puts = row.phase.starts_with("put") || row.phase == "write";
    puts && done.is_some_and(|done| done < row.case.keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(peer: &str, phase: &str, note: Option<&str>) -> Row {
        let mut row = Row {
            peer: peer.to_owned(),
            phase: phase.to_owned(),
            note: note.map(str::to_owned),
            ..Row::default()
        };
        row.case.keys = 9;
        row
    }

    #[test]
    fn what_follows_a_put_that_was_cut_short_is_marked_once() {
        let mut rows = [
            row("slow", "put", Some("only 5 of 9 keys within its time")),
            row("slow", "mix", None),
            row("slow", "get", Some("behind another")),
            row("fast", "put", None),
            row("fast", "get", None),
        ];
        mark(&mut rows);
        assert_eq!(rows[1].note.as_deref(), Some(NOTE));
        assert_eq!(rows[2].note, Some(format!("{NOTE}; behind another")));
        assert_eq!((&rows[3].note, &rows[4].note), (&None, &None));
        assert!(is_cut_short(rows[2].note.as_deref()));
        let once = rows.clone();
        mark(&mut rows);
        assert_eq!(rows, once);
    }

    #[test]
    fn who_has_all_keys_is_not_marked() {
        let mut rows = [
            row("slow", "put", Some("only 50 of 90 within its time")),
            row("slow", "get", None),
        ];
        mark(&mut rows);
        assert_eq!(rows[1].note, None);
    }
}
