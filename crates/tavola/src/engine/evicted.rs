//! Tells who watches in this process which keys it evicts.

use super::core::Core;
use crate::alloc::Shown;
use crate::region::TOLD;
use crate::values::Eviction;

impl Core {
    /// Calls `each` for the keys that were noted and not taken yet; how many were lost.
    pub(crate) fn take_evictions(&self, each: &mut dyn FnMut(&Eviction<'_>)) -> u64 {
        let mut key = [0; TOLD];
        while let Some(told) = self.region().take_evicted(&mut key) {
            let len = TOLD.min(told.key_len as usize);
            each(&Eviction {
                key: &key[..len],
                key_len: told.key_len,
                value_len: told.value_len,
                attributes: self.attributes(Shown {
                    expiry_ms: told.expiry_ms,
                    client: told.client as u32,
                    ..Shown::default()
                }),
                marks: (told.client >> 32) as u32,
            });
        }
        self.region().take_lost()
    }
}
