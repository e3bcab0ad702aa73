//! What many items take.

use super::job::Job;
use super::pair::{Client, Places, address};
use super::report::{MemoryLine, SideMemory};
use super::server::{Folder, Server};
use super::{Config, Side, Transport};
use crate::Result;

/// Bytes of each value.
const VALUE_BYTES: usize = 100;

/// Stores the items in each server, reads all of them back, and asks for its memory.
pub(super) fn measure(config: &Config, sides: &[Side], places: &Places) -> Result<MemoryLine> {
    let mut line = MemoryLine {
        part: "memory",
        items: config.items,
        key_bytes: super::keys::KEY_BYTES,
        value_bytes: VALUE_BYTES,
        threads: config.threads,
        tavola: None,
        memcached: None,
        ratio: None,
    };
    // Room for all of them, whatever an item takes.
    let memory_mib = 1024 + config.items * 400 / (1 << 20);
    for &side in sides {
        let folder = Folder::new()?;
        let cpus = places.server_cpus(config.threads);
        let server = Server::start(config, side, true, cpus, &folder, memory_mib)?;
        let address = address(&server, Transport::Unix)?;
        let size = (config.items, VALUE_BYTES);
        let mut client = Client::start(config, places.client, address, size, None)?;
        drop(folder);
        let empty_bytes = server.memory_bytes()?;
        client.does(&Job::Fill { both: false })?;
        client.does(&Job::ReadAll)?;
        let full_bytes = server.memory_bytes()?;
        let told = Some(SideMemory {
            empty_bytes,
            full_bytes,
            bytes_per_item: full_bytes as f64 / config.items as f64,
        });
        match side {
            Side::Tavola => line.tavola = told,
            Side::Memcached => line.memcached = told,
        }
    }
    if let (Some(ours), Some(theirs)) = (&line.tavola, &line.memcached) {
        line.ratio = Some(ours.full_bytes as f64 / theirs.full_bytes as f64);
    }
    Ok(line)
}
