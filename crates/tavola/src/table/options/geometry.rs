//! The sizes that the options of a new table come to.

use super::Options;
use crate::engine::UidPolicy;
use crate::engine::no_room;
use crate::error::{Error, Result};
use crate::layout::{Fixed, Geometry, MAX_SIZE, MIN_SIZE, MOST_MS, MOST_SMALL, Owner, PAGE};
use crate::region::is_in_memory;
use crate::sys::process::identity_of;
use crate::values::LivesWith;
use std::path::Path;

const DEFAULT_SIZE: u64 = 64 << 30;
/// On a disk less: programs that make backups read as much as the file is long, holes included.
const DEFAULT_SIZE_ON_DISK: u64 = 4 << 30;

impl Options {
    /// The geometry and `max_size` of a new table: at that path, or without it on the heap, where
    /// there is no room to raise it.
    pub(in crate::table) fn geometry(&self, path: Option<&Path>) -> Result<(Geometry, u64)> {
        let bad = |option, why: String| Err(Error::BadOption { option, why });
        let wanted = self.max_size.unwrap_or_else(|| self.default_size(path));
        if !(MIN_SIZE..=MAX_SIZE).contains(&wanted) {
            return bad(
                "max_size",
                format!("{wanted} is not between 1 MiB and 4 TiB"),
            );
        }
        let max_size = wanted.next_multiple_of(PAGE);
        let by_size = || default_shards(max_size);
        let shards = match self.shards {
            None => self
                .capacity
                .map_or_else(by_size, |bytes| by_size().min(cache_shards(bytes))),
            Some(n) if n.is_power_of_two() && n <= 1024 => n,
            Some(n) => return bad("shards", format!("{n} is not a power of two up to 1024")),
        };
        let fixed = match self.lengths {
            None => None,
            Some((key, value)) => {
                match Fixed::new(key, value, self.uid_policy == UidPolicy::Give) {
                    None => {
                        return bad(
                            "fixed",
                            format!(
                                "keys of {key} bytes and values of {value} are not possible: keys \
                            have at least 1 byte, and both together at most {MOST_SMALL}"
                            ),
                        );
                    }
                    fixed => fixed,
                }
            }
        };
        let make = match path {
            Some(_) => Geometry::with_room,
            None => Geometry::new,
        };
        match make(max_size, shards.ilog2()) {
            Some(_) if self.versions && fixed.is_some() => bad(
                "versions",
                "a table of fixed lengths does not store them".to_string(),
            ),
            Some(geometry) => {
                let geometry = Geometry {
                    fixed,
                    ttl_ms: self.ttl_ms(fixed)?,
                    is_cache: self.capacity.is_some(),
                    has_versions: self.versions,
                    is_durable: self.durable.is_some(),
                    owner: self.owner(path)?,
                    ..geometry
                };
                Ok((geometry, max_size))
            }
            None => bad(
                "shards",
                format!("{max_size} bytes are too few for {shards} shards"),
            ),
        }
    }

    fn default_size(&self, path: Option<&Path>) -> u64 {
        let for_cache = self.capacity.unwrap_or(0).saturating_mul(2);
        let default = match path.is_none_or(is_in_memory) {
            true => DEFAULT_SIZE,
            false => DEFAULT_SIZE_ON_DISK,
        };
        default.max(for_cache.min(MAX_SIZE))
    }

    fn owner(&self, path: Option<&Path>) -> Result<Option<Owner>> {
        let bad = |why: String| {
            let option = "lives_with";
            Err(Error::BadOption { option, why })
        };
        match self.lives_with {
            None => Ok(None),
            Some(_) if self.durable.is_some() => {
                bad("a durable table outlives every process".to_string())
            }
            Some(_) if path.is_none() => bad("a private table has no name".to_string()),
            Some(LivesWith::LastUser) => Ok(Some(Owner::LastUser)),
            Some(LivesWith::Process(pid)) => match identity_of(pid) {
                Some(process) => Ok(Some(Owner::Process(process))),
                None => bad(format!("no process has the number {pid}")),
            },
        }
    }

    fn ttl_ms(&self, fixed: Option<Fixed>) -> Result<u64> {
        let Some(ttl) = self.ttl else {
            return Ok(0);
        };
        if fixed.is_some() {
            return Err(no_room());
        }
        match u64::try_from(ttl.as_nanos().div_ceil(1_000_000)) {
            Ok(ms) if ms > 0 && ms <= MOST_MS => Ok(ms),
            _ => Err(Error::BadOption {
                option: "ttl",
                why: format!(
                    "{ttl:?} is not between 1 ms and {} days",
                    MOST_MS / 86_400_000
                ),
            }),
        }
    }
}

/// 16 shards up to 64 MiB, 32 up to 64 GiB, 256 above; fewer where there would be few pages each.
/// Each shard has pages of its own for every size class it holds: more shards make small tables
/// dear.
fn default_shards(max_size: u64) -> u32 {
    let by_size = match max_size {
        0..=0x400_0000 => 16,
        0x400_0001..=0x10_0000_0000 => 32,
        _ => 256,
    };
    let by_pages = (max_size / PAGE / 128).max(1);
    by_size.min(1 << by_pages.ilog2())
}

/// One for each 16 MiB, up to 256: blocks that are free in one are of no use to another.
fn cache_shards(bytes: u64) -> u32 {
    1 << (bytes >> 24).clamp(1, 256).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_follow_the_size() {
        assert_eq!(default_shards(1 << 20), 1);
        assert_eq!(default_shards(64 << 20), 16);
        assert_eq!(default_shards(DEFAULT_SIZE), 32);
        assert_eq!(default_shards(1 << 40), 256);
    }

    #[test]
    fn options_out_of_bounds_are_refused() {
        for options in [
            Options::new().max_size(MIN_SIZE - 1),
            Options::new().max_size(MAX_SIZE + 1),
            Options::new().shards(3),
            Options::new().shards(2048),
            Options::new().max_size(MIN_SIZE).shards(1024),
        ] {
            assert!(matches!(
                options.geometry(None),
                Err(Error::BadOption { .. })
            ));
        }
    }
}
