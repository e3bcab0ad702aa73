//! How long a thread waited for a CPU, by the kernel's account.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The time that the calling thread was runnable and had no CPU.
#[derive(Debug)]
pub struct RunQueue {
    file: File,
    seen_ns: u64,
}

impl RunQueue {
    /// Opens the account of the calling thread. Returns `None` if the kernel keeps no such account.
    pub fn open() -> Option<Self> {
        let file = File::open("/proc/thread-self/schedstat").ok()?;
        let mut queue = Self { file, seen_ns: 0 };
        queue.waited_since_last();
        Some(queue)
    }

    /// Returns the nanoseconds of waiting since the last call.
    pub fn waited_since_last(&mut self) -> u64 {
        let mut text = [0; 96];
        let len = self.file.read_at(&mut text, 0).unwrap_or(0);
        let fields = std::str::from_utf8(&text[..len]).unwrap_or("");
        let waited = fields
            .split_whitespace()
            .nth(1)
            .and_then(|field| field.parse().ok());
        let waited = waited.unwrap_or(self.seen_ns);
        waited.saturating_sub(std::mem::replace(&mut self.seen_ns, waited))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_waiting_is_that_since_the_last_call() {
        if let Some(mut waits) = RunQueue::open() {
            std::thread::yield_now();
            assert!(waits.waited_since_last() < 60_000_000_000);
        }
    }
}
