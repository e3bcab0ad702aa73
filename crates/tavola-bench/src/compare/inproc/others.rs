//! Maps of other crates, made for many threads.

use moka::sync::Cache;

use super::Store;
use crate::Result;

/// A map whose readers take no lock.
pub(super) struct Papaya(papaya::HashMap<[u8; 8], Box<[u8]>>);

/// A cache; with room for all keys it is a map.
pub(super) struct Moka(Cache<[u8; 8], std::sync::Arc<[u8]>>);

impl Papaya {
    pub(super) fn new(keys: u64) -> Self {
        Self(papaya::HashMap::with_capacity(keys as usize))
    }
}

impl Moka {
    pub(super) fn new(keys: u64) -> Self {
        Self(
            Cache::builder()
                .initial_capacity(keys.min(1 << 24) as usize)
                .build(),
        )
    }
}

impl Store for Papaya {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        self.0.pin().insert(*key, value.into());
        Ok(())
    }

    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        let map = self.0.pin();
        let Some(found) = map.get(key) else {
            return Ok(false);
        };
        value.clear();
        value.extend_from_slice(found);
        Ok(true)
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.0.pin().remove(key).is_some())
    }

    fn len(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn version(&self) -> String {
        env!("PAPAYA_VERSION").to_owned()
    }
}

impl Store for Moka {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()> {
        self.0.insert(*key, value.into());
        Ok(())
    }

    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool> {
        let Some(found) = self.0.get(key) else {
            return Ok(false);
        };
        value.clear();
        value.extend_from_slice(&found);
        Ok(true)
    }

    fn remove(&self, key: &[u8; 8]) -> Result<bool> {
        Ok(self.0.remove(key).is_some())
    }

    fn len(&self) -> Result<u64> {
        self.0.run_pending_tasks();
        Ok(self.0.entry_count())
    }

    fn version(&self) -> String {
        env!("MOKA_VERSION").to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_it_was_built_with() {
        let lock = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock"));
        for (name, version) in [
            ("papaya", Papaya::new(1).version()),
            ("moka", Moka::new(1).version()),
        ] {
            assert!(version.split('.').count() == 3, "{name} {version}");
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"\n");
            assert!(lock.contains(&entry), "{entry}");
        }
    }
}
