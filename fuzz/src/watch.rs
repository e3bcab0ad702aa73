//! An input that takes too long is a finding: a thread beside the target ends the process then.

use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(20);
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Milliseconds since the first input at which the present one began; 0: there is none.
static BEGUN: AtomicU64 = AtomicU64::new(0);

/// Runs `input` under the watch.
pub fn within_limit(input: impl FnOnce()) {
    static START: Once = Once::new();
    static ORIGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let origin = *ORIGIN.get_or_init(Instant::now);
    let now = move || origin.elapsed().as_millis() as u64 + 1;
    START.call_once(|| {
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(LOOK_EVERY);
                let begun = BEGUN.load(Ordering::Relaxed);
                if begun != 0 && now() > begun + LIMIT.as_millis() as u64 {
                    eprintln!("an input took more than {} seconds", LIMIT.as_secs());
                    std::process::abort();
                }
            }
        });
    });
    BEGUN.store(now(), Ordering::Relaxed);
    input();
    BEGUN.store(0, Ordering::Relaxed);
}
