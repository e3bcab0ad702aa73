//! What the handles of a client share: the servers, the ring, and what is known of each server.

use crate::conn::Broken;
use crate::failure::Failures;
use crate::fork::PerProcess;
use crate::held::Held;
use crate::options::{Settings, nodes};
use crate::pool::Pool;
use crate::ring::{Placement, Ring};
use crate::server::Server;
use crate::spin::Spin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The servers and the options.
#[derive(Debug)]
pub(crate) struct Fleet {
    pub(crate) servers: Vec<Server>,
    pub(crate) ring: Ring,
    placement: Placement,
    pub(crate) settings: Settings,
    local: PerProcess<Local>,
}

/// What belongs to one process.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) sites: Vec<Site>,
    /// The ring of the servers that were up when it was last needed.
    ejected: Mutex<Option<Arc<Remaining>>>,
}

/// What is known of a server.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) pool: Pool,
    pub(crate) failures: Failures,
    pub(crate) held: Held,
    pub(crate) spin: Spin,
}

/// The ring of some of the servers.
#[derive(Debug)]
pub(crate) struct Remaining {
    /// Their places in the whole list.
    places: Vec<usize>,
    ring: Ring,
}

impl Fleet {
    pub(crate) fn new(
        servers: Vec<Server>,
        ring: Ring,
        placement: Placement,
        settings: Settings,
    ) -> Self {
        let local = PerProcess::new(Local::new(servers.len(), &settings));
        Self {
            servers,
            ring,
            placement,
            settings,
            local,
        }
    }

    /// Returns what belongs to this process. A forked child begins without connections, and closes
    /// its parent's as far as it can, without a word to the servers.
    pub(crate) fn local(&self) -> &Local {
        let make = || Local::new(self.servers.len(), &self.settings);
        let abandon = |old: &Local| {
            for site in &old.sites {
                site.pool.abandon();
                site.failures.abandon();
            }
        };
        self.local.get(make, abandon)
    }

    /// Returns the ring of the servers that are up; `None` if all are down.
    pub(crate) fn remaining(&self, local: &Local, is_up: &[bool]) -> Option<Arc<Remaining>> {
        let places: Vec<usize> = (0..is_up.len()).filter(|place| is_up[*place]).collect();
        let mut ejected = local.ejected.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remaining) = &*ejected
            && remaining.places == places
        {
            return Some(Arc::clone(remaining));
        }
        let mut nodes = nodes(&self.servers);
        let mut up = is_up.iter();
        nodes.retain(|_| up.next().is_some_and(|is_up| *is_up));
        // Fewer servers make a ring if all do, unless there are none.
        let ring = Ring::new(&nodes, self.placement).ok()?;
        let remaining = Arc::new(Remaining { places, ring });
        *ejected = Some(Arc::clone(&remaining));
        Some(remaining)
    }

    /// Returns the part of a key that says where it is.
    pub(crate) fn placed_part<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        let Some([start, end]) = self.settings.hash_tag else {
            return key;
        };
        let begin = key.iter().position(|byte| *byte == start);
        let tag = begin.and_then(|begin| {
            let rest = &key[begin + 1..];
            let length = rest.iter().position(|byte| *byte == end)?;
            (length > 0).then(|| &rest[..length])
        });
        tag.unwrap_or(key)
    }

    /// Returns the server of a key in a ring.
    pub(crate) fn place_in(&self, ring: &Ring, key: &[u8]) -> usize {
        if ring.servers() == 1 {
            return 0;
        }
        let part = self.placed_part(key);
        match self.settings.hash_namespace {
            true => ring.server_of(&[&self.settings.namespace, part].concat()),
            false => ring.server_of(part),
        }
    }

    /// Returns the servers of a key's copies: its own, then the next ones of the list.
    pub(crate) fn copies_of(&self, key: &[u8]) -> Vec<usize> {
        let (own, count) = (self.place_in(&self.ring, key), self.servers.len());
        let copies = 0..=self.settings.replicas;
        copies.map(|step| (own + step) % count).collect()
    }

    pub(crate) fn note_failure(&self, server: usize, broken: &Broken, began: Instant) {
        let site = &self.local().sites[server];
        site.failures.note_failure(broken, began, &self.settings);
    }
}

impl Drop for Fleet {
    /// Sends what is held. In a forked child nothing is: what it inherited is its parent's.
    fn drop(&mut self) {
        let holds = |site: &Site| !site.held.all().is_empty();
        if { self.local.own() }.is_some_and(|local| local.sites.iter().any(holds)) {
            let _ = crate::control::flush(self);
        }
    }
}

impl Local {
    fn new(servers: usize, settings: &Settings) -> Self {
        let site = |_| Site {
            pool: Pool::new(settings.most_connections),
            failures: Failures::new(),
            held: Held::default(),
            spin: Spin::new(),
        };
        Self {
            sites: (0..servers).map(site).collect(),
            ejected: Mutex::new(None),
        }
    }
}

impl Remaining {
    /// Returns the place in the whole list of the server that has a key.
    pub(crate) fn server_of(&self, fleet: &Fleet, key: &[u8]) -> usize {
        self.places[fleet.place_in(&self.ring, key)]
    }
}
