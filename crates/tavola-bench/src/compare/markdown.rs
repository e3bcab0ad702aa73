//! The results as a table for a page: many keys by one process, the fastest to read first.

use std::fmt::Write as _;

use super::job::is_cut_short;
use super::report::{Results, Row};
use super::workloads::processes;

/// Marks a figure of fewer keys than there should be.
const CUT: &str = "*";

/// What is before and after the table in a page.
pub const MARKS: [&str; 2] = ["<!-- compare -->", "<!-- end of compare -->"];

/// The page with another table between the marks; none when it has no marks.
pub fn replaced(page: &str, table: &str) -> Option<String> {
    let begin = page.find(MARKS[0])? + MARKS[0].len();
    let end = begin + page[begin..].find(MARKS[1])?;
    Some(format!("{}\n\n{table}\n{}", &page[..begin], &page[end..]))
}

/// Operations a second in millions, of the case with a million keys, else with most; none when the
/// run had no case of many keys.
pub fn table(results: &Results) -> Option<String> {
    let one = |row: &&Row| row.workload == "e" && row.case.procs == 1 && row.case.batch.is_none();
    let counts = results.rows.iter().filter(one).map(|row| row.case.keys);
    let keys = counts.min_by_key(|keys| keys.abs_diff(1_000_000))?;
    let all_cpus = results.machine.cpus as u32;
    let of = |peer: &str, phase: &str, procs: u32, batched: bool| {
        results.rows.iter().find(|row| {
            let case = &row.case;
            row.workload == "e"
                && row.peer == peer
                && row.phase == phase
                && (case.keys, case.procs, case.batch.is_some()) == (keys, procs, batched)
        })
    };
    let mut peers: Vec<_> = results
        .peers
        .iter()
        .filter_map(|peer| Some((peer, of(&peer.name, "get", 1, false)?)))
        .collect();
    peers.sort_by(|one, other| other.1.median.total_cmp(&one.1.median));
    let (mut text, mut is_cut) = (head(results, keys), false);
    for (peer, get) in peers {
        let rate = |row: Option<&Row>| row.map_or("–".to_owned(), figure);
        let cells = [
            rate(of(&peer.name, "put", 1, false)),
            rate(of(&peer.name, "mix", 1, false)),
            figure(get),
            rate(of(&peer.name, "get_batch", 1, true)),
            rate(of(&peer.name, "miss", 1, false)),
            rate(of(&peer.name, "get", all_cpus, false)),
            get.bytes_per_key
                .map_or("–".to_owned(), |bytes| format!("{bytes:.0}")),
        ];
        is_cut |= cells.iter().any(|cell| cell.ends_with(CUT));
        let _ = writeln!(
            text,
            "| {} {} | {} |",
            peer.title,
            peer.version,
            cells.join(" | ")
        );
    }
    let _ = write!(text, "\n{}\n", foot(results, is_cut));
    Some(text)
}

fn head(results: &Results, keys: u64) -> String {
    let machine = &results.machine;
    format!(
        "{} × {}{}, {} GiB, Linux {}, {}, {}: {keys} keys of 8 bytes with values of 8, one \
         process unless said; million operations a second, medians.\n\n\
         | store | put | mix | get | get, 32 a call | miss | get, {} | bytes a key |\n\
         |---|---|---|---|---|---|---|---|\n",
        machine.cpus,
        machine.cpu,
        if machine.is_virtual { " (virtual)" } else { "" },
        (machine.memory_bytes as f64 / f64::from(1 << 30)).round(),
        machine.kernel,
        machine.system,
        results.started.get(..10).unwrap_or_default(),
        processes(machine.cpus as u32),
    )
}

/// What must be known of the figures; `is_cut`: some of them are of fewer keys.
fn foot(results: &Results, is_cut: bool) -> String {
    let mut text = match &results.noise.why {
        Some(why) => format!("The machine was not steady, so take these as rough: {why}."),
        None => "The machine was steady.".to_owned(),
    };
    if is_cut {
        text.push_str(" *: fewer keys, as its time was over.");
    }
    let absent: Vec<&str> = results
        .peers
        .iter()
        .filter(|peer| peer.skipped.is_some())
        .map(|peer| peer.title.as_str())
        .collect();
    if !absent.is_empty() {
        let _ = write!(text, " Not there: {}.", absent.join(", "));
    }
    text
}

fn figure(row: &Row) -> String {
    let millions = row.median / 1e6;
    let cut = if is_cut_short(row.note.as_deref()) {
        CUT
    } else {
        ""
    };
    match millions {
        10.0.. => format!("{millions:.1}{cut}"),
        0.1.. => format!("{millions:.2}{cut}"),
        _ => format!("{millions:.3}{cut}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::job::Case;
    use crate::compare::report::PeerRow;

    #[test]
    fn the_table_stands_between_the_marks_and_nothing_else_changes() {
        let page = format!("before\n{}\nold\n{}\nafter\n", MARKS[0], MARKS[1]);
        let once = replaced(&page, "| new |\n").unwrap();
        assert!(once.starts_with("before\n") && once.ends_with("\nafter\n"));
        assert!(once.contains("| new |") && !once.contains("old"));
        assert_eq!(replaced(&once, "| new |\n").unwrap(), once);
        assert_eq!(replaced("no marks", "x"), None);
    }

    #[test]
    fn the_fastest_to_read_stands_first() {
        let row = |peer: &str, phase: &str, median: f64| Row {
            workload: "e".to_owned(),
            peer: peer.to_owned(),
            phase: phase.to_owned(),
            median,
            case: Case {
                keys: 1_000_000,
                procs: 1,
                ..Case::default()
            },
            ..Row::default()
        };
        let peer = |name: &str| PeerRow {
            name: name.to_owned(),
            title: name.to_uppercase(),
            ..PeerRow::default()
        };
        let results = Results {
            rows: vec![
                row("slow", "get", 1.25e6),
                row("fast", "get", 12.34e6),
                row("fast", "put", 0.05e6),
            ],
            peers: vec![peer("slow"), peer("fast"), peer("absent")],
            ..Results::default()
        };
        let text = table(&results).unwrap();
        assert!(text.contains("| FAST  | 0.050 | – | 12.3 |"), "{text}");
        assert!(text.find("FAST").unwrap() < text.find("SLOW").unwrap());
        assert!(!text.contains("ABSENT"));
        assert!(!text.contains('*'), "{text}");
        let mut results = results;
        let mut elsewhere = row("fast", "get", 1e6);
        elsewhere.workload = "h".to_owned();
        elsewhere.note = Some("only 7 of 9 within its time".to_owned());
        results.rows.push(elsewhere);
        assert!(!table(&results).unwrap().contains("its time was over"));
        results.rows[2].note = Some("only 7 of 9 within its time".to_owned());
        results.rows[1].note = Some("behind another".to_owned());
        let text = table(&results).unwrap();
        assert!(text.contains("0.050*") && !text.contains("12.3*"), "{text}");
        assert!(text.contains("its time was over"), "{text}");
    }

    #[test]
    fn the_processes_are_as_many_as_the_machine_of_the_run_has_cpus() {
        let row = |procs, median| {
            let mut row = Row {
                workload: "e".to_owned(),
                phase: "get".to_owned(),
                median,
                ..Row::default()
            };
            (row.case.keys, row.case.procs) = (1_000_000, procs);
            row
        };
        let mut results = Results {
            rows: vec![row(1, 2e6), row(16, 3e6), row(4, 7e6)],
            peers: vec![PeerRow::default()],
            ..Results::default()
        };
        results.machine.cpus = 4;
        let text = table(&results).unwrap();
        assert!(text.contains("| get, 4 processes |"), "{text}");
        assert!(text.contains("| 2.00 | – | – | 7.00 |"), "{text}");
        // Of several processes alone there is no table.
        results.rows.remove(0);
        assert_eq!(table(&results), None);
    }
}
