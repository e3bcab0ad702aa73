//! What calls take and return: plain values, which know nothing of shared memory.

mod attributes;
mod entry;
mod marks;
mod store;
mod token;

pub use attributes::{Attributes, Expiry};
pub use entry::{Details, Entry};
pub(crate) use marks::MARKS;
pub use marks::Marks;
pub use store::{Condition, StoreOptions, Stored};
pub use token::{CasOutcome, CasToken, Updated};
