//! A stack that is large enough, whatever `ulimit -s` says.
//!
//! The main thread has the stack that the system gives it, which may be 64 KiB. The library that
//! reads the arguments, and describes them, needs more for a command with many flags. Threads get
//! what they ask for.

use std::panic::resume_unwind;
use std::thread;

/// Reserved addresses; only what is used takes memory.
const BYTES: usize = 8 << 20;

/// Calls `work` in a thread that is gone when this returns; in this one if the system has none.
pub fn on_large_stack<T, W>(work: W) -> T
where
    T: Send + 'static,
    W: FnOnce() -> T + Clone + Send + 'static,
{
    let started = thread::Builder::new().stack_size(BYTES);
    match started.spawn(work.clone()) {
        Ok(running) => running.join().unwrap_or_else(|panic| resume_unwind(panic)),
        Err(_) => work(),
    }
}
