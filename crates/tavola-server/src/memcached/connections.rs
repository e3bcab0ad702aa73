//! The connections, for `stats conns` and `watch`.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tavola::serving::coarse_s;
use tavola_proto::Awaited;

use super::watch::Client;
use crate::net::{Address, Peer, Setup};

/// The connections by the numbers of their sockets.
#[derive(Debug)]
pub(super) struct Connections {
    /// The second by [`seconds`] in which this list was made.
    started_s: u64,
    list: Mutex<BTreeMap<i32, Arc<Connection>>>,
}

/// The state of a connection, which its thread changes.
#[derive(Debug)]
struct Connection {
    address: Option<SocketAddr>,
    local: Option<SocketAddr>,
    listener: usize,
    /// The time when it was last served, in seconds since the start.
    served_s: AtomicU32,
    /// A [`ConnState`].
    state: AtomicU8,
}

/// The states of a connection between two turns. The names are memcached's.
#[derive(Clone, Copy, Debug)]
enum ConnState {
    Read,
    Nread,
    Swallow,
    Watch,
}

/// The names of the states, in their order.
const STATE_NAMES: [&str; 4] = ["conn_read", "conn_nread", "conn_swallow", "conn_watch"];

/// A place of a connection in the list. Dropping it frees the place.
#[derive(Debug)]
pub(super) struct ListedConnection {
    connections: Arc<Connections>,
    connection: Arc<Connection>,
    descriptor: i32,
}

impl Connections {
    pub(super) fn new() -> Self {
        Self {
            started_s: seconds(),
            list: Mutex::default(),
        }
    }

    pub(super) fn join(self: &Arc<Self>, peer: &Peer) -> ListedConnection {
        let connection = Arc::new(Connection {
            address: peer.address,
            local: peer.local,
            listener: peer.listener,
            served_s: AtomicU32::new(self.now_s()),
            state: AtomicU8::new(ConnState::Read as u8),
        });
        self.list().insert(peer.descriptor, Arc::clone(&connection));
        ListedConnection {
            connections: Arc::clone(self),
            connection,
            descriptor: peer.descriptor,
        }
    }

    /// Reports each connection, after the listening sockets. `asker` is the connection that asks.
    pub(super) fn report_each(
        &self,
        asker: i32,
        setup: &Setup,
        report: &mut dyn FnMut(&str, &dyn Display),
    ) {
        let now_s = self.now_s();
        for (number, address) in setup.descriptors.iter().zip(&setup.addresses) {
            let mut one = |name, value: &dyn Display| report(&format!("{number}:{name}"), value);
            one("addr", &of_listener(address));
            one("state", &"conn_listening");
            one("secs_since_last_cmd", &now_s);
        }
        for (descriptor, connection) in self.list().iter() {
            let mut one =
                |name, value: &dyn Display| report(&format!("{descriptor}:{name}"), value);
            let listener = setup.addresses.get(connection.listener).map(of_listener);
            let listener = listener.unwrap_or_default();
            match connection.address {
                Some(address) => one("addr", &of_socket(address)),
                None => one("addr", &listener),
            }
            match connection.local {
                Some(local) => one("listen_addr", &of_socket(local)),
                None => one("listen_addr", &listener),
            }
            let state = if *descriptor == asker {
                "conn_parse_cmd"
            } else {
                connection.state()
            };
            one("state", &state);
            let idle_s = now_s.saturating_sub(connection.served_s.load(Relaxed));
            one("secs_since_last_cmd", &idle_s);
        }
    }

    fn now_s(&self) -> u32 {
        u32::try_from(seconds() - self.started_s).unwrap_or(u32::MAX)
    }

    fn list(&self) -> MutexGuard<'_, BTreeMap<i32, Arc<Connection>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    fn enter(&self, state: ConnState) {
        self.state.store(state as u8, Relaxed);
    }

    /// Returns the name of the state in `stats conns`.
    fn state(&self) -> &'static str {
        STATE_NAMES[usize::from(self.state.load(Relaxed))]
    }
}

impl ListedConnection {
    /// Notes that the connection is served now.
    pub(super) fn served(&self) {
        let now_s = self.connections.now_s();
        self.connection.served_s.store(now_s, Relaxed);
    }

    /// Returns the address of the client, or `None` over a Unix socket.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        self.connection.address
    }

    /// Notes that the connection waits for more bytes of its client.
    pub(super) fn waits_for(&self, awaited: Awaited) {
        self.connection.enter(match awaited {
            Awaited::Request => ConnState::Read,
            Awaited::Value => ConnState::Nread,
            Awaited::Discarded => ConnState::Swallow,
        });
    }

    pub(super) fn watches(&self) {
        self.connection.enter(ConnState::Watch);
    }

    pub(super) fn client(&self) -> Client {
        Client {
            address: self.connection.address,
            descriptor: self.descriptor,
        }
    }
}

impl Drop for ListedConnection {
    fn drop(&mut self) {
        let mut list = self.connections.list();
        // Another connection may have the number by now.
        let is_mine = list
            .get(&self.descriptor)
            .is_some_and(|found| Arc::ptr_eq(found, &self.connection));
        if is_mine {
            list.remove(&self.descriptor);
        }
    }
}

/// Reads the seconds of a clock that is never set. The clock may be some milliseconds late: it is
/// read for each request, and reading the exact one takes five times as long.
fn seconds() -> u64 {
    coarse_s()
}

fn of_listener(address: &Address) -> String {
    match address {
        Address::Tcp(address) => of_socket(*address),
        Address::Unix(path) => format!("unix:{}", path.display()),
    }
}

fn of_socket(address: SocketAddr) -> String {
    let transport = if address.is_ipv4() { "tcp" } else { "tcp6" };
    format!("{transport}:{address}")
}
