//! The options of a durable table, as its directory keeps them.

use super::Options;
use crate::engine::UidPolicy;
use crate::error::{Error, Result};
use crate::journal::Home;
use crate::values::Durability;
use std::io;
use std::time::Duration;

/// The smallest file of a journal takes the records of a few transactions.
const LEAST_SEGMENT: u64 = 64 << 10;

impl Options {
    /// Returns the options that a new durable table keeps.
    pub(in crate::table) fn home(&self) -> Result<Home> {
        let bad = |option, why: &str| {
            let why = why.to_string();
            Err(Error::BadOption { option, why })
        };
        if self.capacity.is_some() {
            return bad(
                "durable",
                "a cache is not durable; for a warm start save and load it",
            );
        }
        if self.segment < LEAST_SEGMENT {
            return bad("journal_file_size", "it is less than 64 KiB");
        }
        let (geometry, max_size) = self.geometry(None)?;
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(|error| Error::Io {
            op: "drawing a number",
            path: std::path::PathBuf::new(),
            source: io::Error::other(format!(
                "{error}; check that the system gives random numbers"
            )),
        })?;
        Ok(Home {
            id: u64::from_ne_bytes(id),
            max_size,
            segment: self.segment.next_multiple_of(4096),
            shards: geometry.shards(),
            has_versions: self.versions,
            fixed: self
                .lengths
                .map(|(key, value)| (key, value, self.uid_policy == UidPolicy::Give)),
            ttl_ms: geometry.ttl_ms,
            durability: self.durable.unwrap_or_default(),
            mode: self.rights().mode & 0o666,
        })
    }

    /// The options with which the memory of a durable table is made again.
    pub(in crate::table) fn of_home(&self, home: &Home) -> Self {
        let has_uids = home.fixed.is_some_and(|(_, _, uids)| uids);
        Self {
            max_size: Some(home.max_size),
            capacity: None,
            mode: Some(home.mode),
            shards: Some(home.shards),
            uid_policy: match has_uids {
                true => UidPolicy::Give,
                false => self.uid_policy,
            },
            lengths: home.fixed.map(|(key, value, _)| (key, value)),
            ttl: (home.ttl_ms > 0).then(|| Duration::from_millis(home.ttl_ms)),
            versions: home.has_versions,
            durable: Some(home.durability),
            ..self.clone()
        }
    }

    /// Returns the policy of a handle: that of the table, unless this one is stricter.
    pub(in crate::table) fn stricter(&self, table: Durability) -> Durability {
        match (self.durable, table) {
            (Some(Durability::Commit), _) | (_, Durability::Commit) => Durability::Commit,
            (Some(Durability::Within(one)), Durability::Within(other)) => {
                Durability::Within(one.min(other))
            }
            (Some(Durability::Within(time)), _) | (_, Durability::Within(time)) => {
                Durability::Within(time)
            }
            _ => Durability::Os,
        }
    }
}
