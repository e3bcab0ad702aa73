//! Peers whose programs are scripts.

use super::Peer;

pub(super) const PEERS: &[Peer] = &[];
