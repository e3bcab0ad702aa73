//! What stands beside the keys of a table, queue pools and logs: named, checked, repaired.

use super::core::Core;
use crate::alloc::extent_names;
use crate::error::{Error, Result};
use crate::layout::ExtentKind;
use crate::lock::{Me, is_copied_in_use};
use crate::log::{self, Ring};
use crate::queue;
use crate::recover::CheckReport;

impl Core {
    /// The names of all of a kind.
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
            let told = printable(&name);
            match queue::open(region, &name) {
                Ok(Some((base, pool))) => queue::check(region, me, &told, (base, &pool), report)?,
                Ok(None) => {}
                Err(error) => report.problem(|| format!("queue pool {told:?}: {error}")),
            }
        }
        report.copied_in_use = is_copied_in_use(region, me.unwrap_or(Me::NOBODY));
        for name in extent_names(region, ExtentKind::Log) {
            let told = printable(&name);
            match log::open(region, &name) {
                Ok(Some((base, log))) => log::check(&Ring::of(region, base, &log), &told, report),
                Ok(None) => {}
                Err(error) => report.problem(|| format!("log {told:?}: {error}")),
            }
        }
        Ok(())
    }

    /// Says how many numbers of elements were dropped, and sheets cut.
    pub(crate) fn repair_side_objects(&self, me: Me) -> Result<u64> {
        let (region, mut gone) = (self.region(), 0);
        // What cannot be opened is told by the check that follows, and what is locked all the time.
        for name in extent_names(region, ExtentKind::QueuePool) {
            if let Some((base, pool)) = unless_damaged(queue::mend(region, me, &name))? {
                gone += queue::repair(region, me, base, &pool)?.unwrap_or(0);
            }
        }
        for name in extent_names(region, ExtentKind::Log) {
            if let Some((base, log)) = unless_damaged(log::open(region, &name))? {
                gone += log::repair(&Ring::of(region, base, &log), me);
            }
        }
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
