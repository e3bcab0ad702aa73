//! The history checker with a real server, daemons that are killed and stopped, and connections
//! that are cut. `TAVOLA_NEAR_SECONDS` makes it longer.
//!
//! A value counts as too old if a later one had been acknowledged to its writer longer than the
//! bound before the read began. So a machine that is slow makes no read wrong.

use crate::daemon::{Daemon, MAX_STALE, open, signal};
use crate::server::{Client, Server};
use rustix::process::Signal;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tavola_near::Near;

const KEYS: usize = 4;
/// A tick of the slowest kernel and a millisecond of rounding.
const TICK: Duration = Duration::from_millis(11);
const SECONDS: u64 = 3;

/// When each version of a key was acknowledged.
#[derive(Default)]
struct History {
    acknowledged: Mutex<Vec<(u64, Instant)>>,
}

impl History {
    /// Returns what is wrong with a read of this version that began at `began`.
    fn judge(&self, version: u64, began: Instant) -> Option<String> {
        let acknowledged = self.acknowledged.lock().expect("no panic");
        let at = acknowledged.partition_point(|(of, _)| *of <= version);
        let (later, when) = acknowledged.get(at)?;
        let age = began.checked_duration_since(*when)?;
        (age > MAX_STALE + TICK)
            .then(|| format!("version {version} was read {age:?} after version {later} was set"))
    }
}

/// Returns how long a writer rests. Some keys are left alone for longer than the bound, after two
/// changes of which the second comes while the first is fetched.
fn pause_after(key: usize, version: u64) -> Duration {
    match key {
        0 => Duration::from_millis(3),
        1 => Duration::from_millis(40),
        _ if version % 2 == 1 => Duration::from_micros(version * 37 % 400),
        _ => Duration::from_millis(260 + 200 * key as u64),
    }
}

#[derive(Default)]
struct Run {
    histories: [History; KEYS],
    ends: AtomicBool,
    hits: AtomicU64,
    asked: AtomicU64,
    failed: AtomicU64,
}

impl Run {
    fn is_on(&self) -> bool {
        !self.ends.load(Ordering::Relaxed)
    }

    /// Writes one version after the other. What was not acknowledged may have happened.
    fn write(&self, key: usize, port: u16) {
        let name = format!("key{key}");
        let mut client = None;
        let mut version = 0u64;
        while self.is_on() {
            let Some(connected) = &mut client else {
                client = Client::connect(port).ok();
                continue;
            };
            version += 1;
            let text = version.to_string();
            match connected.call(&[b"SET", name.as_bytes(), text.as_bytes()]) {
                Ok(reply) if reply == "OK" => {
                    let mut acknowledged =
                        self.histories[key].acknowledged.lock().expect("no panic");
                    acknowledged.push((version, Instant::now()));
                }
                _ => client = None,
            }
            std::thread::sleep(pause_after(key, version));
        }
    }

    fn read(&self, near: &Near) {
        let mut value = Vec::new();
        for turn in 0usize.. {
            if !self.is_on() {
                return;
            }
            let key = turn % KEYS;
            let name = format!("key{key}");
            let began = Instant::now();
            let is_hit = near.peek_into(&name, &mut value).expect("a whole table");
            let count = match is_hit {
                true => &self.hits,
                false => match near.get_into(&name, &mut value) {
                    Ok(true) => &self.asked,
                    // The server was started again and has no value yet, or nobody answers.
                    Ok(false) | Err(_) => {
                        self.failed.fetch_add(1, Ordering::Relaxed);
                        continue;
                    }
                },
            };
            count.fetch_add(1, Ordering::Relaxed);
            let text = std::str::from_utf8(&value).expect("digits");
            let wrong = self.histories[key].judge(text.parse().expect("digits"), began);
            assert_eq!(wrong, None, "a hit: {is_hit}");
        }
    }
}

/// Kills, stops and cuts, until the time is over and enough has happened.
fn disturb(run: &Run, server: &mut Server, table: &Path, is_over: impl Fn() -> bool) {
    let upstream = server.address();
    let mut daemons = [(); 2].map(|()| Daemon::start(table, &upstream));
    let pause = |ms: u64| std::thread::sleep(Duration::from_millis(ms));
    for turn in 0usize.. {
        if turn >= 6 && is_over() {
            break;
        }
        let pid = daemons[turn / 6 % 2].pid();
        match turn % 6 {
            0 => daemons[turn / 6 % 2] = Daemon::start(table, &upstream),
            1 => {
                signal(pid, Signal::STOP);
                pause(400);
                signal(pid, Signal::CONT);
            }
            2 | 4 => {
                let mut client = server.client();
                let cut = client.call(&[b"CLIENT", b"KILL", b"TYPE", b"normal", b"SKIPME", b"yes"]);
                cut.expect("a reply");
            }
            3 => {
                signal(server.pid(), Signal::STOP);
                pause(300);
                signal(server.pid(), Signal::CONT);
            }
            _ => server.restart(),
        }
        pause(350);
        if !run.is_on() {
            break;
        }
    }
}

#[test]
fn no_value_is_older_than_the_bound_whatever_is_killed_stopped_or_cut() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let seconds = std::env::var("TAVOLA_NEAR_SECONDS");
    let seconds = seconds.map_or(SECONDS, |text| text.parse().expect("a number"));
    let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
    let path = directory.path().join("near");
    let first = Daemon::start(&path, &server.address());
    let near = open(&path);
    drop(first);
    let run = Run::default();
    let port = server.port;
    let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let has_seen_all = || {
        let status = near.status();
        let has_read = count(&run.hits) > 0 && count(&run.asked) > 0;
        has_read && status.owners > 2 && status.losses > 2
    };
    let began = Instant::now();
    let is_over = || {
        let passed = began.elapsed();
        // A machine that is slow needs longer until all has happened.
        let is_late = passed > Duration::from_secs(60 + seconds);
        is_late || passed > Duration::from_secs(seconds) && has_seen_all()
    };
    std::thread::scope(|scope| {
        (0..KEYS).for_each(|key| {
            drop(scope.spawn({
                let run = &run;
                move || run.write(key, port)
            }))
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let _ends = Ends(&run.ends);
                run.read(&near);
            });
        }
        let _ends = Ends(&run.ends);
        disturb(&run, &mut server, &path, is_over);
    });
    let (hits, asked) = (count(&run.hits), count(&run.asked));
    let status = near.status();
    println!(
        "{hits} hits, {asked} asked, {} failed, {status:?}",
        count(&run.failed)
    );
    assert!(has_seen_all(), "{status:?}");
}

/// Ends the other threads, however this one ends.
struct Ends<'e>(&'e AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
