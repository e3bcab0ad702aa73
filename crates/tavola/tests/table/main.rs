//! What one process does with a table, a queue or a log, each test in a thread of its own.
//!
//! No test here starts or forks a process: until a child runs its program it has copies of all open
//! descriptors, and with them the locks of other tests' tables.

#[path = "../support/mod.rs"]
mod support;

mod cache;
mod cache_size;
mod collapse;
mod copy;
mod damage_tags;
mod durable;
mod durable_large;
mod entries;
mod evictions;
mod expiry;
mod expiry_touches;
mod fixed;
mod housekeeping;
mod iterate;
mod iterate_damage;
mod lease_changes;
mod lease_early;
mod lease_options;
mod leases;
mod limits;
mod live_keys;
mod locks;
mod log_full;
mod log_threads;
mod logs;
mod migrate;
mod model;
mod model_cache;
mod rates;
mod saved;
mod second_hit;
mod space;
mod tags;
mod tags_cache;
mod to_slice;
mod transactions;
mod transactions_kinds;
mod uids;
mod uids_of_new_regions;
mod versions;
mod walk;
mod writes_counted;
