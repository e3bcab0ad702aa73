//! The leader: servers and clients of a placement, pairs of runs, and what comes of them.

use std::path::PathBuf;

use serde_json::json;

use super::busy::Busy;
use super::job::{Done, Job, Run, Setup};
use super::report::{Line, LoadLine, LocalLine, MemoryLine, Sample, Samples, SideMemory};
use super::server::{Folder, Server};
use super::{Config, Cpus, Load, Side, Transport};
use crate::command;
use crate::compare::servers::Listening;
use crate::crew::Crew;
use crate::duty::usable_cpus;
use crate::{Error, Result};

/// Memory that the servers of loads may take, in MiB: much more than they need.
const MEMORY_MIB: u64 = 1024;
/// A client makes as many connections as any load needs.
const CONNECTIONS: usize = 50;

/// Runs it; `emit` is given each line as soon as it is known.
///
/// # Errors
///
/// Whatever a server or the system refuses, whatever `emit` returns, and a wrong answer.
pub fn run(config: &Config, emit: &mut dyn FnMut(&Line) -> Result<()>) -> Result<()> {
    let mut config = config.settled();
    config.check()?;
    config.tavola = command::find(config.tavola.as_deref())?.map(Into::into);
    if config.tavola.is_none() {
        return Err(Error::NoCommand);
    }
    if let Some(program) = &config.against {
        match command::program(program) {
            Some(path) => config.against = Some(path.into()),
            None => {
                let left_out = format!("there is no {} here", program.display());
                let line = json!({"what": "memcached", "left_out": left_out});
                emit(&Line::LeftOut(line))?;
                config.against = None;
            }
        }
    }
    let sides = match config.against {
        Some(_) => vec![Side::Tavola, Side::Memcached],
        None => vec![Side::Tavola],
    };
    for cpus in config.cpus.clone() {
        let Some(places) = Places::of(cpus)? else {
            let left_out = "it needs two CPUs, and there is one here";
            let line = json!({"what": "cpus two", "left_out": left_out});
            emit(&Line::LeftOut(line))?;
            continue;
        };
        let _busy = Busy::start(config.busy, places.server_cpus(config.threads))?;
        for transport in config.transports.clone() {
            loads(&config, &sides, transport, &places, emit)?;
        }
        if config.has(Load::Local) {
            emit(&Line::Local(local(&config, &places)?))?;
        }
    }
    if config.has(Load::Memory)
        && let Some(places) = Places::of(Cpus::One)?
    {
        emit(&Line::Memory(memory(&config, &sides, &places)?))?;
    }
    Ok(())
}

/// The CPUs of a placement.
#[derive(Clone, Debug)]
pub(super) struct Places {
    cpus: Cpus,
    pub(super) client: usize,
    pub(super) server: Vec<usize>,
}

impl Places {
    /// `None`: there are not enough.
    fn of(cpus: Cpus) -> Result<Option<Self>> {
        let usable = usable_cpus()?;
        let client = usable[0];
        let server = match cpus {
            Cpus::One => vec![client],
            Cpus::Two => usable[1..].to_vec(),
        };
        Ok((!server.is_empty()).then_some(Self {
            cpus,
            client,
            server,
        }))
    }

    /// As many as there are threads.
    pub(super) fn server_cpus(&self, threads: usize) -> &[usize] {
        &self.server[..threads.min(self.server.len())]
    }
}

/// A server and the client that asks it.
pub(super) struct Seat {
    pub(super) server: Server,
    pub(super) client: Client,
}

/// A client process, as the leader sees it.
pub(super) type Client = Crew<Job, Done>;

fn client(
    cpu: usize,
    address: &Listening,
    (keys, value_bytes): (u64, usize),
    table: Option<PathBuf>,
) -> Result<Client> {
    let mut client = Crew::new("serve");
    let setup = Setup {
        leader_pid: std::process::id(),
        cpu,
        address: address.clone(),
        connections: CONNECTIONS,
        keys,
        value_bytes,
        table,
    };
    client.hire("client", &setup)?;
    client.ready(0)?;
    Ok(client)
}

impl Seat {
    fn start(config: &Config, side: Side, transport: Transport, places: &Places) -> Result<Self> {
        let folder = Folder::new()?;
        let cpus = places.server_cpus(config.threads);
        let server = Server::start(config, side, transport, cpus, &folder, MEMORY_MIB)?;
        let size = (config.keys, config.value_bytes);
        let mut client = client(places.client, server.address(transport)?, size, None)?;
        drop(folder);
        client.prepare(0, &Job::Fill { both: true })?;
        Ok(Self { server, client })
    }

    fn run(&mut self, run: Run) -> Result<Sample> {
        let before = self.server.cpu_seconds()?;
        let done = self.client.run(0, &Job::Run(run))?;
        let cpu_seconds = self.server.cpu_seconds()? - before;
        Ok(Sample { done, cpu_seconds })
    }
}

fn loads(
    config: &Config,
    sides: &[Side],
    transport: Transport,
    places: &Places,
    emit: &mut dyn FnMut(&Line) -> Result<()>,
) -> Result<()> {
    let loads: Vec<Load> = config.loads().collect();
    if loads.is_empty() {
        return Ok(());
    }
    let mut seats = Vec::new();
    for side in sides {
        seats.push(Seat::start(config, *side, transport, places)?);
    }
    let mut generation = 0;
    for load in loads {
        let mut samples: Vec<Samples> = seats.iter().map(|_| Samples::default()).collect();
        for turn in 0..config.repeat {
            let mut order: Vec<usize> = (0..seats.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            generation += 1;
            for at in order {
                samples[at].add(seats[at].run(Run {
                    load,
                    seconds: config.seconds,
                    generation,
                })?);
            }
        }
        emit(&Line::Load(LoadLine::of(
            (load, transport, places.cpus),
            config,
            &samples,
        )))?;
    }
    Ok(())
}

/// Gets over both sockets and without one, in turn.
fn local(config: &Config, places: &Places) -> Result<LocalLine> {
    let folder = Folder::new()?;
    let cpus = places.server_cpus(config.threads);
    let unix = Transport::Unix;
    let server = Server::start(config, Side::Tavola, unix, cpus, &folder, MEMORY_MIB)?;
    let size = (config.keys, config.value_bytes);
    let client = |transport| {
        let address = server.address(transport)?;
        client(places.client, address, size, Some(folder.table()))
    };
    let (mut tcp, mut unix) = (client(Transport::Tcp)?, client(Transport::Unix)?);
    drop(folder);
    tcp.prepare(0, &Job::Fill { both: false })?;
    let mut samples = [const { Vec::new() }; 3];
    for turn in 0..config.repeat {
        let run = Job::Run(Run {
            load: Load::Get,
            seconds: config.seconds,
            generation: u64::from(turn) + 1,
        });
        samples[0].push(tcp.run(0, &run)?);
        samples[1].push(unix.run(0, &run)?);
        samples[2].push(unix.run(
            0,
            &Job::Direct {
                seconds: config.seconds,
            },
        )?);
    }
    Ok(LocalLine::of(places.cpus, config, &samples))
}

/// Bytes of each value whose memory is measured.
const ITEM_BYTES: usize = 100;

/// Stores the items in each server, reads all of them back, and asks for its memory.
fn memory(config: &Config, sides: &[Side], places: &Places) -> Result<MemoryLine> {
    let mut line = MemoryLine {
        part: "memory",
        items: config.items,
        key_bytes: super::keys::KEY_BYTES,
        value_bytes: ITEM_BYTES,
        threads: config.threads,
        tavola: None,
        memcached: None,
        ratio: None,
    };
    // Room for all of them, whatever an item takes.
    let memory_mib = 1024 + config.items * 400 / (1 << 20);
    let unix = Transport::Unix;
    for &side in sides {
        let folder = Folder::new()?;
        let cpus = places.server_cpus(config.threads);
        let server = Server::start(config, side, unix, cpus, &folder, memory_mib)?;
        let size = (config.items, ITEM_BYTES);
        let mut client = client(places.client, server.address(unix)?, size, None)?;
        drop(folder);
        let empty_bytes = server.memory_bytes()?;
        client.prepare(0, &Job::Fill { both: false })?;
        client.prepare(0, &Job::ReadAll)?;
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
