//! The map of std under each of its locks.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, RwLock};

use super::Store;
use crate::Result;

type Map = HashMap<[u8; 8], Box<[u8]>>;

/// A map with room for so many keys.
pub(super) fn map(keys: u64) -> Map {
    Map::with_capacity(keys as usize)
}

/// A lock around a map.
pub(super) trait Lock: Sync {
    fn reading(&self) -> impl Deref<Target = Map>;
    fn writing(&self) -> impl DerefMut<Target = Map>;
}

const WHOLE: &str = "no thread panics within the lock";

/// Readers go together.
impl Lock for RwLock<Map> {
    fn reading(&self) -> impl Deref<Target = Map> {
        self.read().expect(WHOLE)
    }

    fn writing(&self) -> impl DerefMut<Target = Map> {
        self.write().expect(WHOLE)
    }
}

/// One goes at a time.
impl Lock for Mutex<Map> {
    fn reading(&self) -> impl Deref<Target = Map> {
        self.lock().expect(WHOLE)
    }

    fn writing(&self) -> impl DerefMut<Target = Map> {
        self.lock().expect(WHOLE)
    }
}

impl<L: Lock> Store for L {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        self.writing().insert(*key, value.into());
        Ok(())
    }

    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        let map = self.reading();
        let Some(found) = map.get(key) else {
            return Ok(false);
        };
        value.clear();
        value.extend_from_slice(found);
        Ok(true)
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.writing().remove(key).is_some())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.reading().len() as u64)
    }

    fn version(&self) -> String {
        "std".to_owned()
    }
}
