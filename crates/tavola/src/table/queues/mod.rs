//! [`QueuePool`] and [`Queue`]: elements that processes pass to each other without copying them.

mod handle;
mod names;
mod options;
mod pool;
mod queue;
mod watch;

pub use options::QueueOptions;
pub use pool::QueuePool;
pub use queue::Queue;
pub use watch::Watch;
