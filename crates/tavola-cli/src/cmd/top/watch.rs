//! Looks at one table, again and again, and what has changed between two of them.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use tavola::{DurableStats, Holder, Latencies, LiveKeys, LogStats, Participant, ShardStats, Stats};

use crate::args::options;
use crate::beside::{self, Depth};
use crate::output;

/// Values of the chart that are kept: more than a screen is wide.
const POINTS: usize = 1000;
/// The time that latencies are shown of.
const LATENCIES_OF: Duration = Duration::from_secs(60);
/// Looks that are kept for it at most.
const LATENCIES_KEPT: usize = 64;
/// How long a note is shown.
const NOTE_LASTS: Duration = Duration::from_secs(60);

/// What a table said at one moment.
pub struct Snapshot {
    pub at: Instant,
    pub stats: Stats,
    pub participants: Vec<Participant>,
    pub shards: Vec<ShardStats>,
    pub logs: Vec<(String, LogStats)>,
    pub depths: Vec<Depth>,
    pub keys: LiveKeys,
    pub holders: Vec<Holder>,
    pub durable: Option<DurableStats>,
    latencies: Latencies,
}

impl Snapshot {
    /// Opens the table again, to notice that it was dropped or created again. A process that only
    /// reads is not a participant, and needs no write permission.
    fn at(name: &OsStr) -> Result<Snapshot, tavola::Error> {
        let table = options().open_read_only(name)?;
        let mut participants = table.participants()?;
        participants.retain(|one| !one.is_this_process());
        Ok(Snapshot {
            at: Instant::now(),
            stats: table.stats()?,
            participants,
            shards: table.shard_stats()?,
            logs: beside::logs(&table)?,
            depths: beside::depths(&table)?,
            durable: table.durable_stats()?,
            keys: table.live_keys()?,
            holders: table.lock_holders()?,
            latencies: table.latencies()?,
        })
    }

    /// How often keys were set, changed or removed by calls that asked for it.
    pub fn changes(&self) -> u64 {
        let writes = self.shards.iter().map(|shard| shard.writes);
        writes.fold(0, u64::wrapping_add)
    }

    /// Returns the syncs of the journal of a durable table.
    pub fn syncs(&self) -> u64 {
        self.durable.as_ref().map_or(0, |durable| durable.syncs)
    }

    pub fn is_cache(&self) -> bool {
        self.stats.capacity.is_some()
    }
}

/// A table that is looked at.
pub struct Watch {
    name: OsString,
    now: Result<Snapshot, String>,
    before: Option<Snapshot>,
    points: VecDeque<Option<f64>>,
    /// The latencies of earlier looks, the oldest first.
    latencies: VecDeque<(Instant, Latencies)>,
    note: Option<(Instant, &'static str)>,
}

impl Watch {
    /// Looks for the first time.
    pub fn begin(name: OsString) -> Result<Watch, tavola::Error> {
        let now = Snapshot::at(&name)?;
        let latencies = VecDeque::from([(now.at, now.latencies.clone())]);
        Ok(Watch {
            name,
            now: Ok(now),
            before: None,
            points: VecDeque::new(),
            latencies,
            note: None,
        })
    }

    /// The name as it was given, fit for the screen.
    pub fn label(&self) -> String {
        output::printable(self.name.as_bytes()).into_owned()
    }

    /// Looks once more. That the table is gone is something to show, and no error.
    pub fn update(&mut self) {
        let update = Snapshot::at(&self.name).map_err(|error| error.to_string());
        let before = std::mem::replace(&mut self.now, update);
        match (&self.now, before) {
            (Ok(now), Ok(before)) if now.stats.uuid == before.stats.uuid => {
                self.before = Some(before);
            }
            (Ok(_), _) => self.restart(Some("a new table of this name: statistics restarted")),
            (Err(_), _) => self.restart(None),
        }
        self.keep();
    }

    /// What there is to show; else why there is nothing.
    pub fn view(&self) -> Result<View<'_>, &str> {
        let now = self.now.as_ref().map_err(String::as_str)?;
        let (latencies, recent) = self.latencies_of(now);
        let note = self.note.filter(|(at, _)| at.elapsed() < NOTE_LASTS);
        Ok(View {
            now,
            before: self.before.as_ref(),
            points: &self.points,
            latencies,
            latencies_are_recent: recent,
            note: note.map(|(_, note)| note),
        })
    }

    fn restart(&mut self, note: Option<&'static str>) {
        self.before = None;
        self.points.clear();
        self.latencies.clear();
        self.note = note.map(|note| (Instant::now(), note));
    }

    /// Keeps what later looks need of this one.
    fn keep(&mut self) {
        let Ok(now) = &self.now else { return };
        if let Some(before) = &self.before {
            self.points.push_back(point(before, now));
            let many = self.points.len().saturating_sub(POINTS);
            self.points.drain(..many);
        }
        let at = now.at;
        let step = LATENCIES_OF / LATENCIES_KEPT as u32;
        let last = self.latencies.back().map(|(last, _)| *last);
        if last.is_none_or(|last| at.duration_since(last) >= step) {
            self.latencies.push_back((at, now.latencies.clone()));
        }
        // One that is older than needed is the one to compare with.
        let is_old = |(then, _): &(Instant, _)| at.duration_since(*then) > LATENCIES_OF;
        while self.latencies.get(1).is_some_and(is_old) {
            self.latencies.pop_front();
        }
    }

    /// Those of the last minute, when there were any; else all there are.
    fn latencies_of(&self, now: &Snapshot) -> (Latencies, bool) {
        let mut recent = now.latencies.clone();
        if let Some((_, then)) = self.latencies.front() {
            subtract(&mut recent.reads, &then.reads);
            subtract(&mut recent.writes, &then.writes);
        }
        let any = [&recent.reads, &recent.writes];
        match any.iter().any(|buckets| total(buckets) > 0) {
            true => (recent, true),
            false => (now.latencies.clone(), false),
        }
    }
}

/// Calls in all buckets.
pub fn total(buckets: &[(u64, u64)]) -> u64 {
    buckets.iter().map(|(_, count)| count).sum()
}

fn subtract(buckets: &mut [(u64, u64)], then: &[(u64, u64)]) {
    for ((_, count), (_, then)) in buckets.iter_mut().zip(then) {
        *count = count.saturating_sub(*then);
    }
}

/// A value of the chart: of a cache its hit ratio, of another table its changes a second.
fn point(before: &Snapshot, now: &Snapshot) -> Option<f64> {
    let of = |update: &Snapshot| (update.stats.hits, update.stats.misses);
    let ((hits_before, misses_before), (hits, misses)) = (of(before), of(now));
    if !now.is_cache() {
        return a_second(before.changes(), now.changes(), seconds(before, now));
    }
    let hits = hits.saturating_sub(hits_before) as f64;
    let reads = hits + misses.saturating_sub(misses_before) as f64;
    (reads > 0.0).then(|| hits / reads)
}

fn seconds(before: &Snapshot, now: &Snapshot) -> f64 {
    now.at.duration_since(before.at).as_secs_f64()
}

fn a_second(before: u64, now: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| now.saturating_sub(before) as f64 / seconds)
}

/// Two looks, and what was seen before them.
pub struct View<'a> {
    pub now: &'a Snapshot,
    before: Option<&'a Snapshot>,
    /// The chart, the oldest first.
    pub points: &'a VecDeque<Option<f64>>,
    pub latencies: Latencies,
    /// They are those of the last minute, not of all time.
    pub latencies_are_recent: bool,
    pub note: Option<&'static str>,
}

impl View<'_> {
    /// How much a number grew in a second; `None` after one look only.
    pub fn rate(&self, of: impl Fn(&Snapshot) -> u64) -> Option<f64> {
        let before = self.before?;
        a_second(of(before), of(self.now), seconds(before, self.now))
    }

    /// The same of a number that may fall.
    pub fn growth(&self, of: impl Fn(&Stats) -> u64) -> Option<f64> {
        let before = self.before?;
        let seconds = seconds(before, self.now);
        let grown = of(&self.now.stats) as f64 - of(&before.stats) as f64;
        (seconds > 0.0).then(|| grown / seconds)
    }

    /// Reads and writes a second of a participant; `None` when it was not there before.
    pub fn rates_of(&self, one: &Participant) -> Option<(f64, f64)> {
        let before = self.before?;
        let same = |old: &&Participant| old.slot == one.slot && old.pid == one.pid;
        let old = before.participants.iter().find(same)?;
        let seconds = seconds(before, self.now);
        let reads = |one: &Participant| one.hits.wrapping_add(one.misses);
        let reads = a_second(reads(old), reads(one), seconds)?;
        Some((reads, a_second(old.writes, one.writes, seconds)?))
    }

    /// The shards, those with the most writes since the look before first, with writes and
    /// evictions a second.
    pub fn hot_shards(&self) -> Vec<(&ShardStats, f64, f64)> {
        let Some(before) = self.before else {
            return Vec::new();
        };
        let seconds = seconds(before, self.now);
        let pairs = self.now.shards.iter().zip(&before.shards);
        let rated = pairs.filter_map(|(now, then)| {
            let writes = a_second(then.writes, now.writes, seconds)?;
            Some((now, writes, a_second(then.evicted, now.evicted, seconds)?))
        });
        let mut all: Vec<_> = rated.collect();
        all.sort_by(|(a, hot_a, _), (b, hot_b, _)| {
            let hotter = hot_b.total_cmp(hot_a);
            hotter.then(b.writes.cmp(&a.writes))
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_subtracted_is_what_came_since() {
        let mut now = [(128, 9), (256, 4), (u64::MAX, 1)];
        subtract(&mut now, &[(128, 2), (256, 4), (u64::MAX, 0)]);
        assert_eq!(now, [(128, 7), (256, 0), (u64::MAX, 1)]);
        assert_eq!(total(&now), 8);
    }

    #[test]
    fn rates_are_of_time_that_has_passed() {
        assert_eq!(a_second(10, 30, 2.0), Some(10.0));
        assert_eq!(a_second(30, 10, 2.0), Some(0.0));
        assert_eq!(a_second(10, 30, 0.0), None);
    }
}
