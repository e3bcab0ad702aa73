//! The peers that are compared: one entry each in `peers/peers.txt` beside the adapters.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::facts;
use super::job::Transport;

/// One store, as one program uses it.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    /// Its short name, as `--peers` takes it.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// The language of its program.
    pub language: &'static str,
    /// How it is set up.
    pub configuration: &'static str,
    /// How its program is started.
    pub start: Start,
    /// The server it asks, which the leader starts.
    pub server: Option<Server>,
    /// How it reaches the server, where it can be reached in one way only or is to be.
    pub transport: Option<Transport>,
    /// Its client can be set to speak memcached's binary protocol, and not to wait for answers.
    pub protocols: bool,
    /// Letters of the workloads it takes part in.
    pub workloads: &'static str,
    /// Where its files are.
    pub place: Place,
    /// Which processes may use it at once.
    pub together: Together,
    /// The most keys it is tried with.
    pub most_keys: u64,
    /// The longest value it is tried with.
    pub most_value_bytes: usize,
    /// Whether it has calls that take many keys.
    pub batches: bool,
}

/// How a peer's program is started. In each case a job follows as the last argument.
#[derive(Clone, Copy, Debug)]
pub enum Start {
    /// `c/ADAPTER.c` with the harness, compiled here.
    C {
        /// The file's name without its end.
        adapter: &'static str,
        /// What it is linked with, spaces between.
        libraries: &'static str,
        /// The package of Debian that has what it needs.
        package: &'static str,
    },
    /// This program again.
    Rust,
    /// An interpreter with a file of the peers' folder.
    Script {
        /// Its name in `PATH`.
        interpreter: &'static str,
        /// The file below the peers' folder, such as `ruby/pstore.rb`.
        file: &'static str,
        /// Arguments to the interpreter, with ` | ` between, that succeed where the peer can run.
        probe: &'static str,
        /// What to say when they do not.
        absent: &'static str,
        /// The folder below `bindings` whose build it uses, if it uses one.
        binding: Option<&'static str>,
    },
}

/// A server that is started for a job and stopped after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Server {
    /// memcached.
    Memcached,
    /// `tavola serve`.
    Tavola,
    /// Redis.
    Redis,
    /// Redis with a log of commands that is synced before each answer.
    RedisAlways,
    /// Redis with a log of commands that is synced once a second.
    RedisEverysec,
    /// PostgreSQL.
    Postgres,
    /// Any server of SQL, which is there already.
    Odbc,
}

/// Where a peer's files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory: `/dev/shm`.
    Memory,
    /// On a disk: beside the results.
    Disk,
}

/// Which processes may use a store at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Processes.
    Processes,
    /// The threads of one process; the program makes them itself.
    Threads,
    /// One process at a time, and it says why.
    Alone(&'static str),
}

/// A peer that is here, and how to start it.
#[derive(Clone, Debug)]
pub struct Found {
    /// Which.
    pub peer: Peer,
    /// Its program.
    pub program: PathBuf,
    /// Arguments before the job.
    pub args: Vec<OsString>,
}

/// All of them, in the order they are shown.
pub fn all() -> impl Iterator<Item = Peer> {
    ALL.iter().copied()
}

static ALL: LazyLock<Vec<Peer>> = LazyLock::new(|| {
    let entries = facts::entries(include_str!("../../peers/peers.txt"));
    entries
        .map(|(name, facts)| parse(name, &facts).expect(name))
        .collect()
});

/// What is not listed in an entry.
const STORE: Peer = Peer {
    name: "",
    title: "",
    language: "C",
    configuration: "",
    start: Start::Rust,
    server: None,
    transport: None,
    protocols: false,
    workloads: "abcdefghi",
    place: Place::Memory,
    together: Together::Processes,
    most_keys: u64::MAX,
    most_value_bytes: 1 << 20,
    batches: false,
};

/// Reads an entry; `None` if a fact of it is unknown.
fn parse(name: &'static str, facts: &[facts::Fact]) -> Option<Peer> {
    let mut peer = Peer { name, ..STORE };
    for &(fact, value) in facts {
        match (fact, &mut peer.start) {
            ("title", _) => peer.title = value,
            ("language", _) => peer.language = value,
            ("configuration", _) => peer.configuration = value,
            ("c", _) => {
                let (adapter, libraries) = value.split_once(' ').unwrap_or((value, ""));
                peer.start = Start::C {
                    adapter,
                    libraries,
                    package: "",
                };
            }
            ("needs", Start::C { package, .. }) => *package = value,
            ("script", _) => {
                let (interpreter, file) = value.split_once(' ')?;
                peer.start = Start::Script {
                    interpreter,
                    file,
                    probe: "",
                    absent: "",
                    binding: None,
                };
            }
            ("probe", Start::Script { probe, .. }) => *probe = value,
            ("absent", Start::Script { absent, .. }) => *absent = value,
            ("binding", Start::Script { binding, .. }) => *binding = Some(value),
            ("server", _) => peer.server = Some(serde_json::from_value(value.into()).ok()?),
            ("transport", _) => {
                let transport = value.to_lowercase().into();
                peer.transport = Some(serde_json::from_value(transport).ok()?);
            }
            ("workloads", _) => peer.workloads = value,
            ("place", _) if value == "disk" => peer.place = Place::Disk,
            ("together", _) if value == "threads" => peer.together = Together::Threads,
            ("alone", _) => peer.together = Together::Alone(value),
            ("most keys", _) => peer.most_keys = value.parse().ok()?,
            ("most value bytes", _) => peer.most_value_bytes = value.parse().ok()?,
            ("can", _) => {
                peer.batches = value.contains("batches");
                peer.protocols = value.contains("protocols");
            }
            _ => return None,
        }
    }
    Some(peer)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_short_and_each_is_there_once() {
        let mut seen = HashSet::new();
        for peer in all() {
            assert!(seen.insert(peer.name), "{} is there twice", peer.name);
            let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(peer.name.chars().all(letters), "{}", peer.name);
            assert!(!peer.title.is_empty() && !peer.configuration.is_empty());
        }
        assert!(seen.contains("tavola") && seen.contains("lmdb"));
    }
}
