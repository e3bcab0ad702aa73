//! The servers: started in a folder of their own, asked what they cost, ended by their number.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{Config, Side, Transport};
use crate::compare::servers::{self, Listening, Running};
use crate::{Error, Result};

const TABLE: &str = "compared";

/// A folder for sockets and tables, gone when dropped.
pub(super) struct Folder(TempDir);

impl Folder {
    pub(super) fn new() -> Result<Self> {
        let doing = "making a folder for servers";
        let tables = tavola::names::directory();
        let made = DirBuilder::new()
            .mode(0o700)
            .recursive(true)
            .create(&tables);
        made.map_err(Error::io(doing))?;
        let made = tempfile::Builder::new()
            .prefix("bench-serve-")
            .tempdir_in(tables);
        let folder = Self(made.map_err(Error::io(doing))?);
        fs::create_dir(folder.store()).map_err(Error::io(doing))?;
        Ok(folder)
    }

    fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    fn table(&self) -> PathBuf {
        self.store().join(TABLE)
    }
}

/// A server that runs.
pub(super) struct Server {
    running: Running,
    addresses: Vec<(Transport, Listening)>,
    store: PathBuf,
    /// The table, where there is one.
    table: Option<File>,
}

impl Server {
    /// Starts a server that may take so many MiB. Tavola listens on both transports.
    pub(super) fn start(
        config: &Config,
        side: Side,
        transport: Transport,
        cpus: &[usize],
        folder: &Folder,
        memory_mib: u64,
    ) -> Result<Self> {
        let failed = |what: String| Error::Worker { what };
        let store = folder.store();
        let listening = |transport| Listening::choose(transport, &store, "s").map_err(failed);
        let (program, args, addresses) = match side {
            Side::Tavola => {
                let tcp = listening(Transport::Tcp)?;
                let unix = listening(Transport::Unix)?;
                let mut args = servers::serve(&[&tcp, &unix], config.threads, memory_mib);
                args.extend(config.with.iter().cloned());
                let tavola = config.tavola.clone().ok_or(Error::NoCommand)?;
                (
                    tavola,
                    args,
                    vec![(Transport::Tcp, tcp), (Transport::Unix, unix)],
                )
            }
            Side::Memcached => {
                let place = listening(transport)?;
                let mut args = servers::memcached(&place, config.threads, memory_mib);
                args.extend(config.against_with.iter().cloned());
                let program = config.against.as_deref();
                let program = program.unwrap_or(OsStr::new("memcached")).to_owned();
                (program, args, vec![(transport, place)])
            }
        };
        let command = servers::bound(Path::new(&program));
        let place = addresses[0].1.clone();
        let running = servers::launch(command, &args, cpus, &store, place, String::new());
        let table = match side {
            Side::Tavola => Some(folder.table()),
            Side::Memcached => None,
        };
        let running = running.map_err(failed)?;
        let table = table.map(File::open).transpose();
        Ok(Self {
            running,
            addresses,
            table: table.map_err(Error::io("opening the table"))?,
            store: fs::canonicalize(&store).unwrap_or(store),
        })
    }

    pub(super) fn address(&self, transport: Transport) -> Result<&Listening> {
        let mut addresses = self.addresses.iter();
        let found = addresses.find(|(over, _)| *over == transport);
        let missing = || Error::worker(format!("a server does not listen on {transport:?}"));
        found.map(|(_, place)| place).ok_or_else(missing)
    }

    /// Seconds of CPU that it has taken so far.
    pub(super) fn cpu_seconds(&self) -> Result<f64> {
        let seconds = self.running.cpu_seconds();
        seconds.ok_or_else(|| Error::worker("a server does not report its CPU time"))
    }

    /// Bytes of memory: what the process has for itself and of files, and the whole file of the
    /// table, though other processes use it, too.
    pub(super) fn memory_bytes(&self) -> Result<u64> {
        let own = self.running.memory_bytes(&self.store);
        let own = own.ok_or_else(|| Error::worker("a server does not report its memory"))?;
        let Some(table) = &self.table else {
            return Ok(own);
        };
        let status = table
            .metadata()
            .map_err(Error::io("asking for a server's memory"))?;
        Ok(own + status.blocks() * 512)
    }
}
