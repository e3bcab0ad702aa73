//! Who did the same work in the same run: the rows that may be compared, and who was faster.

use super::stores::{Store, Stores};
use super::words::Unit;
use super::workloads;
use crate::compare::figure::{self, Figure};
use crate::compare::job::{Placement, Reply};
use crate::compare::report::{Results, Row};

/// What one store did in a contest.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pub(super) row: &'a Row,
    pub(super) store: &'a Store<'a>,
    /// The store's title, with the language where it would be there twice.
    pub(super) label: String,
    /// What is compared.
    pub(super) figure: Figure,
}

/// Rows of the same case, phase and unit. Where the case does not say where servers are, stores
/// with one stand beside those without.
#[derive(Debug)]
pub(super) struct Contest<'a> {
    /// Of the page: `e-3`.
    pub(super) id: String,
    /// What was done, told by the first row.
    pub(super) first: &'a Row,
    /// Of all figures.
    pub(super) unit: Unit<'a>,
    /// The time within which 99 % of the calls were done is compared, not the rate.
    pub(super) timed: bool,
    /// With right answers, best first.
    pub(super) entries: Vec<Entry<'a>>,
    /// With wrong ones, whose figures do not count.
    pub(super) wrong: Vec<Entry<'a>>,
}

/// Tavola beside another store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing<'a> {
    /// The best of Tavola's configurations.
    pub(super) ours: &'a Entry<'a>,
    pub(super) other: &'a Entry<'a>,
    /// How many times as fast Tavola is; below 1 where it is slower.
    pub(super) ratio: f64,
    /// Their runs overlap, or their only ones are close: neither is called faster.
    pub(super) level: bool,
}

/// Who is faster; what is worse for Tavola comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Outcome {
    Other,
    Level,
    Ours,
}

impl Standing<'_> {
    pub(super) fn outcome(&self) -> Outcome {
        match self.level {
            true => Outcome::Level,
            false if self.ratio > 1.0 => Outcome::Ours,
            false => Outcome::Other,
        }
    }
}

/// All contests of a run, in the order of the page.
pub(super) fn contests<'a>(results: &'a Results, stores: &'a Stores<'a>) -> Vec<Contest<'a>> {
    let mut rows: Vec<(Key<'a>, Vec<&'a Row>)> = Vec::new();
    for row in results.rows.iter().filter(|row| row.median > 0.0) {
        let key = key(row);
        match rows.iter_mut().find(|(other, _)| *other == key) {
            Some((_, same)) => same.push(row),
            None => rows.push((key, vec![row])),
        }
    }
    rows.sort_by_key(|(_, rows)| workloads::place(&rows[0].workload));
    let numbered = rows.into_iter().enumerate();
    numbered
        .map(|(number, (_, rows))| contest(number, rows, stores))
        .collect()
}

type Key<'a> = (
    [&'a str; 4],
    Option<Placement>,
    Option<Reply>,
    [u64; 3],
    Option<u32>,
);

fn key(row: &Row) -> Key<'_> {
    let case = &row.case;
    let sizes = [case.keys, case.value_bytes as u64, case.procs.into()];
    let words = [&*row.workload, &row.title, &row.phase, &row.unit];
    (words, case.placement, case.reply, sizes, case.batch)
}

fn contest<'a>(number: usize, rows: Vec<&'a Row>, stores: &'a Stores<'a>) -> Contest<'a> {
    let first = rows[0];
    let timed = rows.iter().all(|row| figure::is_timed(row));
    let unit = Unit(if timed { "ns" } else { &first.unit });
    let twice = |row: &Row| rows.iter().filter(|other| other.peer == row.peer).count() > 1;
    let entry = |row: &'a Row| {
        let store = stores.get(&*row.peer)?;
        let label = match twice(row) && !row.language.is_empty() {
            true => format!("{}, {}", store.title, row.language),
            false => store.title.to_owned(),
        };
        Some(Entry {
            row,
            store,
            label,
            figure: figure::figure(row, timed),
        })
    };
    let entries = rows.iter().filter_map(|row| entry(row));
    let (mut entries, wrong): (Vec<_>, Vec<_>) = entries.partition(|entry| entry.row.verified);
    entries.sort_by(|a, b| {
        let order = a.figure.median.total_cmp(&b.figure.median);
        if unit.higher_is_better() {
            order.reverse()
        } else {
            order
        }
    });
    Contest {
        id: format!("{}-{}", slug(&first.workload), number + 1),
        first,
        unit,
        timed,
        entries,
        wrong,
    }
}

/// A word that may stand in an id.
fn slug(word: &str) -> String {
    let plain = word.chars().filter(char::is_ascii_alphanumeric).collect();
    if plain == *"" { "x".to_owned() } else { plain }
}

impl Contest<'_> {
    /// Phase and conditions, in a few words.
    pub(super) fn conditions(&self) -> Vec<&'static str> {
        let case = &self.first.case;
        let placement = case.placement.map(|placement| match placement {
            Placement::One => "client and server on one CPU",
            Placement::Two => "client and server on two CPUs",
        });
        let reply = case.reply.map(|reply| match reply {
            Reply::Waits => "sets wait for their answers",
            Reply::Noreply => "sets do not wait",
        });
        placement.into_iter().chain(reply).collect()
    }

    /// How many times as fast `a` is as `b`.
    pub(super) fn ratio(&self, a: &Entry, b: &Entry) -> f64 {
        figure::ratio(a.figure, b.figure, self.unit.higher_is_better())
    }

    /// Tavola beside the store it does worst against: the fastest that is ahead of it, else one
    /// that is level with it, else the fastest; of those with the same guarantees only, if `same`.
    /// Nothing when either took no part.
    pub(super) fn standing(&self, same: bool) -> Option<Standing<'_>> {
        let standings = self.standings();
        let counting = standings.filter(|standing| standing.other.store.same || !same);
        counting.min_by_key(Standing::outcome)
    }

    /// Tavola beside each store that is ahead of it, the fastest first.
    pub(super) fn ahead(&self) -> impl Iterator<Item = Standing<'_>> {
        let standings = self.standings();
        standings.filter(|standing| standing.outcome() == Outcome::Other)
    }

    /// Tavola's best beside each other store, the fastest first.
    fn standings(&self) -> impl Iterator<Item = Standing<'_>> {
        let ours = self.entries.iter().find(|entry| entry.store.ours);
        let others = self.entries.iter().filter(|entry| !entry.store.ours);
        ours.into_iter().flat_map(move |ours| {
            others.clone().map(move |other| Standing {
                ours,
                other,
                ratio: self.ratio(ours, other),
                level: figure::is_level(ours.figure, other.figure),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::stores::stores;
    use super::*;

    fn row(peer: &str, median: f64, spread: f64) -> Row {
        Row {
            workload: "e".to_owned(),
            title: "1 M keys".to_owned(),
            peer: peer.to_owned(),
            phase: "get".to_owned(),
            unit: "ops/s".to_owned(),
            median,
            least: median - spread,
            most: median + spread,
            verified: true,
            ..Row::default()
        }
    }

    fn of(rows: &[Row]) -> Results {
        Results {
            rows: rows.to_vec(),
            ..Results::default()
        }
    }

    #[test]
    fn the_winner_is_named_whoever_it_is() {
        let run = of(&[
            row("lmdb", 2e6, 1e5),
            row("tinycdb", 9e6, 1e5),
            row("tavola", 6e6, 1e5),
        ]);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        let any = all[0].standing(false).expect("two took part");
        assert_eq!(
            (any.other.label.as_str(), any.outcome()),
            ("tinycdb", Outcome::Other)
        );
        let same = all[0].standing(true).expect("LMDB promises the same");
        assert_eq!(
            (same.other.label.as_str(), same.outcome()),
            ("lmdb", Outcome::Ours)
        );
        assert!((same.ratio - 3.0).abs() < 1e-9);
    }

    #[test]
    fn all_who_are_ahead_are_named_and_tavola_stands_with_its_best() {
        let run = of(&[
            row("tinycdb", 8e6, 1e5),
            row("lmdb", 9e6, 1e5),
            row("papaya", 6.2e6, 3e5),
            row("tavola-huge", 6e6, 1e5),
            row("tavola", 5e6, 1e5),
            row("sqlite", 1e6, 1e5),
        ]);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        let ahead: Vec<_> = all[0].ahead().map(|ahead| &*ahead.other.label).collect();
        assert_eq!(ahead, ["lmdb", "tinycdb"]);
        let worst = all[0].standing(true).expect("two took part");
        assert_eq!(
            (worst.ours.label.as_str(), worst.other.label.as_str()),
            ("tavola-huge", "lmdb")
        );
    }

    #[test]
    fn who_is_ahead_counts_before_a_faster_one_that_is_level() {
        let run = of(&[
            row("lmdb", 6.5e6, 2e6),
            row("bdb", 6.4e6, 1e5),
            row("tavola", 6e6, 1e5),
        ]);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        let standing = all[0].standing(false).expect("two took part");
        assert_eq!(
            (standing.other.label.as_str(), standing.outcome()),
            ("bdb", Outcome::Other)
        );
    }

    #[test]
    fn less_is_better_for_times() {
        let mut rows = [row("lmdb", 2.0, 0.1), row("tavola", 8.0, 0.1)];
        rows.iter_mut()
            .for_each(|row| row.unit = "us/op".to_owned());
        let run = of(&rows);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        assert_eq!(all[0].entries[0].label, "lmdb");
        let standing = all[0].standing(true).expect("two took part");
        assert_eq!(standing.outcome(), Outcome::Other);
        assert!((standing.ratio - 0.25).abs() < 1e-9);
    }

    #[test]
    fn overlapping_runs_are_level_and_wrong_answers_do_not_count() {
        let mut wrong = row("sqlite", 9e9, 1.0);
        wrong.verified = false;
        let run = of(&[row("tavola", 2.0e6, 2e5), row("lmdb", 2.2e6, 1e5), wrong]);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        assert_eq!((all[0].entries.len(), all[0].wrong.len()), (2, 1));
        let standing = all[0].standing(true).expect("two took part");
        assert_eq!(
            (standing.other.label.as_str(), standing.outcome()),
            ("lmdb", Outcome::Level)
        );
    }

    #[test]
    fn timed_calls_are_compared_by_their_latencies() {
        let mut rows = [row("tavola", 2e6, 0.0), row("lmdb", 3e6, 0.0)];
        for (row, p99) in rows.iter_mut().zip([500, 1500]) {
            row.case.timed = true;
            row.latency.p99_ns = Some(p99);
        }
        let run = of(&rows);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        let standing = all[0].standing(true).expect("two took part");
        assert_eq!(standing.outcome(), Outcome::Ours);
        assert!((standing.ratio - 3.0).abs() < 1e-9);
        assert_eq!(all[0].unit, Unit("ns"));
    }

    #[test]
    fn what_differs_in_placement_or_size_is_another_contest() {
        let mut two = row("memcached", 1.0, 0.0);
        two.case.placement = Some(Placement::Two);
        let mut large = row("lmdb", 1.0, 0.0);
        large.case.keys = 10;
        // Where its server was does not part it from the others of its case.
        let mut served = row("redis", 1.0, 0.0);
        served.placement = Some(Placement::One);
        let run = of(&[row("tavola", 1.0, 0.0), two, large, served]);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        assert_eq!(all.len(), 3);
        let standing = |contest: &Contest| contest.standing(false).is_some();
        assert_eq!(
            all.iter().map(standing).collect::<Vec<_>>(),
            [true, false, false]
        );
    }

    #[test]
    fn a_language_tells_two_programs_of_one_peer_apart() {
        let mut rows = [
            row("tavola", 1.0, 0.0),
            row("tavola", 2.0, 0.0),
            row("lmdb", 3.0, 0.0),
        ];
        for (row, language) in rows.iter_mut().zip(["C", "Rust", "C"]) {
            row.language = language.to_owned();
        }
        let run = of(&rows);
        let stores = stores(&run);
        let all = contests(&run, &stores);
        let labels: Vec<_> = all[0].entries.iter().map(|entry| &*entry.label).collect();
        assert_eq!(labels, ["lmdb", "tavola, Rust", "tavola, C"]);
    }
}
