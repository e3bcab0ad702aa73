//! The loops of programs in Rust; those of C are the same (`peers/c/harness.c`).
//!
//! Key i is 8 bytes of a bijection of i, its value the key's word repeated. Keys are put in the
//! order of i, which is no order of the keys, and asked for in an order that `seed` fixes.

use std::sync::Barrier;
use std::time::Instant;

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;

use super::{Store, end};
use crate::bytes::mix64;
use crate::clock::{monotonic_ns, wait_until};
use crate::compare::job::{Case, Job, Latency, PhaseLine};
use crate::duty::{Lines, answer};
use crate::order::{Order, share};
use crate::{Error, Result};

/// The operations between two readings of the clock.
const STRIDE: usize = 64;
/// Phases that change nothing are gone through again until so much time has passed.
const LEAST_NS: u64 = 100_000_000;
/// A put may take so many times as long as the other phases, so that all of the keys are there.
const PUT_TIMES: u64 = 8;
/// Each so-manieth operation of the mix is a remove and a put.
const EVERY: u32 = 50;
const SECOND_NS: u64 = 1_000_000_000;

/// Goes through the phases of a job, by threads or as one of several processes. `memory_before` is
/// what the program had before the store was made.
pub(super) fn run(job: &Job, store: &impl Store, memory_before: u64) -> Result<()> {
    let case = &job.case;
    let in_threads = !job.peer.starts_with("tavola-");
    let threads = if in_threads { case.procs.max(1) } else { 1 };
    let among_processes = !in_threads && case.procs > 1;
    let mut lines = Lines::default();
    let mut there: Vec<u64> = (0..threads).map(|_| u64::MAX).collect();
    for phase in &case.phases {
        let start_ns = match among_processes {
            true => begin(phase, &mut lines)?,
            false => monotonic_ns(),
        };
        let before = cpu_ns();
        let barrier = Barrier::new(threads as usize);
        let parts: Vec<Result<Part>> = std::thread::scope(|scope| {
            let spawn = |thread: usize| {
                let part = if in_threads { thread as u32 } else { case.proc };
                let (barrier, there) = (&barrier, there[thread]);
                let work = move || {
                    let share = part_of(case, part, there);
                    barrier.wait();
                    Work::new(store, case, share, job.seed).phase(phase)
                };
                match threads {
                    1 => Handle::Done(work()),
                    _ => Handle::Thread(scope.spawn(work)),
                }
            };
            let handles: Vec<_> = (0..threads as usize).map(spawn).collect();
            handles.into_iter().map(Handle::join).collect()
        });
        let mut all = Vec::new();
        for part in parts {
            all.push(part?);
        }
        if phase.starts_with("put") {
            there = all.iter().map(|part| part.ops).collect();
        }
        answer(&line(phase, &all, start_ns, cpu_ns() - before, case))?;
    }
    if among_processes {
        begin("end", &mut lines)?;
    }
    let keys = match among_processes {
        true => there[0],
        false => store.len()?,
    };
    answer(&end(store, memory_before, keys)?)
}

enum Handle<'scope, T> {
    Done(T),
    Thread(std::thread::ScopedJoinHandle<'scope, T>),
}

impl<T> Handle<'_, T> {
    fn join(self) -> T {
        match self {
            Self::Done(done) => done,
            Self::Thread(thread) => thread.join().expect("the threads do not panic"),
        }
    }
}

#[derive(Deserialize)]
struct Go {
    start_at_ns: u64,
}

/// Reports to the leader that this process is ready, and waits for the instant it says.
fn begin(phase: &str, lines: &mut Lines) -> Result<u64> {
    answer(&serde_json::json!({ "ready": phase }))?;
    let Some(go) = lines.next::<Go>()? else {
        return Err(Error::worker("its leader is gone"));
    };
    wait_until(go.start_at_ns);
    Ok(go.start_at_ns)
}

/// A part's indices; fewer when a put was cut short.
fn part_of(case: &Case, part: u32, there: u64) -> std::ops::Range<u64> {
    let whole = share(case.keys, part, case.procs.max(1));
    let end = whole.end.min(whole.start.saturating_add(there));
    whole.start..end
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * SECOND_NS + time.tv_nsec as u64
}

/// What one thread did.
struct Part {
    ops: u64,
    wanted: u64,
    wrong: bool,
    end_ns: u64,
    pause_ns: u64,
    slices: Vec<u64>,
    histogram: Option<Histogram<u64>>,
}

fn line(phase: &str, parts: &[Part], start_ns: u64, cpu_ns: u64, case: &Case) -> PhaseLine {
    let end_ns = parts
        .iter()
        .map(|part| part.end_ns)
        .max()
        .unwrap_or(start_ns);
    let ops: u64 = parts.iter().map(|part| part.ops).sum();
    let wanted: u64 = parts.iter().map(|part| part.wanted).sum();
    let cut = phase.starts_with("put") && ops < wanted;
    PhaseLine {
        phase: phase.to_owned(),
        ops,
        seconds: end_ns.saturating_sub(start_ns) as f64 / 1e9,
        cpu_seconds: cpu_ns as f64 / 1e9,
        verified: parts.iter().all(|part| !part.wrong),
        begin_ns: Some(start_ns),
        end_ns: Some(end_ns),
        slices: parts[0].slices.clone(),
        of_threads: match parts {
            [_] => Vec::new(),
            parts => parts.iter().map(|part| part.slices.clone()).collect(),
        },
        pause_ns: (!case.timed)
            .then(|| parts.iter().map(|part| part.pause_ns).max())
            .flatten(),
        latency: latency(parts),
        note: cut.then(|| format!("only {ops} of {wanted} keys within its time")),
        ..PhaseLine::default()
    }
}

fn latency(parts: &[Part]) -> Latency {
    let mut all: Option<Histogram<u64>> = None;
    for histogram in parts.iter().filter_map(|part| part.histogram.as_ref()) {
        match &mut all {
            Some(all) => all.add(histogram).expect("all have the same bounds"),
            None => all = Some(histogram.clone()),
        }
    }
    let Some(all) = all else {
        return Latency::default();
    };
    let at = |quantile| Some(all.value_at_quantile(quantile));
    let (mut cdf, mut below) = (Vec::new(), 0);
    for value in all.iter_recorded() {
        below += value.count_since_last_iteration();
        let share = below as f64 / all.len() as f64;
        let near = |&(_, last): &(u64, f64)| share - last < 0.01 && share < 0.99;
        if !cdf.last().is_some_and(near) {
            cdf.push((value.value_iterated_to(), share));
        }
    }
    Latency {
        p50_ns: at(0.5),
        p99_ns: at(0.99),
        p999_ns: at(0.999),
        max_ns: Some(all.max()),
        cdf,
    }
}

/// One thread at work.
struct Work<'a, S> {
    store: &'a S,
    case: &'a Case,
    share: std::ops::Range<u64>,
    seed: u64,
    value: Vec<u8>,
    expected: Vec<u8>,
    turn: u32,
    wrong: bool,
    pairs: Vec<([u8; 8], Vec<u8>)>,
}

fn key_of(index: u64) -> [u8; 8] {
    mix64(index).to_le_bytes()
}

#[inline]
fn fill(value: &mut [u8], key: &[u8; 8]) {
    if let Ok(whole) = <&mut [u8; 8]>::try_from(&mut *value) {
        *whole = *key;
        return;
    }
    for chunk in value.chunks_mut(8) {
        chunk.copy_from_slice(&key[..chunk.len()]);
    }
}

#[inline]
fn holds(value: &[u8], len: usize, key: &[u8; 8]) -> bool {
    if len == 8 {
        return value == key;
    }
    value.len() == len && value.chunks(8).all(|chunk| *chunk == key[..chunk.len()])
}

impl<'a, S: Store> Work<'a, S> {
    fn new(store: &'a S, case: &'a Case, share: std::ops::Range<u64>, seed: u64) -> Self {
        let batch = case.batch.unwrap_or(1) as usize;
        Self {
            store,
            case,
            share,
            seed,
            value: Vec::with_capacity(case.value_bytes),
            expected: vec![0; case.value_bytes],
            turn: 0,
            wrong: false,
            pairs: vec![([0; 8], vec![0; case.value_bytes]); batch],
        }
    }

    fn phase(mut self, phase: &str) -> Result<Part> {
        match phase {
            "put" => self.go(false, None, |work, keys| work.each(keys, Self::put)),
            "get" => self.go(true, None, |work, keys| work.each(keys, Self::get)),
            "mix" => {
                let end_ms = self.case.mix_ms;
                self.go(true, end_ms, |work, keys| work.each(keys, Self::mix))
            }
            "miss" => {
                let keys = self.case.keys;
                self.share = self.share.start + keys..self.share.end + keys;
                self.go(true, None, |work, keys| work.each(keys, Self::miss))
            }
            "put_batch" => self.go(false, None, Self::put_many),
            "get_batch" => self.go(true, None, Self::get_many),
            other => Err(Error::worker(format!("it knows no phase {other}"))),
        }
    }

    /// Passes over the keys, in strides between two looks at the clock; until `end_ms` where it is
    /// given, so that all processes end together.
    fn go(
        mut self,
        shuffled: bool,
        end_ms: Option<u64>,
        mut stride: impl FnMut(&mut Self, &[u64]) -> Result<()>,
    ) -> Result<Part> {
        let timed = self.case.timed;
        let length = match (timed, self.case.batch) {
            (true, _) => 1,
            (_, Some(batch)) => batch as usize,
            _ => STRIDE,
        };
        let mut part = Part {
            ops: 0,
            wanted: self.share.end - self.share.start,
            wrong: false,
            end_ns: 0,
            pause_ns: 0,
            slices: Vec::new(),
            histogram: timed.then(|| Histogram::new(3).expect("three digits are allowed")),
        };
        let times = if shuffled { 1 } else { PUT_TIMES };
        let limit_ms = end_ms.or(self.case.limit_ms.map(|ms| times * ms));
        let limit_ns = limit_ms.map_or(u64::MAX, |ms| ms * 1_000_000);
        let slice_ns = self.case.slice_ns();
        let start = Instant::now();
        let (mut last_ns, mut chunk, mut pass) = (0, vec![0; length], 0);
        'all: loop {
            let share = self.share.clone();
            let mut order = match shuffled {
                true => Order::shuffled(share, self.seed + pass),
                false => Order::Ascending(share),
            };
            loop {
                let len = order.fill(&mut chunk);
                if len == 0 {
                    break;
                }
                let before = if timed {
                    start.elapsed().as_nanos() as u64
                } else {
                    last_ns
                };
                stride(&mut self, &chunk[..len])?;
                last_ns = start.elapsed().as_nanos() as u64;
                part.note(len as u64, last_ns - before, last_ns, slice_ns);
                if last_ns > limit_ns {
                    break 'all;
                }
            }
            pass += 1;
            let is_enough = end_ms.is_none() && last_ns > LEAST_NS;
            if !shuffled || is_enough || part.wanted == 0 {
                break;
            }
        }
        part.end_ns = monotonic_ns();
        part.wrong = self.wrong;
        Ok(part)
    }

    #[inline]
    fn each(&mut self, keys: &[u64], one: impl Fn(&mut Self, [u8; 8]) -> Result<()>) -> Result<()> {
        keys.iter().try_for_each(|&index| one(self, key_of(index)))
    }

    #[inline]
    fn put(&mut self, key: [u8; 8]) -> Result<()> {
        fill(&mut self.expected, &key);
        self.store.put(&key, &self.expected)
    }

    #[inline]
    fn get(&mut self, key: [u8; 8]) -> Result<()> {
        let found = self.store.get(&key, &mut self.value)?;
        self.wrong |= !found || !holds(&self.value, self.case.value_bytes, &key);
        Ok(())
    }

    fn miss(&mut self, key: [u8; 8]) -> Result<()> {
        self.wrong |= self.store.get(&key, &mut self.value)?;
        Ok(())
    }

    fn mix(&mut self, key: [u8; 8]) -> Result<()> {
        self.turn += 1;
        if self.turn < EVERY {
            return self.get(key);
        }
        self.turn = 0;
        self.wrong |= !self.store.remove(&key)?;
        self.put(key)
    }

    fn put_many(&mut self, keys: &[u64]) -> Result<()> {
        for (pair, &index) in self.pairs.iter_mut().zip(keys) {
            pair.0 = key_of(index);
            fill(&mut pair.1, &pair.0);
        }
        self.store.put_many(&self.pairs[..keys.len()])
    }

    fn get_many(&mut self, keys: &[u64]) -> Result<()> {
        let keys: Vec<[u8; 8]> = keys.iter().map(|&index| key_of(index)).collect();
        let (mut right, len) = (0, self.case.value_bytes);
        self.store.get_many(&keys, &mut |at, value| {
            right += usize::from(value.is_some_and(|value| holds(value, len, &keys[at])));
        })?;
        self.wrong |= right != keys.len();
        Ok(())
    }
}

impl Part {
    fn note(&mut self, ops: u64, took_ns: u64, now_ns: u64, slice_ns: u64) {
        self.ops += ops;
        match &mut self.histogram {
            Some(histogram) => histogram.saturating_record(took_ns),
            None => self.pause_ns = self.pause_ns.max(took_ns),
        }
        let slice = (now_ns / slice_ns) as usize;
        if self.slices.len() <= slice {
            self.slices.resize(slice + 1, 0);
        }
        self.slices[slice] += ops;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;

    use super::*;

    /// Gives another value for one key, if asked to.
    #[derive(Default)]
    struct Liar {
        map: Mutex<HashMap<[u8; 8], Vec<u8>>>,
        lies: bool,
    }

    impl Store for Liar {
        fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
            let mut value = value.to_vec();
            if self.lies && *key == key_of(3) {
                value[7] ^= 1;
            }
            self.map.lock().unwrap().insert(*key, value);
            Ok(())
        }

        fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
            let map = self.map.lock().unwrap();
            let Some(found) = map.get(key) else {
                return Ok(false);
            };
            value.clone_from(found);
            Ok(true)
        }

        fn remove(&self, key: &[u8; 8]) -> Result<bool> {
            Ok(self.map.lock().unwrap().remove(key).is_some())
        }

        fn len(&self) -> Result<u64> {
            Ok(self.map.lock().unwrap().len() as u64)
        }

        fn version(&self) -> String {
            String::new()
        }
    }

    fn case(timed: bool) -> Case {
        Case {
            keys: 100,
            key_bytes: 8,
            value_bytes: 20,
            procs: 1,
            batch: Some(7),
            limit_ms: Some(5_000),
            timed,
            ..Case::default()
        }
    }

    fn part(store: &Liar, case: &Case, phase: &str) -> Part {
        Work::new(store, case, 0..100, 7).phase(phase).unwrap()
    }

    #[test]
    fn a_store_that_lies_about_one_key_is_noticed_in_each_phase_that_reads() {
        for lies in [false, true] {
            let store = Liar {
                lies,
                ..Liar::default()
            };
            let case = case(false);
            for phase in ["put", "put_batch"] {
                let put = part(&store, &case, phase);
                assert_eq!((put.ops, put.wrong), (100, false));
            }
            for phase in ["get", "get_batch", "mix"] {
                let part = part(&store, &case, phase);
                assert!(part.ops >= 100);
                assert_eq!(part.wrong, lies, "{phase}");
            }
            assert!(!part(&store, &case, "miss").wrong);
        }
        assert!(
            part(&Liar::default(), &case(false), "get").wrong,
            "nothing is there"
        );
    }

    #[test]
    fn each_call_is_timed_by_itself_where_that_is_asked_for() {
        let (store, case) = (Liar::default(), case(true));
        let put = part(&store, &case, "put");
        assert_eq!(put.histogram.as_ref().unwrap().len(), 100);
        let latency = latency(&[put]);
        assert!(latency.p50_ns <= latency.p99_ns && latency.p99_ns <= latency.max_ns);
        assert_eq!(latency.cdf.last().unwrap().1, 1.0);
    }
}
