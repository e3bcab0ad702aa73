//! Near caches before a real server, `redis-server`, if it is installed: on a free port of the
//! loopback interface, without files. Daemons are processes of their own, so that they can be
//! killed and stopped.

mod calls;
mod chaos;
mod daemon;
mod server;

use std::time::{Duration, Instant};

/// Waits until something is so. A minute is far more than it takes.
fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "not within a minute: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
