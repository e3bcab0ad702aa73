//! Power failures: what is left is a table as it was after some call, not before the last one that
//! had returned.
//!
//! `TAVOLA_CUTS` multiplies the number of random cuts. From 2 on, all histories of three calls are
//! tried, too.

use super::{Contents, contents, create, open};
use crate::engine::OnDamage;
use crate::sys::disk::HomeDir;
use crate::sys::disk::simulated::check::{CutChoices, CutCount, check_all_cuts};
use crate::sys::disk::simulated::{SimulatedHome, count_of};
use crate::table::Table;
use std::collections::HashSet;

/// Returns by how much the number of cuts is multiplied.
fn times() -> u64 {
    std::env::var("TAVOLA_CUTS").map_or(1, |n| n.parse().expect("a whole number"))
}

/// A call of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Call {
    Set(u8, usize),
    Remove(u8),
    /// Two keys at once.
    Both(u8, u8),
    Append(u8),
    Snapshot,
}

/// Does a call, and the same to the contents as they should be.
fn perform(table: &Table, call: Call, number: usize, model: &mut Contents) {
    let value = |len: usize| vec![number as u8 + 1; len];
    match call {
        Call::Set(key, len) => {
            table.set([key], value(len)).unwrap();
            model.insert(vec![key], value(len));
        }
        Call::Remove(key) => {
            table.remove([key]).unwrap();
            model.remove(&vec![key]);
        }
        Call::Both(one, other) => {
            table
                .transaction(|t| {
                    t.set([one], value(9))?;
                    t.set([other], value(9))
                })
                .unwrap();
            model.insert(vec![one], value(9));
            model.insert(vec![other], value(9));
        }
        Call::Append(key) => {
            table.append([key], value(5)).unwrap();
            if let Some(old) = model.get_mut(&vec![key]) {
                old.extend(value(5));
            }
        }
        Call::Snapshot => assert!(table.snapshot().unwrap()),
    }
}

/// A life of a table: what it does after it was opened, and what it may hold before and after each
/// call.
struct Life {
    states: Vec<Contents>,
}

impl Life {
    fn of(home: &SimulatedHome, table: &Table, calls: &[Call], first: usize) -> Self {
        let mut model = contents(table);
        let mut states = vec![model.clone()];
        for (i, call) in calls.iter().enumerate() {
            perform(table, *call, first + i, &mut model);
            states.push(model.clone());
            home.acknowledge((first + i + 1) as u64);
        }
        Self { states }
    }
}

/// Lets the power fail at each moment of a life, and checks each outcome. In a second life after
/// each outcome, `more` is done, and the power fails again, in a few of all ways.
fn judge(calls: &[Call], choices: CutChoices, more: &[Call], count: &mut CutCount) {
    let home = SimulatedHome::new();
    let table = create(&home).unwrap();
    // Before the first call nothing was promised but the empty table.
    home.acknowledge(0);
    let life = Life::of(&home, &table, calls, 0);
    drop(table);
    let mut judged_before = HashSet::new();
    let mut second = CutCount::default();
    let judged = check_all_cuts(&home.history(), choices, |left, acknowledged| {
        let least = acknowledged.iter().max().copied();
        if !judged_before.insert((left.image(), least)) {
            return Ok(());
        }
        if least.is_none() && left.open("table").is_err() {
            return Ok(());
        }
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let found = contents(&table);
        let from = least.unwrap_or(0) as usize;
        if !life.states[from..].contains(&found) {
            return Err(format!(
                "{found:?} is not the table after call {from} or a later one"
            ));
        }
        if more.is_empty() {
            return Ok(());
        }
        drop(table);
        second += second_life(&left, more)?;
        Ok(())
    });
    match judged {
        Ok(first) => {
            *count += first;
            *count += second;
        }
        Err(failure) => panic!("{calls:?}: {failure}"),
    }
}

/// Continues after a power failure, and lets the power fail again.
fn second_life(left: &SimulatedHome, calls: &[Call]) -> Result<CutCount, String> {
    let left = SimulatedHome::from_image(left.image(), Vec::new());
    let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
    let begin = left.history().len();
    left.acknowledge(1000);
    let life = Life::of(&left, &table, calls, 1000);
    drop(table);
    let choices = CutChoices::Random {
        seed: begin as u64,
        count: 2,
    };
    let judged = check_all_cuts(&left.history(), choices, |left, acknowledged| {
        let table = open(&left, OnDamage::Refuse).map_err(|error| error.to_string())?;
        let found = contents(&table);
        let from = acknowledged.iter().max().map_or(0, |last| last - 1000) as usize;
        match life.states[from..].contains(&found) {
            true => Ok(()),
            false => Err(format!(
                "second life: {found:?} is not as after call {from}"
            )),
        }
    });
    judged.map_err(|failure| failure.to_string())
}

const SHORT: [Call; 6] = [
    Call::Set(1, 9),
    Call::Set(1, 700),
    Call::Both(1, 2),
    Call::Remove(1),
    Call::Append(1),
    Call::Snapshot,
];

#[test]
fn short_histories_survive_every_power_failure() {
    let mut count = CutCount::default();
    let choices = CutChoices::Exhaustive { limit: 400 };
    for one in SHORT.into_iter().step_by(count_of(1, 3)) {
        for other in SHORT {
            if times() == 1 {
                judge(&[one, other], choices, &[], &mut count);
                continue;
            }
            // These have the moments of the shorter histories, too.
            for third in SHORT {
                judge(&[one, other, third], choices, &[], &mut count);
            }
        }
    }
    println!("{count:?}");
    let least = if times() == 1 {
        count_of(5_000, 1_000)
    } else {
        40_000
    };
    assert!(count.cuts > least && count.unfinished == 0, "{count:?}");
}

#[test]
fn long_histories_survive_random_power_failures() {
    let mut count = CutCount::default();
    let mut random = 7u64;
    let mut below = |bound: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % bound
    };
    for seed in 0..count_of(4, 1) as u64 * times() {
        let calls: Vec<Call> = (0..count_of(14, 10))
            .map(|_| match below(9) {
                0..=2 => Call::Set(below(4) as u8, below(1500) as usize),
                3 => Call::Set(below(4) as u8, 40_000),
                4 => Call::Remove(below(4) as u8),
                5 => Call::Both(below(4) as u8, below(4) as u8),
                6 | 7 => Call::Append(below(4) as u8),
                _ => Call::Snapshot,
            })
            .collect();
        judge(
            &calls,
            CutChoices::Random {
                seed,
                count: count_of(3, 2),
            },
            &[],
            &mut count,
        );
    }
    println!("{count:?}");
    let least = count_of(1_000, 80) as u64;
    assert!(count.cuts as u64 > least * times(), "{count:?}");
}

#[test]
fn a_table_survives_a_second_power_failure() {
    let mut count = CutCount::default();
    let calls = [
        Call::Set(1, 600),
        Call::Both(1, 2),
        Call::Snapshot,
        Call::Append(1),
    ];
    let more = [
        Call::Set(3, 300),
        Call::Remove(1),
        Call::Snapshot,
        Call::Append(3),
    ];
    for seed in 1..=times() {
        let choices = CutChoices::Random {
            seed,
            count: count_of(2, 1),
        };
        judge(&calls, choices, &more, &mut count);
    }
    println!("{count:?}");
    let least = count_of(1_000, 300) as u64;
    assert!(count.cuts as u64 > least * times(), "{count:?}");
}
