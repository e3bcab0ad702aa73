//! An operation that takes too long is a finding: a thread beside the target ends the process then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Once, OnceLock};
use std::time::{Duration, Instant};

/// Of one operation, or of all that an input does without [`begin_operation`].
const LIMIT: Duration = Duration::from_secs(20);
const CHECK_EVERY: Duration = Duration::from_millis(500);

/// Milliseconds since the first input at which the present operation began; 0: there is none.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ORIGIN: OnceLock<Instant> = OnceLock::new();

fn now_ms() -> u64 {
    let origin = *ORIGIN.get_or_init(Instant::now);
    origin.elapsed().as_millis() as u64 + 1
}

/// The limit counts from here on.
pub fn begin_operation() {
    BEGUN.store(now_ms(), Ordering::Relaxed);
}

/// Runs `input` under the watch.
pub fn within_limit(input: impl FnOnce()) {
    static START: Once = Once::new();
    START.call_once(|| {
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(CHECK_EVERY);
                let begun = BEGUN.load(Ordering::Relaxed);
                if begun != 0 && now_ms() > begun + LIMIT.as_millis() as u64 {
                    eprintln!("an operation took more than {} seconds", LIMIT.as_secs());
                    std::process::abort();
                }
            }
        });
    });
    begin_operation();
    input();
    BEGUN.store(0, Ordering::Relaxed);
}
