//! What calls take and return: plain values, which know nothing of shared memory.

mod attributes;
mod durability;
mod durable;
mod entry;
mod eviction;
mod latency;
mod live;
mod maintained;
mod marks;
mod owner;
mod recent;
mod saved;
mod stats;
mod store;
mod token;

pub use attributes::{Attributes, Expiry, ExpiryCondition};
pub use durability::Durability;
pub use durable::{DurableStats, HomeFile, HomeFileKind, HomeReport, JournalEnd, Rebuilding};
pub use entry::{Details, Entry};
pub use eviction::Eviction;
pub use latency::Latencies;
pub use live::LiveKeys;
pub use maintained::Maintained;
pub(crate) use marks::MARKS;
pub use marks::Marks;
pub use owner::LivesWith;
pub use recent::Recent;
pub use saved::{Restored, Saved, SavedFile};
pub use stats::{ClassStats, Participant, Serving, Stats};
pub use store::{Condition, StoreOptions, Stored};
pub use token::{CasOutcome, CasToken, Updated};
