//! The lines of the result.

use serde::Serialize;

use super::job::Done;
use super::{Config, Cpus, Load, Transport};
use crate::latency::{Merged, Percentiles};
use crate::stats::{Spread, median};

/// One line of the result.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Line {
    /// A load, over all pairs of runs.
    Load(LoadLine),
    /// What a local process saves.
    Local(LocalLine),
    /// What items take.
    Memory(MemoryLine),
    /// What was not measured.
    LeftOut(serde_json::Value),
}

/// A load over one transport at one placement.
#[derive(Clone, Debug, Serialize)]
pub struct LoadLine {
    /// The load.
    pub load: Load,
    /// What it went over.
    pub transport: Transport,
    /// Where client and server ran.
    pub cpus: Cpus,
    /// Threads of each server.
    pub threads: usize,
    /// Busy loops that shared the CPUs of the servers.
    pub busy: usize,
    /// Connections of the client.
    pub connections: usize,
    /// Keys of a trip.
    pub depth: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Pairs of runs, or runs where there is no other server.
    pub pairs: usize,
    /// Median of the ratios within the pairs: this server's rate by the other's.
    pub ratio: Option<f64>,
    /// The least of them.
    pub least: Option<f64>,
    /// The most.
    pub most: Option<f64>,
    /// This server.
    pub tavola: Rate,
    /// The other.
    pub memcached: Option<Rate>,
}

/// What one server did under a load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Thousand keys a second, the median of the runs.
    pub kops: f64,
    /// The slowest run.
    pub least_kops: f64,
    /// The fastest.
    pub most_kops: f64,
    /// Of all trips of all runs, microseconds: half were faster.
    pub p50_us: f64,
    /// 99 of 100 were.
    pub p99_us: f64,
    /// 999 of 1,000 were.
    pub p999_us: f64,
    /// Microseconds of the server's CPU time a key.
    pub cpu_us: f64,
}

/// Gets of one key after the other, over sockets and without.
#[derive(Clone, Debug, Serialize)]
pub struct LocalLine {
    /// Always `local`.
    pub part: &'static str,
    /// Where client and server ran.
    pub cpus: Cpus,
    /// Threads of the server.
    pub threads: usize,
    /// Nanoseconds a get over TCP, the median of the runs.
    pub tcp_ns: f64,
    /// The same over a Unix socket.
    pub unix_ns: f64,
    /// Nanoseconds of [`tavola::Table::get_into`], comparing the value included.
    pub direct_ns: f64,
}

/// What items take.
#[derive(Clone, Debug, Serialize)]
pub struct MemoryLine {
    /// Always `memory`.
    pub part: &'static str,
    /// How many there are.
    pub items: u64,
    /// Bytes of a key.
    pub key_bytes: usize,
    /// Bytes of a value.
    pub value_bytes: usize,
    /// Threads of each server.
    pub threads: usize,
    /// This server with its table.
    pub tavola: Option<SideMemory>,
    /// The other.
    pub memcached: Option<SideMemory>,
    /// This server's memory by the other's.
    pub ratio: Option<f64>,
}

/// The memory of one server: what its process has for itself and of files, and what it shares.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SideMemory {
    /// Before the first item.
    pub empty_bytes: u64,
    /// With all of them.
    pub full_bytes: u64,
    /// The latter by the items.
    pub bytes_per_item: f64,
}

/// One run.
pub(super) struct Sample {
    pub(super) done: Done,
    pub(super) cpu_seconds: f64,
}

/// The runs of one server under a load.
#[derive(Default)]
pub(super) struct Samples(Vec<Sample>);

impl Samples {
    pub(super) fn add(&mut self, sample: Sample) {
        self.0.push(sample);
    }

    fn rates(&self) -> Vec<f64> {
        let rates = self.0.iter().map(|sample| kops(&sample.done));
        rates.collect()
    }

    fn rate(&self) -> Rate {
        let rates = Spread::of(self.rates());
        let mut merged = Merged::new();
        let (mut ops, mut cpu_seconds) = (0, 0.0);
        for sample in &self.0 {
            merged.add(&sample.done.latency);
            ops += sample.done.ops;
            cpu_seconds += sample.cpu_seconds;
        }
        let Percentiles {
            p50_ns,
            p99_ns,
            p999_ns,
            ..
        } = merged.percentiles();
        Rate {
            kops: rates.median,
            least_kops: rates.least,
            most_kops: rates.most,
            p50_us: p50_ns as f64 / 1e3,
            p99_us: p99_ns as f64 / 1e3,
            p999_us: p999_ns as f64 / 1e3,
            cpu_us: cpu_seconds * 1e6 / ops.max(1) as f64,
        }
    }
}

impl LoadLine {
    /// `samples`: those of this server, then those of the other, if there is one.
    pub(super) fn of(
        (load, transport, cpus): (Load, Transport, Cpus),
        config: &Config,
        samples: &[Samples],
    ) -> Self {
        let other = samples.get(1);
        let ratios = other.map(|other| {
            let pairs = samples[0].rates().into_iter().zip(other.rates());
            Spread::of(pairs.map(|(ours, theirs)| ours / theirs))
        });
        Self {
            load,
            transport,
            cpus,
            threads: config.threads,
            busy: config.busy,
            connections: load.connections(),
            depth: load.depth(),
            value_bytes: config.value_bytes,
            pairs: samples[0].0.len(),
            ratio: ratios.map(|ratios| ratios.median),
            least: ratios.map(|ratios| ratios.least),
            most: ratios.map(|ratios| ratios.most),
            tavola: samples[0].rate(),
            memcached: other.map(Samples::rate),
        }
    }
}

impl LocalLine {
    /// `samples`: over TCP, over a Unix socket, without either.
    pub(super) fn of(cpus: Cpus, config: &Config, samples: &[Vec<Done>; 3]) -> Self {
        let [tcp_ns, unix_ns, direct_ns] = samples.each_ref().map(|all| {
            let each = all
                .iter()
                .map(|done| done.ns as f64 / done.ops.max(1) as f64);
            median(each)
        });
        Self {
            part: "local",
            cpus,
            threads: config.threads,
            tcp_ns,
            unix_ns,
            direct_ns,
        }
    }
}

fn kops(done: &Done) -> f64 {
    done.ops as f64 * 1e6 / done.ns.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Latency;

    fn samples(all: &[(u64, f64)]) -> Samples {
        let sample = |&(ops, cpu_seconds): &(u64, f64)| {
            let mut latency = Latency::of_waiting();
            latency.record(7_000);
            Sample {
                done: Done {
                    ops,
                    ns: 1_000_000_000,
                    latency: latency.summary(),
                },
                cpu_seconds,
            }
        };
        Samples(all.iter().map(sample).collect())
    }

    #[test]
    fn rates_are_medians_and_ratios_those_within_the_pairs() {
        let ours = samples(&[(100_000, 0.5), (300_000, 0.5), (240_000, 0.6)]);
        let theirs = samples(&[(50_000, 0.5), (300_000, 1.0), (200_000, 1.0)]);
        let rate = ours.rate();
        assert_eq!(
            (rate.least_kops, rate.kops, rate.most_kops),
            (100.0, 240.0, 300.0)
        );
        assert!((rate.cpu_us - 2.5).abs() < 1e-9, "{rate:?}");
        assert!((rate.p50_us - 7.0).abs() < 0.1, "{rate:?}");
        let pairs = ours.rates().into_iter().zip(theirs.rates());
        let ratios = Spread::of(pairs.map(|(one, other)| one / other));
        assert_eq!((ratios.least, ratios.median, ratios.most), (1.0, 1.2, 2.0));
    }
}
