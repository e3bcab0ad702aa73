//! [`QueuePool`] and [`Queue`]: elements that processes hand on without copying them.

mod names;
mod options;
mod pool;
mod queue;
mod watch;

pub use options::QueueOptions;
pub use pool::QueuePool;
pub use queue::Queue;
pub use watch::Watch;
