//! Flipped bits, tried one at a time by actors: a flip that ends its actor is a fault, and the next
//! actor continues behind it.

use super::part::{Actor, End, say};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How many flips are tried: `TAVOLA_FLIPS` is `sample` in `make test-long`, or a `quarter` of it,
/// or `every`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Flips {
    /// A twentieth of the sample.
    Few,
    Quarter,
    Sample,
    /// Each bit of each place; takes hours.
    Every,
}

impl Flips {
    pub fn wanted() -> Self {
        match std::env::var("TAVOLA_FLIPS").as_deref() {
            Err(_) => Self::Few,
            Ok("quarter") => Self::Quarter,
            Ok("sample") => Self::Sample,
            Ok("every") => Self::Every,
            Ok(other) => {
                panic!("TAVOLA_FLIPS is `{other}`; set it to `quarter`, `sample` or `every`")
            }
        }
    }

    /// The flips of a sample that are tried: always the same ones, of every place.
    pub fn of(self, sample: Vec<(u64, u32)>) -> Vec<(u64, u32)> {
        match self {
            Self::Few => sample.into_iter().step_by(20).collect(),
            Self::Quarter => sample.into_iter().step_by(4).collect(),
            Self::Sample | Self::Every => sample,
        }
    }
}

/// Of an actor: tries the flips from some number on. Says each number before it is tried, then what
/// went wrong.
pub fn try_each(bits: &[(u64, u32)], from: usize, mut attempt: impl FnMut(usize, u64, u32)) {
    for (index, (at, bit)) in bits.iter().copied().enumerate().skip(from) {
        say(format!("try {index}"));
        let tried = catch_unwind(AssertUnwindSafe(|| attempt(index, at, bit)));
        if let Err(why) = tried {
            let why = why.downcast_ref::<String>().cloned().unwrap_or_default();
            say(format!("failed {index} at byte {at} bit {bit}: {why}"));
        }
    }
    say("done");
}

/// Faults of one place after which the others of that place are not tried.
const MOST_FAILURES: usize = 10;

/// Lets actors, which `start` starts at a number, try all flips of a place.
pub fn follow_all(place: &str, failures: &mut Vec<String>, start: impl Fn(usize) -> Actor) {
    let (mut next, before) = (Some(0), failures.len());
    while let Some(from) = next.filter(|_| failures.len() < before + MOST_FAILURES) {
        next = follow(&mut start(from), place, from, failures);
    }
}

/// Hears an actor out. Returns the flip to continue with if the actor died at one.
fn follow(
    actor: &mut Actor,
    place: &str,
    from: usize,
    failures: &mut Vec<String>,
) -> Option<usize> {
    let mut current = from;
    loop {
        match actor.hear_or_end() {
            Ok(line) if line == "done" => {
                assert_eq!(actor.end(), End::Exit(0));
                return None;
            }
            Ok(line) => match line.strip_prefix("try ") {
                Some(index) => current = index.parse().unwrap(),
                None => failures.push(format!("{place}: {line}")),
            },
            Err(end) => {
                failures.push(format!("{place}: flip {current} ended it: {end:?}"));
                return Some(current + 1);
            }
        }
    }
}

/// Panics with all that went wrong.
pub fn assert_none(failures: &[String]) {
    let count = failures.len();
    let shown = &failures[..count.min(40)];
    assert!(
        failures.is_empty(),
        "{count} failures:\n{}",
        shown.join("\n")
    );
}
