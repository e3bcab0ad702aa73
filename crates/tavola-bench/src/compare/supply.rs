//! What the torment table takes from the comparison: programs made of the peers' adapters, servers.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::found::{Workshop, options};
use super::job::Transport;
use super::peers::{self, Peer, Server, Start};
use super::program::in_path;
use super::servers::{self, Running};
use super::torment::{Program, Served};
use super::usage::file_bytes;
use crate::{Error, Result};

/// Enough for all that a trial keeps, and little enough for one to throw something out.
const APCU_ROOM: &str = "16M";

/// Programs of the workshop, and servers in a folder of their own.
pub(super) struct Stock<'a> {
    pub(super) workshop: &'a Workshop,
    pub(super) folder: PathBuf,
    pub(super) cpu: usize,
}

type Found<T> = std::result::Result<T, String>;

impl Stock<'_> {
    /// The program that does jobs on the store `peer`, or why there is none.
    pub(super) fn program(&self, peer: &str) -> Found<Program> {
        let peer = named(peer)?;
        match peer.start {
            Start::C {
                adapter,
                libraries,
                package,
            } => {
                let program = self.workshop.torment(adapter, libraries, package)?;
                Ok(Program {
                    program,
                    args: Vec::new(),
                    forks: false,
                })
            }
            _ => self.script(peer),
        }
    }

    /// The server of the store `peer`, or why there is none.
    pub(super) fn server(&self, peer: &str) -> Found<Box<dyn Served>> {
        let kind = named(peer)?.server.ok_or("it has no server")?;
        self.workshop.server_is_there(kind)?;
        Ok(Box::new(FreshServer {
            kind,
            cpu: self.cpu,
            folder: self.folder.join("server"),
            tavola: self.workshop.tavola.clone().unwrap_or_default(),
            room: None,
            running: None,
        }))
    }

    /// The torment's own script of the peer's language.
    fn script(&self, peer: Peer) -> Found<Program> {
        self.workshop.find(peer)?;
        let (interpreter, file) = match peer.language {
            "PHP" => ("php", "php/torment.php"),
            _ => ("ruby", "ruby/torment.rb"),
        };
        let program = in_path(interpreter).ok_or(format!("there is no {interpreter}"))?;
        let args = options(interpreter, APCU_ROOM).into_iter();
        let mut args: Vec<String> = args.filter_map(|arg| arg.into_string().ok()).collect();
        args.push(text_of(&self.workshop.sources.join(file))?);
        Ok(Program {
            program,
            args,
            forks: peer.language == "PHP",
        })
    }
}

fn named(name: &str) -> Found<Peer> {
    let peer = peers::all().find(|peer| peer.name == name);
    peer.ok_or_else(|| format!("there is no peer {name}"))
}

fn text_of(path: &Path) -> Found<String> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| format!("{} is no text", path.display()))
}

/// A server that is stopped and started with nothing in it.
#[derive(Serialize, Deserialize)]
struct FreshServer {
    kind: Server,
    cpu: usize,
    folder: PathBuf,
    tavola: PathBuf,
    /// Where its data is to be, if not in its folder.
    room: Option<PathBuf>,
    #[serde(skip)]
    running: Option<Running>,
}

/// The state that [`Served::within`] described.
pub(super) fn served(text: &str) -> Result<Box<dyn Served>> {
    let server: FreshServer = serde_json::from_str(text)
        .map_err(|error| Error::io("understanding which server to start")(error))?;
    Ok(Box::new(server))
}

impl Served for FreshServer {
    fn renew(&mut self) -> Result<String> {
        self.stop()?;
        let doing = "making a folder for a server";
        std::fs::create_dir_all(&self.folder).map_err(Error::io(doing))?;
        let (kind, cpu, folder) = (self.kind, self.cpu, &self.folder);
        let started = match &self.room {
            Some(room) => servers::start_within(kind, Transport::Unix, cpu, folder, room),
            None => servers::start(kind, Transport::Unix, cpu, folder, &self.tavola),
        };
        let running = started.map_err(|what| Error::Worker { what })?;
        Ok(self.keep(running))
    }

    fn kill(&mut self) -> Result<()> {
        let killed = self.running.take().map_or(Ok(()), Running::kill);
        killed.map_err(Error::io("killing a server"))
    }

    fn start_again(&mut self) -> Found<String> {
        let (kind, cpu, folder) = (self.kind, self.cpu, &self.folder);
        let running = servers::start_again(kind, Transport::Unix, cpu, folder, &self.tavola)?;
        Ok(self.keep(running))
    }

    fn size(&self) -> (u64, &'static str) {
        match (self.kind, &self.running) {
            (Server::Postgres, _) => (
                servers::postgres_table_bytes(&self.folder),
                "its server's tables",
            ),
            (Server::Tavola, _) => (file_bytes(&self.folder), "its table"),
            (_, Some(running)) => (running.resident_bytes(), "its server's memory"),
            (_, None) => (0, "its server's memory"),
        }
    }

    fn within(&self, room: &Path, folder: &Path) -> Option<String> {
        // A table is in the folder of its server; tables are not all that a cluster is.
        let (folder, room) = match self.kind {
            Server::Tavola => (room.join("server"), None),
            Server::Postgres => (folder.to_owned(), Some(room.to_owned())),
            _ => return None,
        };
        let server = Self {
            kind: self.kind,
            cpu: self.cpu,
            folder,
            tavola: self.tavola.clone(),
            room,
            running: None,
        };
        Some(serde_json::to_string(&server).expect("it has a JSON form"))
    }
}

impl FreshServer {
    fn keep(&mut self, running: Running) -> String {
        self.running.insert(running).address.clone()
    }

    fn stop(&mut self) -> Result<()> {
        self.running = None;
        match std::fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("removing a server's folder")(error))
            }
            _ => Ok(()),
        }
    }
}

impl Drop for FreshServer {
    fn drop(&mut self) {
        let _ = self.stop();
    }
}
