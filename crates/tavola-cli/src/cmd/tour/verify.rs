//! What the tour claims, each claim checked against the table and the journals.
//!
//! A write counts as acknowledged when it is in its process's journal. Everything acknowledged must
//! be there; and since a process has one write under way at a time, at most one more for each kill.

use std::fmt;

use tavola::Table;

use super::journal::Acknowledged;
use super::records::Records;
use super::seats::{Seat, Seats};
use super::{history_key, owner_of, record_of_edit, value};
use crate::error::CliError;
use crate::units::{count, counted, size};

/// What came of checking one claim.
pub struct Verdict {
    pub holds: bool,
    pub text: String,
}

/// What was found about a number of writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Writes whose acknowledgement was looked up in the table.
    pub acknowledged: u64,
    /// Acknowledged, but not in the table.
    pub lost: u64,
    /// In the table, but not what was written there.
    pub wrong: u64,
    /// In the table, though the kill came before the acknowledgement.
    pub landed: u64,
}

impl Findings {
    pub fn hold(&self, kills: u32) -> bool {
        self.lost == 0 && self.wrong == 0 && self.landed <= u64::from(kills)
    }

    pub fn add(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.wrong += other.wrong;
        self.landed += other.landed;
    }

    fn verdict(self, kills: u32, what: impl fmt::Display) -> Verdict {
        let holds = self.hold(kills);
        let text = match (holds, self.landed) {
            (true, 0) => what.to_string(),
            (true, landed) => format!("{what}, and {} unacknowledged but present", count(landed)),
            (false, _) => format!(
                "{what}: {} lost, {} wrong, {} unacknowledged but present, with {}",
                count(self.lost),
                count(self.wrong),
                count(self.landed),
                counted(kills.into(), "kill"),
            ),
        };
        Verdict { holds, text }
    }
}

/// The records of one seat, which nobody else writes.
pub fn edits_of(
    table: &Table,
    records: &Records,
    seats: &Seats,
    seat: &Seat,
    acknowledged: &Acknowledged,
) -> Result<Findings, CliError> {
    let mut findings = Findings::default();
    let mut found = Vec::new();
    let count = seats.all.len() as u32;
    for (at, record) in records.all.iter().enumerate() {
        if owner_of(at, count) != seat.number {
            continue;
        }
        let expected = acknowledged.revisions[at];
        findings.acknowledged += u64::from(expected);
        let there = table.get_into(record.key.as_bytes(), &mut found)?;
        let same_text = found.starts_with(record.text.as_bytes());
        match record
            .fingerprint
            .revision(seat.number, &found)
            .filter(|_| same_text)
        {
            _ if !there => findings.lost += 1,
            None => findings.wrong += 1,
            Some(revision) if revision < expected => findings.lost += 1,
            Some(revision) => findings.landed += u64::from(revision - expected),
        }
    }
    Ok(findings)
}

/// The history of one seat: the entries acknowledged and not trimmed, each exactly as written.
pub fn history_of(
    table: &Table,
    records: &Records,
    seats: &Seats,
    seat: &Seat,
    acknowledged: &Acknowledged,
) -> Result<Findings, CliError> {
    let Acknowledged {
        history, trimmed, ..
    } = *acknowledged;
    let mut findings = Findings {
        acknowledged: history + trimmed,
        ..Findings::default()
    };
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for number in trimmed + 1..=history + 1 {
        let there = table.get_into(history_key(seat.number, number), &mut found)?;
        let at = record_of_edit(seat.number, number, seats.all.len() as u32, records);
        value::history(&records.all[at].key, number, &mut expected);
        match there {
            true if found != expected => findings.wrong += 1,
            true => findings.landed += u64::from(number > history),
            // A process may have been killed between removing it and saying so.
            false if number == trimmed + 1 && number <= history && seat.kills > 0 => {
                findings.landed += 1
            }
            false => findings.lost += u64::from(number <= history),
        }
    }
    Ok(findings)
}

/// Everything, after all processes have stopped.
pub fn everything(
    table: &Table,
    records: &Records,
    seats: &Seats,
) -> Result<Vec<Verdict>, CliError> {
    let mut edits = Findings::default();
    let mut history = Findings::default();
    let mut counts = vec![0; records.categories.len()];
    let (mut reads, mut kept) = (0, 0);
    for seat in &seats.all {
        let acknowledged = seat.acknowledged(records)?;
        edits.add(edits_of(table, records, seats, seat, &acknowledged)?);
        history.add(history_of(table, records, seats, seat, &acknowledged)?);
        counts
            .iter_mut()
            .zip(&acknowledged.counts)
            .for_each(|(sum, count)| *sum += count);
        reads += seat.progress()?.reads;
        kept += acknowledged.history - acknowledged.trimmed;
    }
    let counters = counters(table, records, &counts)?;
    let kills = seats.kills();
    let mut all = Findings::default();
    [edits, history, counters]
        .into_iter()
        .for_each(|some| all.add(some));
    let records_text = format!(
        "{}: text as loaded, with the last of {}",
        counted(records.all.len() as u64, "record"),
        counted(edits.acknowledged, "acknowledged edit"),
    );
    let history_text = format!(
        "{} of the history: all as acknowledged",
        many(kept, "entry", "entries")
    );
    let counters_text = format!(
        "sum of {}: {}",
        counted(counts.len() as u64, "shared counter"),
        counted(counters.acknowledged, "acknowledged increment"),
    );
    Ok(vec![
        edits.verdict(kills, records_text),
        history.verdict(kills, history_text),
        counters.verdict(kills, counters_text),
        one_a_kill(all, kills),
        // A process that reads anything else says so and ends, and the tour with it.
        Verdict {
            holds: true,
            text: format!("{}: all consistent and up to date", counted(reads, "read")),
        },
        size_of(table, records, &counts, kept, all.landed)?,
        whole(table)?,
        nobody_left(table)?,
    ])
}

fn counters(table: &Table, records: &Records, counts: &[u64]) -> Result<Findings, CliError> {
    let mut findings = Findings::default();
    for (category, &expected) in counts.iter().enumerate() {
        findings.acknowledged += expected;
        let found = table.get(records.counter_key(category).as_bytes())?;
        let found = found.map_or(Some(0), |text| {
            std::str::from_utf8(&text).ok()?.parse().ok()
        });
        match found {
            None => findings.wrong += 1,
            Some(found) => {
                findings.lost += expected.saturating_sub(found);
                findings.landed += found.saturating_sub(expected);
            }
        }
    }
    Ok(findings)
}

fn one_a_kill(all: Findings, kills: u32) -> Verdict {
    let writes = counted(all.acknowledged, "acknowledged write");
    let text = match (all.hold(kills), kills, all.landed) {
        (true, 0, _) => format!("{writes} in total, no process was killed"),
        (true, _, landed) => format!(
            "{} lost none of {writes} (unacknowledged but present: {})",
            counted(kills.into(), "kill"),
            count(landed),
        ),
        (false, ..) => format!("{} lost or wrong of {writes}", count(all.lost + all.wrong)),
    };
    Verdict {
        holds: all.hold(kills),
        text,
    }
}

fn size_of(
    table: &Table,
    records: &Records,
    counts: &[u64],
    kept: u64,
    landed: u64,
) -> Result<Verdict, CliError> {
    let used = counts.iter().filter(|&&count| count > 0).count() as u64;
    // The marker is one key more.
    let expected = records.all.len() as u64 + used + kept + 1;
    let found = table.len()?;
    let holds = found.abs_diff(expected) <= landed;
    let text = match holds {
        true => format!("{}, as expected", counted(found, "key")),
        false => format!("{} instead of {}", counted(found, "key"), count(expected)),
    };
    Ok(Verdict { holds, text })
}

/// From end to end, as `tavola check` does it.
pub fn whole(table: &Table) -> Result<Verdict, CliError> {
    let report = table.check()?;
    let text = match report.problems.first() {
        None => format!(
            "check: no problems in {} of items",
            size(report.bytes_in_use)
        ),
        Some(first) => {
            format!(
                "check: {}, first: {first}",
                counted(report.problem_count, "problem")
            )
        }
    };
    Ok(Verdict {
        holds: report.is_clean(),
        text,
    })
}

/// Whether all who were attached, dead or alive, are gone from the list of participants.
fn nobody_left(table: &Table) -> Result<Verdict, CliError> {
    table.reclaim()?;
    let leader = std::process::id();
    let others = table
        .participants()?
        .into_iter()
        .filter(|one| one.pid != leader)
        .count() as u64;
    let text = match others {
        0 => "no dead process is left in the participant list".to_owned(),
        _ => format!(
            "{} still in the participant list",
            counted(others, "other process")
        ),
    };
    Ok(Verdict {
        holds: others == 0,
        text,
    })
}

fn many(number: u64, one: &str, more: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_or_wrong_write_or_one_too_many_fails() {
        let good = Findings {
            acknowledged: 9,
            landed: 1,
            ..Findings::default()
        };
        assert!(good.hold(1) && good.verdict(1, "9 writes").holds);
        assert!(!good.hold(0), "one landed, but nobody was killed");
        assert!(!Findings { lost: 1, ..good }.hold(1));
        assert!(!Findings { wrong: 1, ..good }.hold(1));
        let bad = Findings { lost: 2, ..good }.verdict(1, "9 writes");
        assert!(!bad.holds && bad.text.contains("2 lost"), "{}", bad.text);
    }
}
