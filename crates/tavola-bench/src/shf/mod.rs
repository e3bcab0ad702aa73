//! A table of keys of 4 bytes, measured as SharedHashFile's users know it: a line a second.
//!
//! ```text
//! -OP MAPPED  FREED SPLIT TOTAL -PERCENT OPERATIONS PER PROCESS PER SECOND  -OPS
//! --- -MiB/s -MiB/s   -/s M-OPS  00  01                                     -M/s
//! PUT  214.3    0.0    96   5.4  50  50                                      5.4 -------
//! ```
//!
//! - `PUT`: every key for the first time. `UPD`: every key with another value. `MIX`: of every
//!   hundred keys, two are deleted and put again, which counts as one operation, and the others are
//!   read. `GET`: every key is read.
//! - A process has its share of the keys, and goes through them in ascending order. A key is a
//!   number of 32 bits, and its value another one. Every value that is read is compared.
//!
//! Each process counts its operations in a file that the leader reads once a second: a write of 8
//! bytes for [`worker::EACH`] operations.
//!
//! - [`board`]: the lines
//! - [`worker`]: a process, and the kinds of table
//! - [`tap`]: closing lines in the form of TAP: calls, queues, locks, a log

mod board;
mod tap;
mod worker;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tavola::Table;
use tavola_program::units::{parse_count, parse_time};

pub use tap::work as work_in_pairs;
pub use worker::work;

use self::board::{Board, Sample};
use crate::clock::monotonic_ns;
use crate::crew::Crew;
use crate::peer::Peer;
use crate::scratch::Scratch;
use crate::table::{Emit, show};
use crate::{Error, Place, Result};

/// The processes that use LMDB.
const LMDB: Peer = Peer {
    name: "LMDB",
    source: include_str!("../../peers/shf/lmdb.c"),
    header: "lmdb.h",
    library: "lmdb",
    package: "liblmdb-dev",
};

/// A phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum Phase {
    Put,
    Upd,
    Mix,
    Get,
}

impl Phase {
    const ALL: [Phase; 4] = [Phase::Put, Phase::Upd, Phase::Mix, Phase::Get];

    fn name(self) -> &'static str {
        match self {
            Phase::Put => "PUT",
            Phase::Upd => "UPD",
            Phase::Mix => "MIX",
            Phase::Get => "GET",
        }
    }
}

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
enum Store {
    /// A table
    Tavola,
    /// A table of fixed lengths, whose items have no header
    Fixed,
    /// A table that gives each key a uid
    Uids,
    /// A cache that all keys fit in
    Cache,
    /// LMDB in shared memory, nothing synced; 1,000 puts are a transaction
    Lmdb,
}

impl Store {
    fn name(self) -> &'static str {
        match self {
            Store::Tavola => "tavola",
            Store::Fixed => "fixed",
            Store::Uids => "uids",
            Store::Cache => "cache",
            Store::Lmdb => "lmdb",
        }
    }
}

const HELP: &str = "\
The columns of a line:
  MAPPED FREED   memory that the store took, and gave back
  SPLIT          segments of the index that were split (none of LMDB)
  TOTAL          operations of all phases so far
  PERCENT        the share of each process in the operations of this second
  OPS            operations a second, and a dash for each 0.75 million

The last line of a phase is for what is left of a second. With --json, there is an object for each
line, one for each phase with its mean, and one for the memory at the end. The variables
SHF_PERFORMANCE_TEST_KEYS, _CPUS, _FIXED and _MIX are taken if the options are not given.

Examples:
  tavola-bench shf                                        1 million keys, two processes
  tavola-bench shf --keys 100M --procs 16                 as on SharedHashFile's page
  tavola-bench shf --keys 10M --stores tavola,fixed,lmdb  beside LMDB, in one run
  tavola-bench shf --tap                                  closing lines with estimates";

/// A line a second, as SharedHashFile's test prints them: put, update, mixed, get
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// Keys; K, M and G stand for thousands, millions, milliards
    #[arg(long, short, value_name = "N", default_value = "1M", value_parser = parse_count)]
    #[arg(env = "SHF_PERFORMANCE_TEST_KEYS")]
    keys: u64,
    /// Processes
    #[arg(
        long,
        short,
        value_name = "P",
        default_value_t = 2,
        env = "SHF_PERFORMANCE_TEST_CPUS"
    )]
    procs: u32,
    /// The stores, with commas between, one after the other
    #[arg(long, value_name = "STORES", value_enum, value_delimiter = ',')]
    #[arg(default_value = "tavola")]
    stores: Vec<Store>,
    /// The same as `--stores fixed`
    #[arg(long, conflicts_with = "stores")]
    fixed: bool,
    /// Per cent of the mixed phase that are deleted and put again
    #[arg(
        long,
        value_name = "PERCENT",
        default_value_t = 2,
        env = "SHF_PERFORMANCE_TEST_MIX"
    )]
    mix: u32,
    /// The time between two lines
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = parse_time)]
    every: Duration,
    /// Then print the results of single calls, queues, locks and a log, as TAP
    #[arg(long)]
    tap: bool,
    /// Print JSON, one object per line
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    place: Place,
}

impl Config {
    fn check(&self) -> Result<()> {
        let most = u64::from(u32::MAX);
        match () {
            () if self.keys == 0 => Err(Error::option("keys", "at least one key is needed")),
            () if self.keys > most => Err(Error::option("keys", "a key is a number of 32 bits")),
            () if self.procs == 0 => Err(Error::option("procs", "at least one process is needed")),
            () if self.procs > 64 => Err(Error::option("procs", "at most 64 have a column")),
            () if u64::from(self.procs) > self.keys => {
                Err(Error::option("procs", "more processes than keys"))
            }
            () if self.mix > 100 => Err(Error::option("mix", "at most 100 per cent")),
            () if self.every < Duration::from_millis(1) => {
                Err(Error::option("every", "at least 1 ms"))
            }
            () => Ok(()),
        }
    }

    fn stores(&self) -> Vec<Store> {
        let is_set = |text: String| !text.is_empty() && text != "0";
        let by_variable = std::env::var("SHF_PERFORMANCE_TEST_FIXED").is_ok_and(is_set);
        let is_default = self.stores == [Store::Tavola];
        match self.fixed || (by_variable && is_default) {
            true => vec![Store::Fixed],
            false => self.stores.clone(),
        }
    }

    fn place_of(&self, store: Store) -> Place {
        let mut place = self.place.clone();
        match store {
            Store::Fixed => place.fixed = Some((4, 4)),
            // Many times what a key takes, so that nothing is evicted.
            Store::Cache => place.capacity = Some((self.keys * 128).max(64 << 20)),
            _ => {}
        }
        place
    }
}

/// Measures the stores one after the other. Text goes to standard output, objects to `emit`.
pub fn run(config: &Config, emit: Emit<'_>) -> Result<()> {
    config.check()?;
    let mut out = Out {
        as_json: config.json,
        emit,
    };
    let stores = config.stores();
    stores
        .iter()
        .try_for_each(|store| one(config, *store, &mut out))?;
    match config.tap {
        true => tap::run(&config.place, config.keys, config.json, out.emit),
        false => Ok(()),
    }
}

/// Where results go.
struct Out<'a> {
    as_json: bool,
    emit: Emit<'a>,
}

impl Out<'_> {
    fn line(
        &mut self,
        text: impl FnOnce() -> String,
        object: impl FnOnce() -> Value,
    ) -> Result<()> {
        match self.as_json {
            true => (self.emit)(&object()),
            false => show(text()),
        }
    }
}

/// A store while it is measured, as the leader sees it.
struct Measured {
    store: Store,
    crew: Crew<worker::Job, worker::Done>,
    /// Where the processes count.
    counts: File,
    /// How much memory the store takes.
    size: Size,
}

enum Size {
    Table(Box<Table>),
    File(File),
}

impl Measured {
    fn start(config: &Config, store: Store) -> Result<Self> {
        // Removed as soon as all processes have opened what is in it.
        let folder = tempfile::Builder::new()
            .prefix("tavola-shf-")
            .tempdir_in("/dev/shm");
        let folder = folder.map_err(Error::io("making a folder for the counts"))?;
        let counts = folder.path().join("counts");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&counts);
        let file = file.map_err(Error::io("making a file for the counts"))?;
        let length = file.set_len(8 * u64::from(config.procs));
        length.map_err(Error::io("making a file for the counts"))?;
        let mut crew = Crew::new("shf");
        let (path, size, scratch) = match store {
            Store::Lmdb => {
                let path = folder.path().join("lmdb");
                (path, None, None)
            }
            store => {
                let (scratch, table) = create(config, store)?;
                (
                    PathBuf::from(scratch.name()),
                    Some(Size::Table(Box::new(table))),
                    Some(scratch),
                )
            }
        };
        let program = match store {
            Store::Lmdb => Some(LMDB.compile(folder.path())?),
            _ => None,
        };
        for part in 0..config.procs {
            let setup = worker::Setup {
                leader_pid: std::process::id(),
                part,
                parts: config.procs,
                keys: config.keys,
                mix: config.mix,
                counts: counts.clone(),
                path: path.clone(),
            };
            match &program {
                Some(program) => crew.hire_program(program, &setup)?,
                None => crew.hire("shf-worker", &setup)?,
            }
            crew.ready(part as usize)?;
        }
        let size = match size {
            Some(size) => size,
            None => Size::File(open(&path)?),
        };
        if let Some(mut scratch) = scratch {
            scratch.unlink()?;
        }
        Ok(Self {
            store,
            crew,
            counts: file,
            size,
        })
    }

    fn sample(&self) -> Result<Sample> {
        let (bytes, splits) = match &self.size {
            Size::Table(table) => {
                let stats = table.stats()?;
                (stats.resident_bytes, stats.segments)
            }
            Size::File(file) => (board::backed_bytes(file)?, 0),
        };
        Ok(Sample {
            at_ns: monotonic_ns(),
            bytes,
            splits,
            counts: board::counts(&self.counts, self.crew.len())?,
        })
    }
}

fn create(config: &Config, store: Store) -> Result<(Scratch, Table)> {
    let place = config.place_of(store);
    match store {
        Store::Uids => Scratch::create_with(&place, |options| options.uids(true)),
        _ => Scratch::create(&place),
    }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(Error::io("opening the file of LMDB"))
}

fn one(config: &Config, store: Store, out: &mut Out<'_>) -> Result<()> {
    if store == Store::Lmdb
        && let Some(why) = LMDB.missing()
    {
        let object = || json!({"store": store.name(), "skipped": why});
        return out.line(|| format!("* lmdb is left out: {why}"), object);
    }
    let mut measured = Measured::start(config, store)?;
    if !config.json {
        board::head(store.name(), config.procs as usize)?;
    }
    let mut board = Board::new(measured.sample()?);
    for phase in Phase::ALL {
        let start_ns = measured.crew.start_ns();
        let job = worker::Job { phase, start_ns };
        (0..measured.crew.len()).try_for_each(|at| measured.crew.send(at, &job))?;
        board.begin(start_ns, measured.sample()?);
        let done = watch(config, &mut measured, &mut board, phase, out)?;
        let sum = board::sum(store.name(), phase.name(), start_ns, &done);
        if config.json {
            (out.emit)(&sum)?;
        }
    }
    let mixed = worker::mixed(config.keys, config.procs, config.mix);
    let bytes = measured.sample()?.bytes;
    out.line(
        || {
            let (mix, got) = (config.mix, config.keys - mixed);
            let size = bytes as f64 / f64::from(1 << 20);
            format!(
                "* MIX is {mix}% ({mixed}) del/put, {}% ({got}) get\nDB size: {size:.1} MiB",
                100 - mix
            )
        },
        || {
            json!({
                "store": store.name(), "mix_percent": config.mix, "del_put": mixed,
                "get": config.keys - mixed, "db_bytes": bytes,
            })
        },
    )?;
    measured.crew.end()
}

/// Prints a line each time the interval has passed, until all processes are done, and one for the
/// rest.
fn watch(
    config: &Config,
    measured: &mut Measured,
    board: &mut Board,
    phase: Phase,
    out: &mut Out<'_>,
) -> Result<Vec<worker::Done>> {
    // The processes count the last operation before they answer.
    const LOOK: Duration = Duration::from_millis(5);
    let every_ns = config.every.as_nanos() as u64;
    let mut next_ns = board.began_ns() + every_ns;
    let all = match phase {
        Phase::Put => 1,
        Phase::Upd => 2,
        Phase::Mix => 3,
        Phase::Get => 4,
    };
    loop {
        sleep(LOOK.min(config.every));
        let counts = board::counts(&measured.counts, measured.crew.len())?;
        let is_over = counts.iter().sum::<u64>() >= config.keys * all;
        if !is_over && measured.crew.has_ended()? {
            // Asking for the answer reports why.
            break;
        }
        if is_over || monotonic_ns() >= next_ns {
            next_ns += every_ns;
            let line = board.line(measured.sample()?);
            out.line(
                || line.text(phase.name()),
                || line.object(measured.store.name(), phase.name()),
            )?;
        }
        if is_over {
            break;
        }
    }
    (0..measured.crew.len())
        .map(|at| measured.crew.done(at))
        .collect()
}
