//! Check and repair of the whole table.
//!
//! A check compares all that is derived with the index. A repair runs recovery on every shard,
//! which rebuilds all that is derived, and then checks.

use super::core::Core;
use crate::alloc::{find_orphans, raise_high_water};
use crate::error::Result;
use crate::lock::{Me, PATIENCE};
use crate::recover::{CheckReport, check, check_pool, reclaim, recover, repair_pool};

/// How often to repeat a check of the pool that found something which may be in transition.
const CHECKS: u32 = 10;

impl Core {
    pub(crate) fn check(&self) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        let me = if self.region().is_writable() {
            Some(self.writer()?)
        } else {
            None
        };
        if let Some(me) = me {
            reclaim(self.region(), &self.membership.gate, me)?;
            find_orphans(self.region(), me);
        }
        for shard in 0..self.region().geometry().shards() {
            let _lock = me.map(|me| self.lock(shard, me)).transpose()?;
            check(self.region(), shard, &mut report);
        }
        self.check_pages(me, &mut report)?;
        self.check_side_objects(me, &mut report)?;
        Ok(report)
    }

    /// Checks the pool. Another process may just be reclaiming a dead one's resources, so problems
    /// are only reported if they last longer than that takes.
    fn check_pages(&self, me: Option<Me>, report: &mut CheckReport) -> Result<()> {
        for _ in 0..CHECKS {
            let mut found = CheckReport::default();
            check_pool(self.region(), me, &mut found)?;
            if found.is_clean() {
                return Ok(());
            }
            std::thread::sleep(PATIENCE);
            if let Some(me) = me {
                reclaim(self.region(), &self.membership.gate, me)?;
            }
        }
        check_pool(self.region(), me, report)
    }

    pub(crate) fn repair(&self) -> Result<CheckReport> {
        let me = self.writer()?;
        reclaim(self.region(), &self.membership.gate, me)?;
        raise_high_water(self.region(), me)?;
        let mut lost = 0;
        for shard in 0..self.region().geometry().shards() {
            lost += recover(&self.lock(shard, me)?);
        }
        self.end_all_leases(me)?;
        lost += repair_pool(self.region(), me)?;
        lost += self.repair_side_objects(me)?;
        let mut report = self.check()?;
        if lost > 0 {
            report.problem(|| {
                format!(
                    "{lost} damaged slots, segments, queue pools, logs, elements or ends of \
                     sheets were dropped"
                )
            });
        }
        Ok(report)
    }
}
