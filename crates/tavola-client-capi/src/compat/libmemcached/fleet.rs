//! The clients of a handle: one of all servers, and one of each server that was asked alone.

use super::codes;
use super::fault::Fault;
use super::settings::{self, Settings};
use super::types::{UNIX, memcached_server_st};
use std::ffi::CStr;
use std::hash::{BuildHasher, RandomState};
use std::thread::{self, ThreadId};
use tavola_client_core::{Batch, Client, Hash, Node, Outcome, Ring, Server, Sink};

/// The clients of a handle.
pub(super) struct Fleet {
    client: Client,
    /// Where keys of a group are, whatever the name space is.
    ring: Ring,
    hash: Hash,
    distribution: u64,
    buckets: Vec<u32>,
    servers: Vec<Server>,
    singles: Vec<Option<Client>>,
    settings: Settings,
    holder: Option<Holder>,
}

/// Whose next request takes along what is held: it is of the same thread, and of the same clients.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Holder {
    thread: ThreadId,
    is_single: bool,
}

impl Holder {
    fn now(is_single: bool) -> Self {
        let thread = thread::current().id();
        Self { thread, is_single }
    }
}

/// Whom a request goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The server of its key.
    OfKey,
    /// This server of the list.
    Server(usize),
}

/// The name of a server.
pub(super) fn host(server: &memcached_server_st) -> String {
    // SAFETY: the name ends with a NUL, and is in the struct.
    let host = unsafe { CStr::from_ptr(server.hostname.as_ptr()) };
    host.to_string_lossy().into_owned()
}

fn text(server: &memcached_server_st) -> String {
    let host = host(server);
    match server.kind {
        UNIX => format!("unix:{host}"),
        _ if host.contains(':') => format!("[{host}]:{}", server.port),
        _ => format!("{host}:{}", server.port),
    }
}

impl Fleet {
    pub(super) fn new(
        settings: &Settings,
        list: &[Box<memcached_server_st>],
    ) -> Result<Self, Fault> {
        if list.is_empty() {
            return Err(Fault::new(codes::NO_SERVERS, "add a server first"));
        }
        let (placement, factor) = settings.placement()?;
        let mut servers = Vec::with_capacity(list.len());
        let mut nodes = Vec::with_capacity(list.len());
        for server in list {
            let weight = f64::from(server.weight.max(1)) * factor;
            let made = text(server).parse::<Server>();
            let made = made.map_err(|error| Fault::arguments(&error.to_string()))?;
            servers.push(made.with_weight(weight));
            nodes.push(Node {
                host: host(server),
                port: if server.kind == UNIX { 0 } else { server.port },
                weight,
            });
        }
        let ring =
            Ring::new(&nodes, placement).map_err(|error| Fault::arguments(&error.to_string()))?;
        let builder = Client::builder().servers(servers.clone());
        Ok(Self {
            client: settings
                .apply(builder.placement(placement), list.len())
                .build()?,
            ring,
            hash: settings.key_hash()?,
            distribution: settings.value(settings::DISTRIBUTION).unwrap_or(0),
            buckets: { settings.buckets.as_ref() }
                .map_or_else(Vec::new, |buckets| buckets.servers.clone()),
            singles: vec![None; servers.len()],
            servers,
            settings: settings.clone(),
            holder: None,
        })
    }

    /// The client of all servers, for a request of this thread.
    pub(super) fn whole(&mut self) -> &Client {
        self.keep_order(false);
        &self.client
    }

    /// Sends what is held first, if the next request does not take it along.
    fn keep_order(&mut self, is_single: bool) {
        let is_other = |holder: &mut Holder| *holder != Holder::now(is_single);
        if self.holder.take_if(is_other).is_some() {
            // As when it is taken along, no failure of it is reported.
            let _ = self.flush();
        }
    }

    /// Notes that this thread holds a request.
    pub(super) fn note_held(&mut self, target: Target) {
        self.holder = Some(Holder::now(target != Target::OfKey));
    }

    /// The client of one server.
    pub(super) fn single(&mut self, server: usize) -> Result<&Client, Fault> {
        if self.singles[server].is_none() {
            let builder = Client::builder().servers([self.servers[server].clone()]);
            self.singles[server] = Some(self.settings.apply(builder, 1).build()?);
        }
        match &self.singles[server] {
            Some(client) => Ok(client),
            None => Err(Fault::new(codes::FAILURE, "there is no client")),
        }
    }

    /// Whom a request with a key goes to, or one of a group of keys.
    pub(super) fn target(&self, group: Option<&[u8]>, key: &[u8]) -> Target {
        let by = group.unwrap_or(key);
        match self.distribution {
            settings::RANDOM => {
                let random = RandomState::new().hash_one(by) as usize;
                Target::Server(random % self.servers.len())
            }
            settings::VIRTUAL_BUCKET if !self.buckets.is_empty() => {
                let bucket = self.hash.of(by) as usize % self.buckets.len();
                Target::Server(self.buckets[bucket] as usize)
            }
            _ if group.is_some() => Target::Server(self.ring.server_of(by)),
            _ => Target::OfKey,
        }
    }

    /// The server that a key is on.
    pub(super) fn server_of(&self, key: &[u8]) -> usize {
        match self.target(None, key) {
            Target::OfKey => self.client.server_of(key),
            Target::Server(server) => server,
        }
    }

    /// Executes a batch. A failed request has the server's place in the whole list.
    pub(super) fn execute(
        &mut self,
        target: Target,
        batch: &mut Batch<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Fault> {
        self.keep_order(target != Target::OfKey);
        match target {
            Target::OfKey => self.client.execute(batch, sink),
            Target::Server(server) => self.single(server)?.execute(batch, sink),
        }
        Ok(())
    }

    /// Why a request failed; `None` if it did not.
    pub(super) fn fault(&self, target: Target, outcome: &Outcome) -> Option<Fault> {
        match target {
            Target::OfKey => Fault::of(&self.client, outcome),
            Target::Server(server) => {
                let client = self.singles[server].as_ref()?;
                Fault::of(client, outcome).map(|mut fault| {
                    fault.server = fault.server.map(|_| server);
                    fault
                })
            }
        }
    }

    /// Sends what is held, and waits until it is carried out.
    pub(super) fn flush(&self) -> Result<(), Fault> {
        let mut clients = self.singles.iter().flatten().chain([&self.client]);
        clients.try_for_each(|client| client.flush().map_err(|error| Fault::of_error(&error)))
    }
}
