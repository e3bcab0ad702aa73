//! Housekeeping of a served table, while nobody asks for anything.

use std::time::{Duration, Instant};

use tavola::Table;
use tavola::serving::{ServeTable, Serving};
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

/// What was seen, and when something is to be done whether the server is idle or not.
#[derive(Debug)]
pub struct Upkeep {
    bytes_read: u64,
    next_busy_step: Instant,
    next_sweep: Instant,
}

impl Upkeep {
    pub fn new() -> Upkeep {
        let now = Instant::now();
        Upkeep {
            bytes_read: 0,
            next_busy_step: now + BUSY_MOST,
            next_sweep: now + SWEEP_PAUSE,
        }
    }

    /// Does a piece of work, if clients leave time for it, and returns how long to wait until the
    /// next.
    ///
    /// What fails (a full file system, a kernel without huge pages) is tried again later, and shows
    /// in what clients ask for.
    pub fn turn(&mut self, table: &Table, counters: &Counters) -> Duration {
        // For `tavola stat` and `tavola top`.
        let _ = table.report_serving(Serving {
            connections: counters.current_connections,
            accepted: counters.total_connections,
        });
        let is_idle = counters.bytes_read == self.bytes_read;
        self.bytes_read = counters.bytes_read;
        if !is_idle {
            if Instant::now() >= self.next_busy_step {
                self.step(table, BUSY_STEP_BYTES);
            }
            return PAUSE;
        }
        if self.step(table, STEP_BYTES) {
            return SHORT_PAUSE;
        }
        if Instant::now() >= self.next_sweep {
            let _ = table.reclaim();
            let _ = table.remove_expired();
            self.next_sweep = Instant::now() + SWEEP_PAUSE;
        }
        PAUSE
    }

    /// Whether there is more to do.
    fn step(&mut self, table: &Table, bytes: u64) -> bool {
        self.next_busy_step = Instant::now() + BUSY_MOST;
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
        let due = Instant::now();
        upkeep.next_sweep = due;
        let mut counters = Counters::default();
        counters.bytes_read = 10;
        counters.current_connections = 3;
        assert_eq!(upkeep.turn(&table, &counters), PAUSE);
        let serving = table.participants().unwrap()[0].serving;
        assert_eq!(serving.map(|serving| serving.connections), Some(3));
        assert_eq!(upkeep.next_sweep, due);
        // A step may find something to do first.
        for _ in 0..1000 {
            if upkeep.turn(&table, &counters) == PAUSE {
                break;
            }
        }
        assert!(upkeep.next_sweep > due);
    }
}
