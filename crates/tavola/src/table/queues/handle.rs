//! What a pool and its queues share.

use super::names::QueueNames;
use crate::engine::Core;
use crate::error::Result;
use crate::layout::QueueGeometry;
use crate::queue::{self, Ends};
use std::sync::{Arc, Mutex};

/// The pool, as one handle has it open; its queues share it.
pub(super) struct PoolInner {
    pub(super) core: Arc<Core>,
    pub(super) base: u64,
    pub(super) geometry: QueueGeometry,
    pub(super) names: Mutex<QueueNames>,
}

impl PoolInner {
    #[inline(always)]
    pub(super) fn ends(&self, queue: u32) -> Ends<'_> {
        Ends::of(self.core.region(), self.base, &self.geometry, queue)
    }

    /// Returns whether the other is the same pool, with the same participant.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.core, &other.core) && self.base == other.base
    }

    /// Returns how many queues have names.
    pub(super) fn named(&self) -> Result<u32> {
        queue::named(self.core.region(), self.base, &self.geometry)
    }

    /// Returns the number of the queue with that name, among the first `named`.
    pub(super) fn find(&self, name: &str, named: u32) -> Option<u32> {
        let head = |queue| self.ends(queue).head;
        match self.names.try_lock() {
            Ok(mut names) => names.find(name.as_bytes(), named, |queue| head(queue).name.get()),
            // Another thread uses the cache, or did when this process was forked: read the names
            // themselves.
            Err(_) => (0..named).find(|queue| head(*queue).name.is(name.as_bytes())),
        }
    }
}
