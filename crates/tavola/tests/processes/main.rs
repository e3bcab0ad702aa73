//! What several processes do with a table, a queue or a log, and processes that are short of
//! something: they share, fork, stop, die, are refused or limited.
//!
//! Each test is a thread beside others. What belongs to the whole process (alarms, forks, limits,
//! handlers of signals, descriptors of fixed numbers) is left to actors: `support/part.rs`.

#[path = "../support/mod.rs"]
mod support;

mod atomic;
mod barrier_deaths;
mod cache_room;
mod create_race;
mod daemon;
mod damage;
mod damage_cache;
mod damage_counts;
mod damage_locks;
mod damage_uids;
mod death;
mod durable;
mod durable_homes;
mod durable_moves;
mod expiry_system;
mod file_systems;
mod foreign;
mod fork;
mod full;
mod groups;
mod holders;
mod inherit;
mod key_watch;
mod large;
mod lease_deaths;
mod lives_with;
mod lock_deaths;
mod log_counts;
mod log_deaths;
mod mapping;
mod names_that_go;
mod owners;
mod queue_deaths;
mod queues;
mod quiet;
mod read_only;
mod refusal;
mod resize;
mod shared_writes;
mod signals;
mod small_stack;
mod stop;
mod threads;
