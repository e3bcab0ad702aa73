//! Reports the keys that this process evicts to its watchers.

use super::core::Core;
use crate::alloc::Shown;
use crate::index::locate::take_evicted;
use crate::values::Eviction;

impl Core {
    /// Calls `each` for the keys that were noted and not taken yet. Returns how many were lost.
    pub(crate) fn take_evictions(&self, each: &mut dyn FnMut(&Eviction<'_>)) -> u64 {
        while let Some(evicted) = take_evicted(self.region()) {
            let len = evicted.key.len().min(evicted.key_len as usize);
            each(&Eviction {
                key: &evicted.key[..len],
                key_len: evicted.key_len,
                value_len: evicted.value_len,
                attributes: self.attributes(Shown {
                    expiry_ms: evicted.expiry_ms,
                    client: evicted.client,
                    ..Shown::default()
                }),
                marks: evicted.marks,
            });
        }
        self.region().evictions().take_lost()
    }
}
