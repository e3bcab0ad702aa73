//! What happens under locks: how a call gets what it needs, what it changes, and what housekeeping
//! follows it. [`Core`] is the inside of a table; the public calls are in the room `table` above.
//!
//! - `core`: the region, the membership of this process, the locks of shards
//! - `step`, `effort`, `request`: the way of a write: lock, do a step, fetch what it lacks, repeat
//! - `backing`, `reclaim`: room for it: backing memory, evicting keys, emergency reclaim
//! - `read`, `large`, `write`, `update`, `store`, `counter`, `uid`, `tags`, `marks`, `entry`,
//!   `attributes`, `batch`: what the calls of those names do
//! - `rebuild`, `progress`, `replay`, `restore`, `workers`: a table from its files, by the changes
//!   of a journal or the keys of a saved file
//! - `claims`, `leases`: lease records
//! - `due`, `upkeep`, `maintain`, `cache`, `background`: housekeeping, and when it is due
//! - `check`, `beside`: integrity of the whole file
//! - `stats`, `recent`, `latency`, `live`, `holders`, `evicted`, `name`: what is reported of a
//!   table

mod attributes;
mod background;
mod backing;
mod batch;
mod beside;
mod cache;
mod check;
mod claims;
mod core;
mod counter;
mod decide;
mod due;
mod durable;
mod effort;
mod entry;
mod evicted;
mod holders;
mod large;
mod latency;
mod leases;
mod live;
mod maintain;
mod marks;
mod name;
mod plan;
mod progress;
mod read;
mod rebuild;
mod recent;
mod reclaim;
mod replay;
mod request;
mod restore;
mod stats;
mod step;
mod store;
mod tags;
mod transact;
mod uid;
mod update;
mod upkeep;
mod workers;
mod write;

pub(crate) use self::core::Core;
pub(crate) use attributes::{in_ms, no_room};
pub(crate) use background::{Background, Rounds};
pub(crate) use batch::WAVE;
pub(crate) use claims::{Claim, HashedKey, record_of};
pub(crate) use counter::CounterChange;
pub(crate) use durable::not_durable;
pub(crate) use effort::Tries;
pub(crate) use entry::KeyOrUid;
pub(crate) use leases::FailedCompute;
pub(crate) use plan::{Change, MOST_CHANGES};
pub use progress::on_rebuild;
pub(crate) use rebuild::{Files, OnDamage, note_home};
pub(crate) use request::{Metadata, UidPolicy, WriteCondition, WriteRequest};
pub(crate) use restore::{MOST_VERSION, RestorePlan, restore};
pub(crate) use stats::keys_of;
pub(crate) use transact::Work;
pub(crate) use write::lengths;
