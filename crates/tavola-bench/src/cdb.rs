//! Constant files beside TinyCDB: making a file, reading all records, getting keys.
//!
//! Each round does every phase with each of the files, one right after the other, so that a machine
//! that is slower in one minute than in the next is as slow for all of them; what counts is the
//! ratio to TinyCDB within a round. The order of the files changes from round to round. TinyCDB is
//! used by a program in C, compiled when it is needed, the other formats by this one.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use tavola_cdb::{Constant, Format, FrozenWriter, Put, Record, Writer};
use tavola_program::interrupt::install_handlers;
use tavola_program::units::parse_count;

use crate::bytes::mix64;
use crate::compare::servers::bound;
use crate::peer::{Peer, PeerProcess};
use crate::stats::{Spread, median};
use crate::{Emit, Error, Result};

const HELP: &str = "\
Phases, with keys and values of 8 bytes, one process:
  build  make a file, without waiting for a disk
  first  open it and read all records; Tavola's frozen file compares its checksums here
  scan   read all records once more
  get    as many gets of random keys that are there
  bytes  bytes of the file for each key
Files: tinycdb; cdb, the same format by this project; frozen, a format of this project.

mops are millions of records in a second on a processor, which other work on the machine changes
less than those of an hour on the wall. ratio is mops (of bytes: the bytes) divided by those of
TinyCDB in the same round, the median of all rounds, beside the least and the most. goal is what was
aimed at, and met whether the median reaches it.

Examples:
  tavola-bench cdb
  tavola-bench cdb --keys 1M,10M --dir /var/tmp
  tavola-bench cdb --json | jq 'select(.met == false)'";

/// The columns of a line for people.
pub const COLUMNS: &[&str] = &[
    "keys",
    "phase",
    "file",
    "mops",
    "bytes_per_key",
    "ratio",
    "least",
    "most",
    "goal",
    "met",
];

/// Constant files, beside TinyCDB
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Numbers of keys, with commas between
    #[arg(long, short, value_name = "N,N", value_delimiter = ',')]
    #[arg(default_value = "1M", value_parser = parse_count)]
    keys: Vec<u64>,
    /// Rounds; medians count
    #[arg(long, short, value_name = "R", default_value_t = 9)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// The directory for the files
    #[arg(long, value_name = "DIR", default_value = "/dev/shm")]
    dir: PathBuf,
    /// Print one JSON object per line
    #[arg(long)]
    pub json: bool,
}

const TINYCDB: Peer = Peer {
    name: "TinyCDB",
    source: include_str!("../peers/cdb/tinycdb.c"),
    header: "cdb.h",
    library: "cdb",
    package: "libcdb-dev",
};

/// A cdb file of more has more than 4 GiB.
const MOST_KEYS: u64 = 100_000_000;

const PHASES: [&str; 4] = ["build", "first", "scan", "get"];

/// TinyCDB is the first.
const FILES: [&str; 3] = ["tinycdb", "cdb", "frozen"];

/// A goal of a frozen file.
enum Goal {
    /// At least so many times the rate of TinyCDB.
    Ratio(f64),
    /// At least so many millions of records a second.
    Mops(f64),
    /// At most so many bytes a key.
    Bytes(f64),
}

impl Goal {
    fn of(file: &str, phase: &str) -> Option<Self> {
        match (file, phase) {
            ("frozen", "build") => Some(Self::Ratio(1.0)),
            ("frozen", "scan") => Some(Self::Mops(100.0)),
            ("frozen", "get") => Some(Self::Ratio(1.3)),
            ("frozen", "bytes") => Some(Self::Bytes(32.0)),
            _ => None,
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Ratio(least) => format!("ratio {least}"),
            Self::Mops(least) => format!("{least} mops"),
            Self::Bytes(most) => format!("{most} bytes"),
        }
    }

    fn is_met(&self, figure: f64, ratio: f64) -> bool {
        match self {
            Self::Ratio(least) => ratio >= *least,
            Self::Mops(least) => figure >= *least,
            Self::Bytes(most) => figure <= *most,
        }
    }
}

pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    if config
        .keys
        .iter()
        .any(|keys| !(1..=MOST_KEYS).contains(keys))
    {
        return Err(Error::option("keys", "from 1 to 100M keys are possible"));
    }
    if let Some(left_out) = TINYCDB.missing() {
        return emit(&json!({"what": TINYCDB.name, "left_out": left_out}));
    }
    // After Ctrl-C, the folder is removed as well.
    let interrupted = install_handlers().map_err(Error::io("installing signal handlers"))?;
    let folder = tempfile::Builder::new()
        .prefix("tavola-cdb-")
        .tempdir_in(&config.dir)
        .map_err(Error::io("making a folder for the files"))?;
    let program = TINYCDB.compile(folder.path())?;
    for keys in &config.keys {
        let mut bench = Bench::start(*keys, folder.path(), &program)?;
        let rounds: Result<Vec<_>> = (0..config.repeat)
            .map(|round| match bench.round(round as usize) {
                _ if interrupted.load(Ordering::Relaxed) => Err(Error::Interrupted),
                done => done,
            })
            .collect();
        bench.report(&rounds?, emit)?;
    }
    Ok(())
}

/// The measurements of one number of keys.
struct Bench {
    keys: Keys,
    paths: [PathBuf; 3],
    theirs: PeerProcess,
    /// Open files of `FILES`; TinyCDB's is open in its process.
    open: [Option<Constant>; 3],
}

/// Millions of records a second, by phase and file.
type Rates = [[f64; FILES.len()]; PHASES.len()];

impl Bench {
    fn start(keys: u64, folder: &Path, program: &Path) -> Result<Self> {
        let paths = FILES.map(|name| folder.join(name));
        let mut command = bound(program);
        command.arg(&paths[0]).arg(keys.to_string());
        let sum = (0..keys).map(mix64).fold(0, u64::wrapping_add);
        Ok(Self {
            keys: Keys { count: keys, sum },
            paths,
            theirs: PeerProcess::start(TINYCDB.name, command)?,
            open: [const { None }; 3],
        })
    }

    fn round(&mut self, round: usize) -> Result<Rates> {
        let mut rates = Rates::default();
        // Not 0, which would stay 0.
        let seed = mix64(round as u64 + 1);
        for (place, phase) in PHASES.iter().enumerate() {
            for turn in 0..FILES.len() {
                let file = (turn + round) % FILES.len();
                rates[place][file] = self.measure(phase, file, seed)?;
            }
        }
        Ok(rates)
    }

    /// Returns millions of records a second.
    fn measure(&mut self, phase: &str, file: usize, seed: u64) -> Result<f64> {
        if file == 0 {
            let (records, ns) = self.theirs.ask(&format!("{phase} {seed}"))?;
            return Ok(records / ns * 1e3);
        }
        if phase == "build" {
            // TinyCDB's program does the same, out of the time.
            self.open[file] = None;
            let _ = std::fs::remove_file(&self.paths[file]);
        }
        let (path, keys, begin) = (&self.paths[file], self.keys, processor_time());
        match phase {
            "build" if FILES[file] == "cdb" => build_cdb(path, keys.count)?,
            "build" => build_frozen(path, keys.count)?,
            "first" => scan(self.open[file].insert(Constant::open(path)?), keys)?,
            "scan" => scan(self.opened(file), keys)?,
            _ => get(self.opened(file), keys.count, seed)?,
        }
        let elapsed = processor_time() - begin;
        Ok(keys.count as f64 / elapsed.as_secs_f64() / 1e6)
    }

    fn opened(&self, file: usize) -> &Constant {
        self.open[file].as_ref().expect("a phase before opened it")
    }

    fn report(&self, rounds: &[Rates], emit: Emit<'_>) -> Result<()> {
        let line = |phase: &str, file: &str, figure: f64, ratio: Spread| {
            let name = if phase == "bytes" {
                "bytes_per_key"
            } else {
                "mops"
            };
            let goal = Goal::of(file, phase);
            json!({
                "keys": self.keys.count, "phase": phase, "file": file, name: figure,
                "ratio": ratio.median, "least": ratio.least, "most": ratio.most,
                "goal": goal.as_ref().map(Goal::text),
                "met": goal.map(|goal| goal.is_met(figure, ratio.median)),
                "rounds": rounds.len(),
            })
        };
        for (place, phase) in PHASES.iter().enumerate() {
            for (file, name) in FILES.iter().enumerate() {
                let of_phase = || rounds.iter().map(|round| round[place]);
                let ratio = Spread::of(of_phase().map(|rates| rates[file] / rates[0]));
                let mops = median(of_phase().map(|rates| rates[file]));
                emit(&line(phase, name, mops, ratio))?;
            }
        }
        let mut bytes = [0.0; FILES.len()];
        for (file, path) in self.paths.iter().enumerate() {
            let data = std::fs::metadata(path).map_err(Error::io("examining a file"))?;
            bytes[file] = data.len() as f64 / self.keys.count as f64;
            let ratio = Spread::of([bytes[file] / bytes[0]]);
            emit(&line("bytes", FILES[file], bytes[file], ratio))?;
        }
        Ok(())
    }
}

/// How long this process has been on processors.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How many keys a file has, and the sum of them.
#[derive(Clone, Copy)]
struct Keys {
    count: u64,
    sum: u64,
}

/// Keys of a file, and the value of each.
fn pairs(keys: u64) -> impl Iterator<Item = ([u8; 8], [u8; 8])> {
    (0..keys).map(|index| {
        let key = mix64(index);
        (key.to_ne_bytes(), (!key).to_ne_bytes())
    })
}

fn build_cdb(path: &Path, keys: u64) -> Result<()> {
    let options = Writer::options().format(Format::Cdb).sync(false);
    let mut writer = options.create(path)?;
    for (key, value) in pairs(keys) {
        writer.put(key, value, Put::Add)?;
    }
    writer.finish()?;
    Ok(())
}

fn build_frozen(path: &Path, keys: u64) -> Result<()> {
    let mut writer = FrozenWriter::options().sync(false).create(path)?;
    for (key, value) in pairs(keys) {
        writer.put(key, value)?;
    }
    writer.finish()?;
    Ok(())
}

fn scan(file: &Constant, wanted: Keys) -> Result<()> {
    match file {
        Constant::Cdb(cdb) => scan_all(cdb.records(), wanted),
        Constant::Frozen(frozen) => scan_all(frozen.records(), wanted),
    }
}

fn scan_all<'a>(
    records: impl Iterator<Item = tavola_cdb::Result<Record<'a>>>,
    wanted: Keys,
) -> Result<()> {
    let (mut count, mut sum) = (0, 0_u64);
    for record in records {
        let Record { key, value } = record?;
        let key = word(key)?;
        if word(value)? != !key {
            return Err(Error::wrong("scan", "another value"));
        }
        count += 1;
        sum = sum.wrapping_add(key);
    }
    match (count, sum) == (wanted.count, wanted.sum) {
        true => Ok(()),
        false => Err(Error::wrong("scan", "other records than were put")),
    }
}

fn get(file: &Constant, keys: u64, seed: u64) -> Result<()> {
    match file {
        Constant::Cdb(cdb) => get_all(|key| cdb.find(key).next().transpose(), keys, seed),
        Constant::Frozen(frozen) => get_all(|key| frozen.find(key), keys, seed),
    }
}

fn get_all<'a>(
    find: impl Fn(&[u8]) -> tavola_cdb::Result<Option<Record<'a>>>,
    keys: u64,
    seed: u64,
) -> Result<()> {
    let mut state = seed;
    for _ in 0..keys {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let key = mix64(((u128::from(state) * u128::from(keys)) >> 64) as u64);
        let Some(record) = find(&key.to_ne_bytes())? else {
            return Err(Error::wrong("get", "a missing key"));
        };
        if word(record.value)? != !key {
            return Err(Error::wrong("get", "another value"));
        }
    }
    Ok(())
}

#[inline(always)]
fn word(span: tavola_cdb::Span<'_>) -> Result<u64> {
    let mut bytes = [0; 8];
    span.copy_to(&mut bytes)?;
    match span.len() {
        8 => Ok(u64::from_ne_bytes(bytes)),
        _ => Err(Error::wrong("scan", "a record of another length")),
    }
}
