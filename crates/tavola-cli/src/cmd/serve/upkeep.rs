//! Housekeeping of a served table, while nobody asks for anything.

use std::time::{Duration, Instant};

use tavola::Table;
use tavola_server::Counters;

/// Between two looks whether something is to be done, and while there is.
const PAUSE: Duration = Duration::from_secs(1);
const SHORT_PAUSE: Duration = Duration::from_millis(5);
/// What one step moves to huge pages at most: some 20 ms of work.
const STEP_BYTES: u64 = 8 << 20;
/// The same, now and then, of a server that is never idle.
const BUSY_STEP_BYTES: u64 = 2 << 20;
/// How long a server may be busy before such a step.
const BUSY_MOST: Duration = Duration::from_secs(60);
/// How often the dead and the expired are looked for.
const SWEEP_PAUSE: Duration = Duration::from_secs(60);

/// What was done when.
#[derive(Debug)]
pub struct Upkeep {
    bytes_read: u64,
    last_step: Instant,
    last_sweep: Instant,
}

impl Upkeep {
    pub fn new() -> Upkeep {
        let now = Instant::now();
        Upkeep {
            bytes_read: 0,
            last_step: now,
            last_sweep: now,
        }
    }

    /// Does a piece of work, if clients let it; tells how long to wait until the next.
    ///
    /// What fails (a full file system, a kernel without huge pages) is tried again later, and shows
    /// in what clients ask for.
    pub fn turn(&mut self, table: &Table, counters: &Counters) -> Duration {
        let is_idle = counters.bytes_read == self.bytes_read;
        self.bytes_read = counters.bytes_read;
        if !is_idle {
            if self.last_step.elapsed() >= BUSY_MOST {
                self.step(table, BUSY_STEP_BYTES);
            }
            return PAUSE;
        }
        if self.step(table, STEP_BYTES) {
            return SHORT_PAUSE;
        }
        if self.last_sweep.elapsed() >= SWEEP_PAUSE {
            let _ = table.reap();
            let _ = table.remove_expired();
            self.last_sweep = Instant::now();
        }
        PAUSE
    }

    /// Whether there is more to do.
    fn step(&mut self, table: &Table, bytes: u64) -> bool {
        self.last_step = Instant::now();
        table
            .maintain(bytes)
            .is_ok_and(|step| !step.done && (step.collapsed_bytes > 0 || step.given_back_bytes > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_idle_server_sweeps() {
        let table = Table::options().max_size(1 << 20).private().unwrap();
        let mut upkeep = Upkeep::new();
        let past = Instant::now().checked_sub(2 * SWEEP_PAUSE);
        upkeep.last_sweep = past.expect("the machine is not that young");
        let mut counters = Counters::default();
        let swept = |upkeep: &Upkeep| upkeep.last_sweep.elapsed() < SWEEP_PAUSE;
        counters.bytes_read = 10;
        assert_eq!(upkeep.turn(&table, &counters), PAUSE);
        assert!(!swept(&upkeep));
        // A step may find something to do first.
        for _ in 0..1000 {
            if upkeep.turn(&table, &counters) == PAUSE {
                break;
            }
        }
        assert!(swept(&upkeep));
    }
}
