//! [`QueuePool`] and [`Queue`]: elements that processes hand on without copying them.

mod options;
mod pool;
mod queue;
mod watch;

pub use options::QueueOptions;
pub use pool::QueuePool;
pub use queue::Queue;
pub use watch::Watch;

use super::core::Core;
use crate::error::{Error, Result};
use crate::queue::{check, open, pools, repair};
use crate::recover::CheckReport;

impl Core {
    fn named_pools(&self) -> Vec<Vec<u8>> {
        pools(self.region()).collect()
    }

    pub(super) fn check_queues(&self, me: Option<u32>, report: &mut CheckReport) -> Result<()> {
        for name in self.named_pools() {
            let told = String::from_utf8_lossy(&name).into_owned();
            match open(self.region(), &name) {
                Ok(Some((base, pool))) => check(self.region(), me, &told, (base, &pool), report)?,
                Ok(None) => {}
                Err(error) => report.problem(|| format!("queue pool {told:?}: {error}")),
            }
        }
        Ok(())
    }

    /// Says how many numbers of elements were dropped.
    pub(super) fn repair_queues(&self, me: u32) -> Result<u64> {
        let mut gone = 0;
        for name in self.named_pools() {
            match open(self.region(), &name) {
                // What is locked all the time is told by the check that follows.
                Ok(Some((base, pool))) => {
                    gone += repair(self.region(), me, base, &pool)?.unwrap_or(0);
                }
                Ok(None) | Err(Error::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(gone)
    }
}
