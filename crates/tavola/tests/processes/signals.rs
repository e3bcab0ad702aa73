//! Writes in signal handlers: one that has interrupted a write of its own thread is refused, at
//! whichever instruction that was, and none waits for itself.

use crate::support::part::alone;
use crate::support::patience::MINUTE;
use crate::support::{Dir, assert_clean};
use std::os::unix::thread::JoinHandleExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tavola::{Error, Table};

const SIGNALS: u64 = 20_000;
/// Fewer will do where each takes its time.
const ENOUGH: Duration = Duration::from_secs(20);

static TABLE: OnceLock<Table> = OnceLock::new();
static WRITTEN: AtomicU64 = AtomicU64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);
static FAILED: AtomicU64 = AtomicU64::new(0);
static STOP: AtomicBool = AtomicBool::new(false);

extern "C" fn write_in_handler(_: libc::c_int) {
    let table = TABLE.get().expect("made before any signal");
    let counted = match table.set(b"handler.", 7u64.to_ne_bytes()) {
        Ok(()) => &WRITTEN,
        Err(Error::Reentrant) => &REFUSED,
        Err(_) => &FAILED,
    };
    counted.fetch_add(1, Relaxed);
}

fn write_until_stopped() {
    let table = TABLE.get().expect("made before");
    let mut number = 0u64;
    while !STOP.load(Relaxed) {
        number += 1;
        let key = (number % 100).to_ne_bytes();
        table.set(key, number.to_ne_bytes()).unwrap();
    }
}

fn handled() -> u64 {
    WRITTEN.load(Relaxed) + REFUSED.load(Relaxed) + FAILED.load(Relaxed)
}

#[test]
fn a_write_in_a_handler_never_waits_for_the_write_it_interrupted() {
    alone(
        "a_write_in_a_handler_never_waits_for_the_write_it_interrupted",
        &[],
        || {
            let dir = Dir::new();
            // One shard: whatever the handler interrupts holds the lock that it wants.
            let options = Table::options().shards(1);
            let table = TABLE.get_or_init(|| options.create(dir.table("t")).unwrap());
            table.set(b"handler.", 0u64.to_ne_bytes()).unwrap();
            // SAFETY: the handler touches atomics and the table only.
            unsafe {
                libc::signal(
                    libc::SIGUSR1,
                    write_in_handler as *const () as libc::sighandler_t,
                )
            };
            let begun = Instant::now();
            let writer = std::thread::spawn(write_until_stopped);
            let thread = writer.as_pthread_t();
            let is_enough =
                || begun.elapsed() > ENOUGH && REFUSED.load(Relaxed) * WRITTEN.load(Relaxed) > 0;
            for sent in (1..=SIGNALS).take_while(|_| !is_enough()) {
                // SAFETY: the thread runs until it is asked to stop, below.
                assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGUSR1) }, 0);
                let begin = Instant::now();
                while handled() < sent {
                    assert!(begin.elapsed() < MINUTE, "hangs after {sent} signals");
                    // Its thread may have no processor but ours.
                    std::thread::yield_now();
                }
            }
            STOP.store(true, Relaxed);
            writer.join().unwrap();
            assert_eq!(FAILED.load(Relaxed), 0);
            assert!(REFUSED.load(Relaxed) > 0 && WRITTEN.load(Relaxed) > 0);
            assert_clean(table);
        },
    );
}
