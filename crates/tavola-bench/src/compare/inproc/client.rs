//! Servers of memcached's protocols, and a table in their place, asked by `tavola-client`: the
//! pairs of workload d, as `peers/c/harness/few.h` has them.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use tavola_client::{Client, Protocol, StoreOptions};

use super::{Memory, Result};
use crate::Error;
use crate::bytes::mix64;
use crate::clock::monotonic_ns;
use crate::compare::job::{EndLine, Job, PhaseLine, Reply};
use crate::duty::answer;

/// Pairs between two readings of the clock.
const STRIDE: u64 = 16;

/// Does the job. `memory_before` is what the program had before the client was made.
pub(super) fn run(job: &Job, memory_before: u64) -> Result<()> {
    let client = open(job)?;
    // Connects, or opens the table, as other programs do before a phase.
    client.get(b"k").map_err(failed)?;
    for phase in &job.case.phases {
        if phase != "pairs" {
            return Err(Error::worker(format!("it knows no phase {phase}")));
        }
        answer(&pairs(job, &client)?)?;
    }
    let memory = Memory::now();
    answer(&EndLine {
        end: true,
        version: format!("tavola-client {}", env!("CARGO_PKG_VERSION")),
        bytes: memory.now.saturating_sub(memory_before),
        keys: job.case.keys,
        peak_rss_bytes: memory.peak,
    })
}

/// The server of the job, or a table in its folder if there is none.
fn open(job: &Job) -> Result<Client> {
    let name = match &job.address {
        Some(path) if path.starts_with('/') => format!("unix:{path}"),
        Some(address) => address.clone(),
        None => format!("tavola:{}", job.dir.join("table").display()),
    };
    let builder = Client::builder().server(&name, 1.0);
    let builder = match job.case.protocol.as_deref() {
        Some("binary") => builder.protocol(Protocol::Binary),
        _ => builder,
    };
    builder
        .build()
        .map_err(|error| Error::worker(error.to_string()))
}

fn pairs(job: &Job, client: &Client) -> Result<PhaseLine> {
    let case = &job.case;
    let wanted = case.loops.unwrap_or(0);
    let options = match case.reply {
        Some(Reply::Noreply) => StoreOptions::default().without_reply(),
        _ => StoreOptions::default(),
    };
    let mut times_put = vec![0_u64; usize::try_from(case.keys).unwrap_or(0)];
    let limit_ns = case.limit_ms.map_or(u64::MAX, |ms| ms * 1_000_000);
    let (mut ops, mut is_right) = (0, true);
    let (cpu_before, begin_ns, begin) = (cpu_ns(), monotonic_ns(), Instant::now());
    while ops < wanted {
        let index = ops % case.keys.max(1);
        let count = &mut times_put[index as usize];
        *count += 1;
        let key = format!("k{index:07}");
        let value = value_of(mix64(index).wrapping_add(*count), case.value_bytes);
        client
            .set(key.as_bytes(), &value, options)
            .map_err(failed)?;
        let found = client.get(key.as_bytes()).map_err(failed)?;
        is_right &= found.is_some_and(|found| found.data == value);
        ops += 1;
        if ops % STRIDE == 0 && begin.elapsed().as_nanos() as u64 > limit_ns {
            break;
        }
    }
    Ok(PhaseLine {
        phase: "pairs".to_owned(),
        ops,
        seconds: begin.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_ns() - cpu_before) as f64 / 1e9,
        verified: is_right,
        begin_ns: Some(begin_ns),
        end_ns: Some(monotonic_ns()),
        ..PhaseLine::default()
    })
}

/// A value of so many bytes: the word, again and again.
fn value_of(word: u64, bytes: usize) -> Vec<u8> {
    word.to_le_bytes().into_iter().cycle().take(bytes).collect()
}

fn failed(error: tavola_client::Error) -> Error {
    Error::worker(error.to_string())
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
