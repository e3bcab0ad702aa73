//! The map of std under each of its locks.

use std::collections::HashMap;
use std::sync::{Mutex, RwLock};

use super::Store;
use crate::Result;

type Map = HashMap<[u8; 8], Box<[u8]>>;

/// Readers go together.
pub(super) struct Read(RwLock<Map>);

/// One goes at a time.
pub(super) struct Alone(Mutex<Map>);

impl Read {
    /// With room for so many keys.
    pub(super) fn new(keys: u64) -> Self {
        Self(RwLock::new(Map::with_capacity(keys as usize)))
    }
}

impl Alone {
    /// With room for so many keys.
    pub(super) fn new(keys: u64) -> Self {
        Self(Mutex::new(Map::with_capacity(keys as usize)))
    }
}

const WHOLE: &str = "no thread panics within the lock";

fn copy(found: Option<&[u8]>, value: &mut Vec<u8>) -> bool {
    let Some(found) = found else { return false };
    value.clear();
    value.extend_from_slice(found);
    true
}

impl Store for Read {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        self.0.write().expect(WHOLE).insert(*key, value.into());
        Ok(())
    }

    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(copy(
            self.0.read().expect(WHOLE).get(key).map(AsRef::as_ref),
            value,
        ))
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.0.write().expect(WHOLE).remove(key).is_some())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.read().expect(WHOLE).len() as u64)
    }

    fn version(&self) -> String {
        "std".to_owned()
    }
}

impl Store for Alone {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        self.0.lock().expect(WHOLE).insert(*key, value.into());
        Ok(())
    }

    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        Ok(copy(
            self.0.lock().expect(WHOLE).get(key).map(AsRef::as_ref),
            value,
        ))
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.0.lock().expect(WHOLE).remove(key).is_some())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.lock().expect(WHOLE).len() as u64)
    }

    fn version(&self) -> String {
        "std".to_owned()
    }
}
