//! The objects beside the keys of a table, which are queue pools, logs, locks and areas: names,
//! check, repair.

use super::core::Core;
use crate::alloc::{extent_names, find_extent};
use crate::error::{Error, Result};
use crate::layout::ExtentKind;
use crate::lock::{Me, is_copied_in_use};
use crate::locks;
use crate::log::{self, LogRing};
use crate::queue;
use crate::recover::CheckReport;

impl Core {
    /// Returns the names of all objects of a kind.
    pub(crate) fn side_names(&self, kind: ExtentKind) -> Vec<String> {
        let names = extent_names(self.region(), kind).into_iter();
        names.map(|name| printable(&name)).collect()
    }

    pub(crate) fn check_side_objects(
        &self,
        me: Option<Me>,
        report: &mut CheckReport,
    ) -> Result<()> {
        let region = self.region();
        for name in extent_names(region, ExtentKind::QueuePool) {
            let shown = printable(&name);
            match queue::open(region, &name) {
                Ok(Some((base, pool))) => queue::check(region, me, &shown, base, &pool, report)?,
                Ok(None) => {}
                Err(error) => report.problem(|| format!("queue pool {shown:?}: {error}")),
            }
        }
        report.copied_in_use = is_copied_in_use(region, me.unwrap_or(Me::NOBODY));
        for name in extent_names(region, ExtentKind::Log) {
            let shown = printable(&name);
            match log::open(region, &name) {
                Ok(Some((base, log))) => {
                    log::check(&LogRing::of(region, base, &log), &shown, report)
                }
                Ok(None) => {}
                Err(error) => report.problem(|| format!("log {shown:?}: {error}")),
            }
        }
        locks::check(region, report);
        for name in extent_names(region, ExtentKind::Area) {
            let found = find_extent(region, ExtentKind::Area, &name);
            if !matches!(found, Ok(Some((base, _))) if region.area_head(base).verify().is_some()) {
                report.problem(|| format!("the head of area {:?} is damaged", printable(&name)));
            }
        }
        Ok(())
    }

    /// Repairs all queue pools, logs and locks. Returns the number of element numbers that were
    /// removed plus the number of sheets that were cut and of locks that were damaged.
    pub(crate) fn repair_side_objects(&self, me: Me) -> Result<u64> {
        let (region, mut gone) = (self.region(), 0);
        // The check that follows reports what cannot be opened, and pools that stay locked.
        for name in extent_names(region, ExtentKind::QueuePool) {
            if let Some((base, pool)) = unless_damaged(queue::mend(region, me, &name))? {
                gone += queue::repair(region, me, base, &pool)?.unwrap_or(0);
            }
        }
        for name in extent_names(region, ExtentKind::Log) {
            if let Some((base, log)) = unless_damaged(log::open(region, &name))? {
                gone += log::repair(&LogRing::of(region, base, &log), me);
            }
        }
        gone += locks::repair(region, me)?;
        Ok(gone)
    }
}

fn printable(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

fn unless_damaged<T>(opened: Result<Option<T>>) -> Result<Option<T>> {
    match opened {
        Err(Error::Corrupt { .. }) => Ok(None),
        outcome => outcome,
    }
}
