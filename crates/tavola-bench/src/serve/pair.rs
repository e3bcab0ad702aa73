//! The leader: servers and clients of a placement, pairs of runs, and what comes of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::client::{Done, Job, Run, Setup};
use super::server::{Folder, Server};
use super::{Config, Cpus, Load, Side, Transport};
use crate::command;
use crate::compare::servers::Listening;
use crate::crew::Crew;
use crate::duty::{stay_on, usable_cpus};
use crate::latency::Latency;
use crate::stats::Spread;
use crate::{Emit, Error, Result};

/// Memory that the servers of loads may take, in MiB: much more than they need.
const MEMORY_MIB: u64 = 1024;
/// A client makes as many connections as any load needs.
const CONNECTIONS: usize = 50;

/// Runs it; `emit` is given each line as soon as it is known.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    let mut config = config.with_quick_numbers();
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
                emit(&json!({"what": "memcached", "left_out": left_out}))?;
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
            emit(&json!({"what": "cpus two", "left_out": left_out}))?;
            continue;
        };
        let _busy = Busy::start(config.busy, places.server_cpus(config.threads));
        for transport in config.transports.clone() {
            loads(&config, &sides, transport, &places, emit)?;
        }
    }
    if config.has(Load::Memory)
        && let Some(places) = Places::of(Cpus::One)?
    {
        emit(&memory(&config, &sides, &places)?)?;
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
    /// Returns `None` if there are not enough CPUs.
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

fn client(cpu: usize, address: &Listening, keys: u64, value_bytes: usize) -> Result<Client> {
    let mut client = Crew::new("serve");
    let setup = Setup {
        leader_pid: std::process::id(),
        cpu,
        address: address.clone(),
        connections: CONNECTIONS,
        keys,
        value_bytes,
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
        let (keys, value_bytes) = (config.keys, config.value_bytes);
        let address = server.address(transport)?;
        let mut client = client(places.client, address, keys, value_bytes)?;
        drop(folder);
        client.prepare(0, &Job::Fill { both: true })?;
        Ok(Self { server, client })
    }

    /// What the client did, and the CPU time of the server meanwhile.
    fn run(&mut self, run: Run) -> Result<(Done, f64)> {
        let before = self.server.cpu_seconds()?;
        let done = self.client.run(0, &Job::Run(run))?;
        Ok((done, self.server.cpu_seconds()? - before))
    }
}

fn loads(
    config: &Config,
    sides: &[Side],
    transport: Transport,
    places: &Places,
    emit: Emit<'_>,
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
        let mut samples: Vec<Vec<(Done, f64)>> = seats.iter().map(|_| Vec::new()).collect();
        for turn in 0..config.repeat {
            let mut order: Vec<usize> = (0..seats.len()).collect();
            if turn % 2 == 1 {
                order.reverse();
            }
            generation += 1;
            for at in order {
                samples[at].push(seats[at].run(Run {
                    load,
                    seconds: config.seconds,
                    generation,
                })?);
            }
        }
        let ratios = ratios(&samples);
        emit(&json!({
            "load": load, "transport": transport, "cpus": places.cpus, "threads": config.threads,
            "busy": config.busy, "connections": load.connections(), "depth": load.depth(),
            "value_bytes": config.value_bytes, "pairs": config.repeat,
            "ratio": ratios.map(|ratios| ratios.median),
            "least": ratios.map(|ratios| ratios.least), "most": ratios.map(|ratios| ratios.most),
            "tavola": rate(&samples[0]), "memcached": samples.get(1).map(|other| rate(other)),
        }))?;
    }
    Ok(())
}

/// Bytes of each value whose memory is measured.
const ITEM_BYTES: usize = 100;

/// Stores the items in each server, reads all of them back, and asks for its memory.
fn memory(config: &Config, sides: &[Side], places: &Places) -> Result<Value> {
    let mut line = json!({
        "part": "memory", "items": config.items, "key_bytes": super::keys::KEY_BYTES,
        "value_bytes": ITEM_BYTES, "threads": config.threads,
    });
    // Room for all of them, whatever an item takes.
    let memory_mib = 1024 + config.items * 400 / (1 << 20);
    let (unix, mut full) = (Transport::Unix, Vec::new());
    for &side in sides {
        let folder = Folder::new()?;
        let cpus = places.server_cpus(config.threads);
        let server = Server::start(config, side, unix, cpus, &folder, memory_mib)?;
        let mut client = client(
            places.client,
            server.address(unix)?,
            config.items,
            ITEM_BYTES,
        )?;
        drop(folder);
        let empty_bytes = server.memory_bytes()?;
        client.prepare(0, &Job::Fill { both: false })?;
        client.prepare(0, &Job::ReadAll)?;
        let full_bytes = server.memory_bytes()?;
        full.push(full_bytes as f64);
        let name = json!(side).as_str().unwrap_or_default().to_owned();
        line[name] = json!({
            "empty_bytes": empty_bytes, "full_bytes": full_bytes,
            "bytes_per_item": full_bytes as f64 / config.items as f64,
        });
    }
    if let [ours, theirs] = full[..] {
        line["ratio"] = json!(ours / theirs);
    }
    Ok(line)
}

/// Thousand keys a second of each run.
fn kops(samples: &[(Done, f64)]) -> Vec<f64> {
    let rates = samples
        .iter()
        .map(|(done, _)| done.ops as f64 * 1e6 / done.ns.max(1) as f64);
    rates.collect()
}

/// What one server did under a load, in all runs.
fn rate(samples: &[(Done, f64)]) -> Value {
    let rates = Spread::of(kops(samples));
    let latency = Latency::merged(samples.iter().map(|(done, _)| &done.latency)).percentiles();
    let us = |ns: u64| ns as f64 / 1e3;
    let ops: u64 = samples.iter().map(|(done, _)| done.ops).sum();
    let cpu_seconds: f64 = samples.iter().map(|(_, seconds)| seconds).sum();
    json!({
        "kops": rates.median, "least_kops": rates.least, "most_kops": rates.most,
        "p50_us": us(latency.p50_ns), "p99_us": us(latency.p99_ns),
        "p999_us": us(latency.p999_ns), "cpu_us": cpu_seconds * 1e6 / ops.max(1) as f64,
    })
}

/// This server's rates by the other's, within the pairs.
fn ratios(samples: &[Vec<(Done, f64)>]) -> Option<Spread> {
    let pairs = kops(&samples[0]).into_iter().zip(kops(samples.get(1)?));
    Some(Spread::of(pairs.map(|(ours, theirs)| ours / theirs)))
}

/// Loops that share the CPUs of the servers: threads that use all the CPU time they get, until
/// dropped. To the scheduler each is what a busy process is.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn start(count: usize, cpus: &[usize]) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        for &cpu in cpus.iter().cycle().take(count) {
            let is_over = Arc::clone(&is_over);
            std::thread::spawn(move || {
                // Where it may not choose, the scheduler does.
                let _ = stay_on(Some(cpu));
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(is_over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(all: &[(u64, f64)]) -> Vec<(Done, f64)> {
        let sample = |&(ops, cpu_seconds): &(u64, f64)| {
            let mut latency = Latency::of_waiting();
            latency.record(7_000);
            let done = Done {
                ops,
                ns: 1_000_000_000,
                latency: latency.summary(),
            };
            (done, cpu_seconds)
        };
        all.iter().map(sample).collect()
    }

    #[test]
    fn rates_are_medians_and_ratios_those_within_the_pairs() {
        let ours = samples(&[(100_000, 0.5), (300_000, 0.5), (240_000, 0.6)]);
        let theirs = samples(&[(50_000, 0.5), (300_000, 1.0), (200_000, 1.0)]);
        let rates = rate(&ours);
        for (name, wanted) in [
            ("least_kops", 100.0),
            ("kops", 240.0),
            ("most_kops", 300.0),
            ("p50_us", 7.0),
            ("cpu_us", 2.5),
        ] {
            assert!(
                (rates[name].as_f64().unwrap() - wanted).abs() < 0.1,
                "{rates}"
            );
        }
        let ratios = ratios(&[ours, theirs]).unwrap();
        assert_eq!((ratios.least, ratios.median, ratios.most), (1.0, 1.2, 2.0));
    }
}
