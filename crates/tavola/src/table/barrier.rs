//! Processes that begin at the same moment, at a key of the table.
//!
//! The value is text of four parts, `round;dead;expected;waiting`: how many rounds have begun; how
//! many of those of the last round had died; the participants that were there in the last round, or
//! have joined since; and those that wait now. A participant is named by its number. All changes go
//! through `update`, so each is one step: if a process is killed, it has come or it has not.
//!
//! | callers | what counts |
//! |---|---|
//! | as many as the caller asks for | the round begins |
//! | fewer, and all that are expected and live wait | the dead that are expected count, too |
//! | one, and nobody that is named lives | what is there is of before, and is forgotten |
//!
//! A process that died while it waited stays in `waiting`: it has come.

use super::Table;
use crate::engine::Core;
use crate::error::{Error, Result};
use crate::lock::{Me, is_alive};
use crate::values::{Attributes, Expiry};
use std::fmt::Write;
use std::mem;
use std::time::{Duration, Instant};

/// For so long a waiter looks without a pause; then it sleeps between two looks.
const EAGER: Duration = Duration::from_millis(2);
const POLL_INTERVAL: Duration = Duration::from_micros(100);
/// The time after which a waiter asks again whether the others live.
const LIVENESS_INTERVAL: Duration = Duration::from_millis(10);

/// A wait is longer than keys may live.
const LASTING: Attributes = Attributes {
    expiry: Expiry::Never,
    flags: 0,
};

impl Table {
    /// Waits until `count` threads of any processes have called this with the same key; then all
    /// calls return. Returns how many of them had died, or `None` if the others have not come
    /// within `limit`: then this call no longer counts. The same key can be used again at once.
    ///
    /// # Examples
    /// ```
    /// # let table = tavola::Table::options().max_size(1 << 20).private()?;
    /// use std::time::Duration;
    /// std::thread::scope(|scope| {
    ///     let start = || table.barrier_wait("start", 2, Duration::from_secs(60));
    ///     let other = scope.spawn(start);
    ///     assert_eq!(start()?, Some(0));
    ///     assert_eq!(other.join().expect("no panic")?, Some(0));
    ///     Ok::<(), tavola::Error>(())
    /// })?;
    /// assert_eq!(table.barrier_wait("start", 2, Duration::from_millis(1))?, None);
    /// # Ok::<(), tavola::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::BadOption`] if `count` is 0; [`Error::NotACounter`] if the key has a value of
    /// another kind; [`Error::Lengths`] in a table of fixed lengths. Otherwise as [`Table::set`].
    ///
    /// # Concurrency
    /// A call that waits for more than 2 ms looks every 100 us.
    ///
    /// # Crash
    /// A process that is killed does not hold the others up, if it has called this before or
    /// [`Table::barrier_join`]: while it waits, it has come; in later rounds it is not waited for,
    /// and counts as dead. The others find that out within some 10 ms.
    pub fn barrier_wait(
        &self,
        key: impl AsRef<[u8]>,
        count: u32,
        limit: Duration,
    ) -> Result<Option<u32>> {
        if count == 0 {
            return Err(Error::BadOption {
                option: "count",
                why: "it is 0; at least one process comes to a barrier".to_string(),
            });
        }
        let core = self.core()?;
        let barrier = Barrier {
            core,
            key: key.as_ref(),
            count: count as usize,
            me: core.writer()?,
        };
        match barrier.arrive()? {
            Arrival::Begun { dead } => Ok(Some(dead)),
            Arrival::Waiting { round } => barrier.wait(round, limit),
        }
    }

    /// Announces that this process will come to a barrier: if it dies before it does,
    /// [`Table::barrier_wait`] of the others does not wait for it. Each call announces one caller.
    /// It counts as long as one of all that are announced or wait lives.
    ///
    /// # Errors
    /// As [`Table::barrier_wait`].
    pub fn barrier_join(&self, key: impl AsRef<[u8]>) -> Result<()> {
        let core = self.core()?;
        let me = core.writer()?;
        let barrier = Barrier {
            core,
            key: key.as_ref(),
            count: usize::MAX,
            me,
        };
        barrier.change(|race| {
            race.forget_earlier(|id| barrier.is_alive(id));
            race.expected.push(me.id());
        })
    }
}

/// A barrier, for one call.
struct Barrier<'a> {
    core: &'a Core,
    key: &'a [u8],
    count: usize,
    me: Me,
}

enum Arrival {
    /// This call was the last that was missing.
    Begun { dead: u32 },
    /// The round of this number has still to begin.
    Waiting { round: u64 },
}

impl Barrier<'_> {
    fn is_alive(&self, id: u32) -> bool {
        is_alive(self.core.region(), id, self.me)
    }

    /// Changes what the key says, also if it is missing.
    fn change(&self, mut change: impl FnMut(&mut Race)) -> Result<()> {
        let metadata = self.core.keeping(LASTING)?;
        self.core.update(self.key, Some(&metadata), |old| {
            let mut race = Race::of(old)?;
            change(&mut race);
            Ok(Some(race.text()))
        })?;
        Ok(())
    }

    fn arrive(&self) -> Result<Arrival> {
        let mut arrival = Arrival::Waiting { round: 0 };
        self.change(|race| {
            race.forget_earlier(|id| self.is_alive(id));
            race.waiting.push(self.me.id());
            arrival = match race.begin(self.count, |id| self.is_alive(id)) {
                true => Arrival::Begun { dead: race.dead },
                false => Arrival::Waiting {
                    round: race.round + 1,
                },
            };
        })?;
        Ok(arrival)
    }

    /// Waits until a round has begun.
    fn wait(&self, round: u64, limit: Duration) -> Result<Option<u32>> {
        let begun = Instant::now();
        let (mut text, mut asked) = (Vec::new(), Duration::ZERO);
        loop {
            let is_there = self.core.get_into(self.key, &mut text)?;
            if is_there && Race::round_of(&text) >= round {
                return Ok(Some(Race::of(Some(&text))?.dead));
            }
            let waited = begun.elapsed();
            if waited >= limit {
                return self.leave(round);
            }
            if is_there && waited >= asked + LIVENESS_INTERVAL {
                asked = waited;
                self.begin_without_the_dead(round, &text)?;
            }
            match waited < EAGER {
                true => std::thread::yield_now(),
                false => std::thread::sleep(POLL_INTERVAL.min(limit - waited)),
            }
        }
    }

    /// Begins a round if only the dead are missing; `text` is what the key said.
    fn begin_without_the_dead(&self, round: u64, text: &[u8]) -> Result<()> {
        let is_alive = |id| self.is_alive(id);
        if !Race::of(Some(text))?.begin(self.count, is_alive) {
            return Ok(());
        }
        let metadata = self.core.keeping(LASTING)?;
        self.core.update(self.key, Some(&metadata), |old| {
            let Some(old) = old else {
                return Ok(None);
            };
            let mut race = Race::of(Some(old))?;
            if race.round < round {
                race.begin(self.count, is_alive);
            }
            Ok(Some(race.text()))
        })?;
        Ok(())
    }

    /// Takes back that this call came, unless the round has just begun. A key that was removed
    /// meanwhile counts nobody any more, and stays missing.
    fn leave(&self, round: u64) -> Result<Option<u32>> {
        let mut late = None;
        let metadata = self.core.keeping(LASTING)?;
        self.core.update(self.key, Some(&metadata), |old| {
            let Some(old) = old else {
                return Ok(None);
            };
            let mut race = Race::of(Some(old))?;
            late = (race.round >= round).then_some(race.dead);
            if late.is_none() {
                remove_one(&mut race.waiting, self.me.id());
            }
            Ok(Some(race.text()))
        })?;
        Ok(late)
    }
}

/// What the key says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Race {
    round: u64,
    dead: u32,
    expected: Vec<u32>,
    waiting: Vec<u32>,
}

impl Race {
    /// Reads the text of a key; a missing one is a race that nobody has come to.
    fn of(text: Option<&[u8]>) -> Result<Self> {
        match text {
            None => Ok(Self::default()),
            Some(text) => Self::parse(text).ok_or(Error::NotACounter),
        }
    }

    /// Missing parts are empty, so that a counter is a race, too.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(text).ok()?.split(';');
        let round = parts.next()?.parse().ok()?;
        let dead = parts.next().map_or(Ok(0), str::parse).ok()?;
        let mut ids = || {
            let words = parts.next().unwrap_or("").split_ascii_whitespace();
            words.map(str::parse).collect::<Result<Vec<u32>, _>>().ok()
        };
        let (expected, waiting) = (ids()?, ids()?);
        parts.next().is_none().then_some(Self {
            round,
            dead,
            expected,
            waiting,
        })
    }

    /// Returns the number of rounds that a text says, or 0.
    fn round_of(text: &[u8]) -> u64 {
        let digits = text.iter().take_while(|byte| byte.is_ascii_digit());
        digits.fold(0, |sum, digit| {
            u64::wrapping_mul(sum, 10).wrapping_add(u64::from(digit - b'0'))
        })
    }

    fn text(&self) -> Vec<u8> {
        if self.dead == 0 && self.expected.is_empty() && self.waiting.is_empty() {
            return self.round.to_string().into_bytes();
        }
        let mut text = format!("{};{};", self.round, self.dead);
        let put = |text: &mut String, ids: &[u32]| {
            for (at, id) in ids.iter().enumerate() {
                let space = if at == 0 { "" } else { " " };
                let _ = write!(text, "{space}{id}");
            }
        };
        put(&mut text, &self.expected);
        text.push(';');
        put(&mut text, &self.waiting);
        text.into_bytes()
    }

    /// Forgets those of an earlier use of the key, of whom nobody lives.
    fn forget_earlier(&mut self, is_alive: impl Fn(u32) -> bool) {
        let mut all = self.waiting.iter().chain(&self.expected);
        if !all.any(|id| is_alive(*id)) {
            self.expected.clear();
            self.waiting.clear();
        }
    }

    /// Begins the next round, if all have come that can. Returns whether it did.
    fn begin(&mut self, count: usize, is_alive: impl Fn(u32) -> bool) -> bool {
        let mut absent = self.expected.clone();
        for id in &self.waiting {
            remove_one(&mut absent, *id);
        }
        let (living, mut gone): (Vec<u32>, Vec<u32>) =
            absent.into_iter().partition(|id| is_alive(*id));
        let missing = count.saturating_sub(self.waiting.len());
        if missing > 0 && (!living.is_empty() || gone.len() < missing) {
            return false;
        }
        gone.truncate(missing);
        let died = self.waiting.iter().filter(|id| !is_alive(**id)).count();
        self.round += 1;
        self.dead = (died + gone.len()) as u32;
        self.expected = mem::take(&mut self.waiting);
        self.expected.append(&mut gone);
        true
    }
}

fn remove_one(ids: &mut Vec<u32>, id: u32) {
    if let Some(at) = ids.iter().position(|one| *one == id) {
        ids.swap_remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(round: u64, dead: u32, expected: &[u32], waiting: &[u32]) -> Race {
        Race {
            round,
            dead,
            expected: expected.to_vec(),
            waiting: waiting.to_vec(),
        }
    }

    #[test]
    fn races_survive_their_text() {
        for (one, text) in [
            (race(0, 0, &[], &[]), "0"),
            (race(7, 1, &[3, 3, 4], &[5]), "7;1;3 3 4;5"),
            (race(u64::MAX, u32::MAX, &[u32::MAX], &[1, 2]), ""),
        ] {
            let written = one.text();
            assert!(text.is_empty() || written == text.as_bytes());
            assert_eq!(Race::round_of(&written), one.round);
            assert_eq!(Race::parse(&written), Some(one));
        }
        assert_eq!(Race::parse(b"12"), Some(race(12, 0, &[], &[])));
        for bad in [
            "",
            "x",
            "1;x",
            "1;0;y",
            "1;0;;z",
            "1;0;;;",
            "-1",
            "1;0;4294967296;",
        ] {
            assert_eq!(Race::parse(bad.as_bytes()), None, "{bad}");
        }
    }

    /// Numbers from 100 on are of the dead.
    fn lives(id: u32) -> bool {
        id < 100
    }

    #[test]
    fn a_round_begins_when_all_have_come_that_can() {
        // Before, how many come, after.
        let cases = [
            (race(0, 0, &[], &[1, 2]), 3, None),
            (race(0, 0, &[], &[1, 2]), 2, Some(race(1, 0, &[1, 2], &[]))),
            // Two threads of one process.
            (race(0, 0, &[1, 1], &[1]), 2, None),
            // It died while it waited.
            (race(0, 0, &[], &[1, 100]), 3, None),
            (
                race(0, 0, &[], &[1, 100]),
                2,
                Some(race(1, 1, &[1, 100], &[])),
            ),
            // It died before it came.
            (
                race(4, 0, &[1, 100], &[1]),
                2,
                Some(race(5, 1, &[1, 100], &[])),
            ),
            (race(4, 0, &[1, 100], &[1]), 3, None),
            // One that lives is awaited, although others have died.
            (race(4, 0, &[1, 2, 100], &[1]), 2, None),
            (race(4, 0, &[1, 2, 100], &[1]), 3, None),
            (
                race(4, 0, &[1, 2, 100], &[1, 2]),
                3,
                Some(race(5, 1, &[1, 2, 100], &[])),
            ),
            // Others come in the place of the dead, or of those that stay away.
            (
                race(4, 1, &[1, 100], &[1, 2]),
                2,
                Some(race(5, 0, &[1, 2], &[])),
            ),
            (
                race(4, 0, &[1, 2], &[3, 4]),
                2,
                Some(race(5, 0, &[3, 4], &[])),
            ),
        ];
        for (mut before, count, after) in cases {
            let shown = format!("{before:?} of {count}");
            let has_begun = before.begin(count, lives);
            assert_eq!(has_begun, after.is_some(), "{shown}");
            if let Some(after) = after {
                assert_eq!(before, after, "{shown}");
            }
        }
    }

    #[test]
    fn what_is_of_before_is_forgotten() {
        let mut all_dead = race(4, 0, &[100, 101], &[102]);
        all_dead.forget_earlier(lives);
        assert_eq!(all_dead, race(4, 0, &[], &[]));
        let mut one_lives = race(4, 0, &[100, 1], &[102]);
        one_lives.forget_earlier(lives);
        assert_eq!(one_lives, race(4, 0, &[100, 1], &[102]));
    }
}
