//! Peers within this program: Tavola through its crate, and maps of one process, whose threads take
//! the place of processes. What no store that processes share can reach, these show.

use std::sync::{Mutex, RwLock};

use super::job::{EndLine, Job};
use crate::duty::answer;
use crate::{Error, Result};

mod client;
mod harness;
mod maps;
#[cfg(feature = "peers")]
mod others;
mod table;

/// Whether this program has a peer in it.
pub(super) fn available(name: &str) -> std::result::Result<(), String> {
    match name {
        "papaya" | "moka" if cfg!(not(feature = "peers")) => {
            Err("this program was built without the feature 'peers'".to_owned())
        }
        _ => Ok(()),
    }
}

/// What can be asked of a store. It is shared by the threads of the program.
trait Store: Sync {
    fn put(&self, key: &[u8; 8], value: &[u8]) -> Result<()>;
    /// The value goes to `value`, whatever was there.
    fn get(&self, key: &[u8; 8], value: &mut Vec<u8>) -> Result<bool>;
    fn remove(&self, key: &[u8; 8]) -> Result<bool>;
    fn put_many(&self, pairs: &[([u8; 8], Vec<u8>)]) -> Result<()> {
        pairs
            .iter()
            .try_for_each(|(key, value)| self.put(key, value))
    }
    fn get_many(&self, keys: &[[u8; 8]], each: &mut dyn FnMut(usize, Option<&[u8]>)) -> Result<()> {
        let mut value = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let found = self.get(key, &mut value)?;
            each(at, found.then_some(value.as_slice()));
        }
        Ok(())
    }
    /// How many keys it has.
    fn len(&self) -> Result<u64>;
    /// What it takes: 0 where only the program as a whole is known.
    fn bytes(&self) -> Result<u64> {
        Ok(0)
    }
    fn version(&self) -> String;
}

/// Does the job that is this program's argument.
///
/// # Errors
///
/// A job that cannot be understood or done; the leader gets the error as well.
pub fn work(text: &str) -> Result<()> {
    let done = serde_json::from_str::<Job>(text)
        .map_err(|error| Error::io("understanding the job")(error))
        .and_then(|job| run(&job));
    if let Err(error) = &done {
        answer(&serde_json::json!({ "error": error.to_string() }))?;
    }
    done
}

fn run(job: &Job) -> Result<()> {
    // Before a store is made for its keys.
    let memory = Memory::now().now;
    let keys = job.case.keys;
    match job.peer.as_str() {
        "tavola-rust" | "tavola-commit" | "tavola-within" | "tavola-os" => {
            let shared = table::Shared::open(job)?;
            harness::run(job, &shared, memory)?;
            shared.remove(job)
        }
        "memcached-client" | "tavola-serve-client" | "tavola-client" => client::run(job, memory),
        "std-rwlock" => harness::run(job, &RwLock::new(maps::map(keys)), memory),
        "std-mutex" => harness::run(job, &Mutex::new(maps::map(keys)), memory),
        #[cfg(feature = "peers")]
        "papaya" => harness::run(job, &others::Papaya::new(keys), memory),
        #[cfg(feature = "peers")]
        "moka" => harness::run(job, &others::Moka::new(keys), memory),
        other => Err(Error::option(
            "peers",
            format!("this program has no store {other}"),
        )),
    }
}

fn end(store: &impl Store, memory_before: u64, keys: u64) -> Result<EndLine> {
    let memory = Memory::now();
    let bytes = match store.bytes()? {
        0 => memory.now.saturating_sub(memory_before),
        bytes => bytes,
    };
    Ok(EndLine {
        end: true,
        version: store.version(),
        bytes,
        keys,
        peak_rss_bytes: memory.peak,
    })
}

/// What this process has in memory.
struct Memory {
    now: u64,
    peak: u64,
}

impl Memory {
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
            kib.unwrap_or(0) * 1024
        };
        Self {
            now: field("VmRSS:"),
            peak: field("VmHWM:"),
        }
    }
}
