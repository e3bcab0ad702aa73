//! What is known of a client.

use std::net::SocketAddr;
use std::time::Instant;

use tavola_proto::resp::answer::Version;

use crate::net::Peer;

/// The state of a connection that its commands read and change.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) id: u64,
    pub(super) address: Option<SocketAddr>,
    pub(super) local: Option<SocketAddr>,
    pub(super) listener: usize,
    pub(super) descriptor: i32,
    pub(super) since: Instant,
    pub(super) version: Version,
    /// The user that it is, or `None` if it has not said so and has to.
    pub(super) user: Option<Vec<u8>>,
    pub(super) name: Vec<u8>,
    pub(super) library: Vec<u8>,
    pub(super) library_version: Vec<u8>,
}

/// The user of those who need not say who they are.
pub(super) const DEFAULT_USER: &[u8] = b"default";

impl Client {
    pub(super) fn new(id: u64, peer: &Peer, is_asked: bool) -> Self {
        Self {
            id,
            address: peer.address,
            local: peer.local,
            listener: peer.listener,
            descriptor: peer.descriptor,
            since: Instant::now(),
            version: Version::Two,
            user: (!is_asked).then(|| DEFAULT_USER.to_vec()),
            name: Vec::new(),
            library: Vec::new(),
            library_version: Vec::new(),
        }
    }

    /// Forgets what the client has said.
    pub(super) fn reset(&mut self, is_asked: bool) {
        self.version = Version::Two;
        self.user = (!is_asked).then(|| DEFAULT_USER.to_vec());
        self.name.clear();
    }
}
