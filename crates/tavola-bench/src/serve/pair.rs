//! The leader: servers and clients of a placement, pairs of runs, and what comes of them.

use std::path::PathBuf;

use rustix::thread::{CpuSet, sched_getaffinity};

use super::busy::Busy;
use super::job::{Address, Answer, Done, Job, Run, Setup};
use super::report::{LeftOut, Line, LoadLine, LocalLine, Sample, Samples};
use super::server::{Folder, Server};
use super::{Config, Cpus, Load, Part, Side, Transport, memory};
use crate::command;
use crate::member::{Member, out_of_turn};
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
    config.check()?;
    let mut config = config.clone();
    if let Some(program) = &config.against {
        match command::program(program) {
            Some(path) => config.against = Some(path.into()),
            None => {
                let left_out = format!("there is no {} here", program.display());
                let what = "memcached".to_owned();
                emit(&Line::LeftOut(LeftOut { what, left_out }))?;
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
            let what = format!("cpus {}", cpus.name());
            let left_out = "it needs two CPUs, and there is one here".to_owned();
            emit(&Line::LeftOut(LeftOut { what, left_out }))?;
            continue;
        };
        let _busy = Busy::start(config.busy, places.server_cpus(config.threads))?;
        for transport in config.transports.clone() {
            loads(&config, &sides, transport, &places, emit)?;
        }
        if config.has(Part::Local) {
            emit(&Line::Local(local(&config, &places)?))?;
        }
    }
    if config.has(Part::Memory)
        && let Some(places) = Places::of(Cpus::One)?
    {
        emit(&Line::Memory(memory::measure(&config, &sides, &places)?))?;
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
        let usable = sched_getaffinity(None).map_err(|errno| Error::Io {
            doing: "asking for the CPUs",
            source: errno.into(),
        })?;
        let usable: Vec<usize> = (0..CpuSet::MAX_CPU)
            .filter(|&cpu| usable.is_set(cpu))
            .collect();
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
pub(super) struct Client(Member);

impl Client {
    pub(super) fn start(
        config: &Config,
        cpu: usize,
        address: &Address,
        (keys, value_bytes): (u64, usize),
        table: Option<PathBuf>,
    ) -> Result<Self> {
        let mut member = Member::start(&(config.program.clone(), config.client.clone()))?;
        member.send(&Setup {
            leader_pid: std::process::id(),
            cpu,
            address: address.clone(),
            connections: CONNECTIONS,
            keys,
            value_bytes,
            table,
        })?;
        let mut client = Self(member);
        client.is_ready()?;
        Ok(client)
    }

    pub(super) fn does(&mut self, job: &Job) -> Result<()> {
        self.0.send(job)?;
        self.is_ready()
    }

    fn is_ready(&mut self) -> Result<()> {
        match self.hear()? {
            Answer::Ready => Ok(()),
            _ => Err(out_of_turn()),
        }
    }

    fn runs(&mut self, job: &Job) -> Result<Done> {
        self.0.send(job)?;
        match self.hear()? {
            Answer::Done(done) => Ok(done),
            _ => Err(out_of_turn()),
        }
    }

    fn hear(&mut self) -> Result<Answer> {
        match self.0.hear(0, "serve")? {
            Answer::Failed { wrong, what } => Err(Error::told(wrong, "serve", what)),
            answer => Ok(answer),
        }
    }
}

impl Seat {
    fn start(config: &Config, side: Side, transport: Transport, places: &Places) -> Result<Self> {
        let folder = Folder::new()?;
        let cpus = places.server_cpus(config.threads);
        let over_unix = transport == Transport::Unix;
        let server = Server::start(config, side, over_unix, cpus, &folder, MEMORY_MIB)?;
        let address = address(&server, transport)?;
        let size = (config.keys, config.value_bytes);
        let mut client = Client::start(config, places.client, address, size, None)?;
        drop(folder);
        client.does(&Job::Fill { both: true })?;
        Ok(Self { server, client })
    }

    fn run(&mut self, run: Run) -> Result<Sample> {
        let before = self.server.cpu_seconds()?;
        let done = self.client.runs(&Job::Run(run))?;
        let cpu_seconds = self.server.cpu_seconds()? - before;
        Ok(Sample { done, cpu_seconds })
    }
}

pub(super) fn address(server: &Server, transport: Transport) -> Result<&Address> {
    let address = match transport {
        Transport::Tcp => server.tcp.as_ref(),
        Transport::Unix => server.unix.as_ref(),
    };
    address.ok_or_else(|| Error::Worker {
        what: format!("{:?} does not listen on {}", server.side, transport.name()),
    })
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
    let server = Server::start(config, Side::Tavola, true, cpus, &folder, MEMORY_MIB)?;
    let size = (config.keys, config.value_bytes);
    let client = |transport| {
        let address = address(&server, transport)?;
        Client::start(config, places.client, address, size, Some(folder.table()))
    };
    let (mut tcp, mut unix) = (client(Transport::Tcp)?, client(Transport::Unix)?);
    drop(folder);
    tcp.does(&Job::Fill { both: false })?;
    let mut samples = [const { Vec::new() }; 3];
    for turn in 0..config.repeat {
        let run = Job::Run(Run {
            load: Load::Get,
            seconds: config.seconds,
            generation: u64::from(turn) + 1,
        });
        samples[0].push(tcp.runs(&run)?);
        samples[1].push(unix.runs(&run)?);
        samples[2].push(unix.runs(&Job::Direct {
            seconds: config.seconds,
        })?);
    }
    Ok(LocalLine::of(places.cpus, config, &samples))
}
