//! Busy loops that share the CPUs of the servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::duty::stay_on;
use crate::{Error, Result};

/// Threads that use all the CPU time they get, until dropped. To the scheduler each is what a busy
/// process is.
#[derive(Debug)]
pub(super) struct Busy {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Busy {
    /// Starts `count` loops, one after another on each of `cpus`.
    pub(super) fn start(count: usize, cpus: &[usize]) -> Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut busy = Self {
            is_over: Arc::clone(&is_over),
            threads: Vec::new(),
        };
        for &cpu in cpus.iter().cycle().take(count) {
            let is_over = Arc::clone(&is_over);
            let run = move || {
                // Where it may not choose, the scheduler does.
                let _ = stay_on(Some(cpu));
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            };
            let thread = std::thread::Builder::new().spawn(run);
            busy.threads
                .push(thread.map_err(Error::io("starting a busy loop"))?);
        }
        Ok(busy)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_loops_run_as_are_asked_for_and_end() {
        for count in [0, 1, 3] {
            let busy = Busy::start(count, &[0]).expect("started");
            assert_eq!(busy.threads.len(), count);
        }
    }
}
