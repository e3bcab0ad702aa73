//! Queues of elements that processes hand on without copying them.

// In this order they stand in the header.
pub(crate) mod pool;

mod element;

mod queue;

mod watch;

pub use pool::tavola_pool;
