//! `tavola-client` beside libmemcached and Cache::Memcached::Fast, all at memcached: loops of the
//! kinds that programs have.
//!
//! The clients run for a moment, one right after the other, many times; what counts is the ratio of
//! the times of a loop within each round. The order changes from round to round. libmemcached is
//! asked by a program in C, compiled when it is needed, Cache::Memcached::Fast by one in Perl, as
//! its own library for C is not installed by itself, and tavola-client by this one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::json;
use tavola_client::{Batch, Client, GetOptions, Outcome, Sink, StoreOptions};

use crate::compare::job::Transport;
use crate::compare::servers::{self, Listening, Running};
use crate::duty::{stay_on, stay_on_all, usable_cpus};
use crate::peer::{Peer, PeerProcess};
use crate::serve::Cpus;
use crate::stats::{Spread, median};
use crate::{Emit, Error, Result};

const HELP: &str = "\
Loads, all with keys of 5 to 6 bytes and values of 100:
  wait     a set, then a get of the key, each waits for its answer
  joined   a set without an answer, then a get of the key
  mget     100 keys in one call, from one server
  mget-4   the same from four servers
  line     as mget, and tavola-client asks by one line, as libmemcached does
  sets     100 sets, each with an answer; tavola-client and Cache::Memcached::Fast send them in one
           call
  batch    a set and a get in one call of tavola-client, both with an answer; the others wait twice
ratio is the time of a loop of tavola-client divided by that of the peer: below 1, tavola-client is
faster. It is the median of all rounds, beside the least and the most. us and their_us are the
medians of microseconds a loop. Cache::Memcached::Fast has Perl's time in it. Only an idle machine
will do.

Examples:
  tavola-bench clients
  tavola-bench clients --only wait,joined --cpus one --repeat 21
  tavola-bench clients --json | jq 'select(.ratio > 0.9)'";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "load",
    "peer",
    "transport",
    "cpus",
    "ratio",
    "least",
    "most",
    "us",
    "their_us",
];

/// This client of memcached servers, beside libmemcached and Cache::Memcached::Fast
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Loads, with commas between [default: all]
    #[arg(long, value_name = "LOAD", value_delimiter = ',')]
    only: Vec<Load>,
    /// tcp, unix, or both with a comma between
    #[arg(long, value_delimiter = ',', default_value = "tcp,unix")]
    transports: Vec<Transport>,
    /// Clients and servers on one CPU, or clients on one and servers on the others
    #[arg(long, value_delimiter = ',', default_value = "one,two")]
    cpus: Vec<Cpus>,
    /// Milliseconds of each run
    #[arg(long, value_name = "MS", default_value_t = 200)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=60_000))]
    millis: u64,
    /// Rounds
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
enum Load {
    Wait,
    Joined,
    Mget,
    #[value(name = "mget-4")]
    #[serde(rename = "mget-4")]
    MgetOfFour,
    Line,
    Sets,
    Batch,
}

impl Load {
    const ALL: [Self; 7] = [
        Self::Wait,
        Self::Joined,
        Self::Mget,
        Self::MgetOfFour,
        Self::Line,
        Self::Sets,
        Self::Batch,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Joined => "joined",
            Self::Mget => "mget",
            Self::MgetOfFour => "mget-4",
            Self::Line => "line",
            Self::Sets => "sets",
            Self::Batch => "batch",
        }
    }
}

const LIBMEMCACHED: Peer = Peer {
    name: "libmemcached",
    source: include_str!("../peers/client/libmemcached.c"),
    header: "libmemcached/memcached.h",
    library: "memcached",
    package: "libmemcached-dev",
};

/// The program of Cache::Memcached::Fast, and its package.
const FAST: [&str; 3] = [
    "Cache::Memcached::Fast",
    include_str!("../peers/client/fast.pl"),
    "libcache-memcached-fast-perl",
];

const SERVERS: usize = 4;
/// What each server may take.
const MEMORY_MIB: u64 = 64;
const BATCH: usize = 100;
const VALUE: [u8; 100] = [b'v'; 100];

pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    let missing = LIBMEMCACHED.missing();
    let no_server = crate::command::program("memcached".as_ref()).is_none();
    let no_server = no_server.then(|| "there is no memcached here".to_owned());
    if let Some(left_out) = missing.or(no_server) {
        return emit(&json!({"what": "libmemcached", "left_out": left_out}));
    }
    let loads = match &config.only[..] {
        [] => Load::ALL.to_vec(),
        only => only.to_vec(),
    };
    let folder = tempfile::tempdir().map_err(Error::io("making a folder for servers"))?;
    let mut programs = vec![(
        LIBMEMCACHED.name,
        vec![LIBMEMCACHED.compile(folder.path())?],
    )];
    match fast(folder.path())? {
        Some(program) => programs.push((FAST[0], program)),
        None => {
            let left_out = format!("its package {} is missing", FAST[2]);
            emit(&json!({"what": FAST[0], "left_out": left_out}))?;
        }
    }
    let usable = usable_cpus()?;
    for cpus in &config.cpus {
        let server_cpus = match cpus {
            Cpus::One => &usable[..1],
            Cpus::Two => &usable[1..],
        };
        if server_cpus.is_empty() {
            let left_out = "it needs two CPUs, and there is one here";
            emit(&json!({"what": "cpus two", "left_out": left_out}))?;
            continue;
        }
        for transport in &config.transports {
            let fleet = Fleet::start(*transport, server_cpus, folder.path())?;
            stay_on(Some(usable[0]))?;
            let mut peers = Vec::new();
            for (name, words) in &programs {
                let mut command = servers::bound(&words[0]);
                command.args(&words[1..]);
                command.args(fleet.addresses.iter().map(Listening::address));
                peers.push((*name, PeerProcess::start(name, command)?));
            }
            let ours = Ours::new(&fleet)?;
            for load in &loads {
                for mut line in rounds(config, *load, &ours, &mut peers)? {
                    line["transport"] = json!(transport);
                    line["cpus"] = json!(cpus);
                    emit(&line)?;
                }
            }
            drop(ours);
            stay_on_all(&usable)?;
        }
    }
    Ok(())
}

/// Returns the words that start the program of Cache::Memcached::Fast, if Perl has it.
fn fast(folder: &Path) -> Result<Option<Vec<PathBuf>>> {
    let is_there = Command::new("perl")
        .args(["-MCache::Memcached::Fast", "-e", "1"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let program = folder.join("fast.pl");
    std::fs::write(&program, FAST[1]).map_err(Error::io("writing a program in Perl"))?;
    Ok(is_there.then(|| vec!["perl".into(), program]))
}

/// Runs the rounds of a load. Returns a line for each peer.
fn rounds(
    config: &Config,
    load: Load,
    ours: &Ours,
    peers: &mut [(&str, PeerProcess)],
) -> Result<Vec<serde_json::Value>> {
    let time = Duration::from_millis(config.millis);
    // Microseconds a loop, of a round: this client, then the peers.
    let mut rounds = Vec::new();
    for round in 0..config.repeat as usize {
        let mut taken = vec![0.0; peers.len() + 1];
        for step in 0..taken.len() {
            let place = (round + step) % taken.len();
            taken[place] = match place.checked_sub(1) {
                None => ours.run(load, time)?,
                Some(peer) => {
                    let ask = format!("{} {}", load.name(), config.millis);
                    let (loops, ns) = peers[peer].1.ask(&ask)?;
                    ns / loops / 1e3
                }
            };
        }
        rounds.push(taken);
    }
    let of = |place: usize| rounds.iter().map(move |round| round[place]);
    let line = |(place, (name, _)): (usize, &(&str, PeerProcess))| {
        let ratio = Spread::of(of(0).zip(of(place + 1)).map(|(us, their_us)| us / their_us));
        json!({
            "load": load, "peer": name,
            "ratio": ratio.median, "least": ratio.least, "most": ratio.most,
            "us": median(of(0)), "their_us": median(of(place + 1)), "rounds": rounds.len(),
        })
    };
    Ok(peers.iter().enumerate().map(line).collect())
}

/// Servers of memcached, each of one thread.
struct Fleet {
    addresses: Vec<Listening>,
    _running: Vec<Running>,
}

impl Fleet {
    fn start(transport: Transport, cpus: &[usize], folder: &Path) -> Result<Self> {
        let failed = |what: String| Error::Worker { what };
        let (mut addresses, mut all) = (Vec::new(), Vec::new());
        for number in 0..SERVERS {
            let store = folder.join(format!("{}-{number}", transport.name()));
            std::fs::create_dir_all(&store).map_err(Error::io("making a server's folder"))?;
            let place = Listening::choose(transport, &store, "s").map_err(failed)?;
            // What an earlier one has left.
            let _ = std::fs::remove_file(store.join("s"));
            let args = servers::memcached(&place, 1, MEMORY_MIB);
            let command = servers::bound("memcached".as_ref());
            let version = String::new();
            let running = servers::launch(command, &args, cpus, &store, place.clone(), version);
            all.push(running.map_err(failed)?);
            addresses.push(place);
        }
        Ok(Self {
            addresses,
            _running: all,
        })
    }
}

/// This client, at one server and at all.
struct Ours {
    one: Client,
    all: Client,
    by_line: Client,
    keys: Vec<String>,
}

impl Ours {
    fn new(fleet: &Fleet) -> Result<Self> {
        let client = |places: &[Listening], multi_key_gets| {
            let mut builder = Client::builder().multi_key_gets(multi_key_gets);
            for place in places {
                let name = match place {
                    Listening::Port(_) => place.address(),
                    Listening::Socket(_) => format!("unix:{}", place.address()),
                };
                builder = builder.server(&name, 1.0);
            }
            let built = builder.io_timeout(Duration::from_secs(10)).build();
            built.map_err(|error| Error::worker(error.to_string()))
        };
        let ours = Self {
            one: client(&fleet.addresses[..1], false)?,
            all: client(&fleet.addresses, false)?,
            by_line: client(&fleet.addresses[..1], true)?,
            keys: (0..BATCH).map(|number| format!("key:{number}")).collect(),
        };
        for client in [&ours.one, &ours.all] {
            ours.execute(client, &mut ours.sets())?;
        }
        Ok(ours)
    }

    fn sets(&self) -> Batch<'_> {
        let mut batch = Batch::new();
        for key in &self.keys {
            batch.set(key.as_bytes(), &VALUE, StoreOptions::default());
        }
        batch
    }

    fn gets(&self) -> Batch<'_> {
        let mut batch = Batch::new();
        for key in &self.keys {
            batch.get(key.as_bytes(), GetOptions::default());
        }
        batch
    }

    /// For each key a set and a get, in one batch.
    fn both(&self) -> Vec<Batch<'_>> {
        let mut all = Vec::new();
        for key in &self.keys {
            let mut batch = Batch::new();
            batch.set(key.as_bytes(), &VALUE, StoreOptions::default());
            batch.get(key.as_bytes(), GetOptions::default());
            all.push(batch);
        }
        all
    }

    fn execute(&self, client: &Client, batch: &mut Batch<'_>) -> Result<()> {
        let count = batch.len();
        let mut taken = Taken {
            bytes: [0; 100],
            done: 0,
        };
        client.execute(batch, &mut taken);
        match taken.done {
            done if done == count => Ok(()),
            done => Err(Error::wrong(
                "clients",
                format!("{done} of {count} requests"),
            )),
        }
    }

    fn pair(&self, key: &str, options: StoreOptions) -> Result<()> {
        let failed = |error: tavola_client::Error| Error::worker(error.to_string());
        self.one
            .set(key.as_bytes(), &VALUE, options)
            .map_err(failed)?;
        let found = self.one.get(key.as_bytes()).map_err(failed)?;
        match found.is_some_and(|found| found.data == VALUE) {
            true => Ok(()),
            false => Err(Error::wrong("clients", "another value than was set")),
        }
    }

    /// Returns the microseconds of a loop.
    fn run(&self, load: Load, time: Duration) -> Result<f64> {
        let (mut gets, mut sets, mut both) = (self.gets(), self.sets(), self.both());
        let waits = StoreOptions::default();
        let mut keys = self.keys.iter().cycle();
        let (begin, mut loops) = (Instant::now(), 0_u32);
        loop {
            let key = keys.next().expect("keys without an end");
            match load {
                Load::Wait => self.pair(key, waits)?,
                Load::Joined => self.pair(key, waits.without_reply())?,
                Load::Mget => self.execute(&self.one, &mut gets)?,
                Load::MgetOfFour => self.execute(&self.all, &mut gets)?,
                Load::Line => self.execute(&self.by_line, &mut gets)?,
                Load::Sets => self.execute(&self.one, &mut sets)?,
                Load::Batch => self.execute(&self.one, &mut both[loops as usize % BATCH])?,
            }
            loops += 1;
            let elapsed = begin.elapsed();
            if elapsed >= time {
                return Ok(elapsed.as_secs_f64() * 1e6 / f64::from(loops));
            }
        }
    }
}

/// Takes values into its own memory, and counts what was found or stored.
struct Taken {
    bytes: [u8; 100],
    done: usize,
}

impl Sink for Taken {
    fn room(&mut self, _index: usize, len: usize, _flags: u32) -> Option<&mut [u8]> {
        (len == VALUE.len()).then_some(&mut self.bytes)
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        let is_done = matches!(outcome, Outcome::Hit { .. } | Outcome::Stored);
        self.done += usize::from(is_done);
    }
}
