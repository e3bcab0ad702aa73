//! A client for fleets of memcached servers.
//!
//! [`Ring`] says which server has a key, as other clients say it: programs that share a fleet must
//! agree about that.

mod ring;

pub use ring::{Hash, Node, Placement, Ring, RingError};
