//! Tavola beside the other stores there are: the same work for all of them, in one run.
//!
//! A *peer* is a store as one program uses it ([`peers`]). A *trial* is one case of a workload; all
//! peers that can do it take turns, as often as it is repeated, so that what changes on the machine
//! meanwhile meets all. In each turn the peer's program is started on its CPU with a job, does
//! it, and says what it came to, a line a phase ([`job`]); everything that is timed is timed within
//! the program, by the same loops for all programs of a language. Every answer of a store is
//! compared with what it should be.
//!
//! [`Results`] are made of what all turns came to, and written after each trial.

mod company;
mod facts;
mod found;
mod gather;
mod given;
pub mod inproc;
pub mod job;
mod leader;
mod machine;
mod markdown;
mod noise;
mod page;
mod peers;
mod program;
mod properties;
mod report;
mod roster;
mod runs;
pub mod servers;
mod sources;
mod supply;
pub mod torment;
mod turn;
mod usage;
mod workloads;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tavola_program::interrupt::install_handlers;

use self::given::Given;
use self::report::{Results, Row};
use self::workloads::LETTERS;
use crate::table::{Printer, show};
use crate::{Error, Result};

const HELP: &str = "\
Tavola and other stores do the same work in turn, on this machine, in one run. Each store is used
by a program of its own, in the language that --json names, which is put on one CPU; everything
that is timed is timed within that program, and every answer of a store is compared with what it
should be: a figure is of right answers. Stores that are not here are left out, with the reason.

Workloads:
  a  a company file: write all, read all, open and read one key
  b  10, 100 and 1,000 records of 8 KB: put and get
  c  10,000 keys of 1 byte and of 4 KB: write and read
  d  pairs of a set and a get, with a server: TCP and Unix, one CPU and two
  e  100 thousand, 1 million, 10 million keys: put, 98 % get, get, miss; several processes
  f  how long single calls take, the slowest as well
  g  how rates change as a store grows
  h  values of 16 bytes to 1 MB
  i  1, 2, ... processes
  j  durable stores on a disk, synced and not: put, get, transactions of 2 keys; 1 and 16 processes

--only torment has none of them, but kills writers and servers, fills a small file system, goes
beyond limits, has readers stay, and lets four processes count; it reports what each store does.

Results go to --out: results.json, which is written after each trial, so that a run that was ended
has what was measured by then, and report.html (a page with charts that needs no network). Stores
in memory are below /dev/shm unless --dir says otherwise; all files of a run are gone at its end.

Examples:
  tavola-bench compare --quick                        three minutes
  tavola-bench compare --only e --peers tavola,lmdb
  tavola-bench compare --only torment                 what kills and full disks do to stores
  tavola-bench compare --report-only compared/results.json";

/// The word that takes the place of letters.
const TORMENT: &str = "torment";

/// Tavola beside the other stores there are
#[derive(Default, clap::Args)]
#[command(after_help = HELP)]
pub struct Config {
    /// The program tavola whose server is compared [default: beside this one, else in PATH]
    #[arg(long, value_name = "PROGRAM")]
    tavola: Option<std::ffi::OsString>,
    /// Less of everything: done in three minutes
    #[arg(long, conflicts_with = "full")]
    quick: bool,
    /// 100 million keys, too
    #[arg(long)]
    full: bool,
    /// Letters of the workloads, such as 'eg', or 'torment' [default: all; no torment if quick]
    #[arg(long, value_name = "LETTERS")]
    only: Option<String>,
    /// Names of the stores, with commas between [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    peers: Vec<String>,
    /// Do everything so often, one after the other each time; the medians count
    #[arg(long, short, value_name = "R")]
    repeat: Option<u32>,
    /// The folder for results [default: compared]; the page's file with --report-only
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// The folder for stores in memory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// The file of workload a: lines of five fields with tabs between, the third the key, the fifth
    /// the value [default: one like it is made]
    #[arg(long, value_name = "PATH")]
    company_file: Option<PathBuf>,
    /// Measure nothing: make the page of a results.json there is, beside it or as --out
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["list", "json"])]
    report_only: Option<PathBuf>,
    /// Show the stores, and why some are left out, and end
    #[arg(long)]
    list: bool,
    /// A page whose table between the marks of the comparison is to be that of the results
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// The results as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: Given,
    /// Becomes true when the run is to end.
    #[arg(skip)]
    interrupted: Arc<AtomicBool>,
}

impl Config {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| "compared".into())
    }

    /// Letters of the workloads.
    fn letters(&self) -> &str {
        match self.only.as_deref() {
            Some(TORMENT) => "",
            only => only.unwrap_or(LETTERS),
        }
    }

    fn torments(&self) -> bool {
        match self.only.as_deref() {
            Some(only) => only == TORMENT,
            None => !self.quick,
        }
    }
}

/// Compares, or does what else is asked for.
pub fn run(mut config: Config) -> Result<()> {
    if let Some(results) = &config.report_only {
        let report = page::write(results, config.out.as_deref())?;
        if let Some(page) = &config.page {
            write_table(page, &page::read(results)?)?;
        }
        return show(report.display().to_string());
    }
    if config.list {
        return list(&config);
    }
    config.interrupted = install_handlers().map_err(Error::io("installing signal handlers"))?;
    let done = leader::run(&config);
    let file = config.out().join("results.json");
    if matches!(done, Ok(_) | Err(Error::Interrupted)) && file.is_file() {
        let report = page::write(&file, None)?;
        eprintln!("# charts and tables: {}", report.display());
    }
    let results = done?;
    if let Some(page) = &config.page {
        write_table(page, &results)?;
    }
    match config.json {
        true => show(serde_json::to_string(&results).expect("results have a JSON form")),
        false => summary(&results),
    }
}

const COLUMNS: &[&str] = &[
    "workload",
    "title",
    "phase",
    "peer",
    "median",
    "unit",
    "least",
    "most",
    "bytes_per_key",
    "p99_ns",
    "max_ns",
    "note",
];

/// All rows of a case together, the best first; then the trials, and what is missing.
fn summary(results: &Results) -> Result<()> {
    let mut rows: Vec<&Row> = results.rows.iter().collect();
    let case = |row: &Row| {
        (
            row.workload.clone(),
            row.case.keys,
            row.title.clone(),
            row.phase.clone(),
        )
    };
    rows.sort_by(|one, other| {
        let median = one.median.total_cmp(&other.median);
        let best = if one.is_rate() {
            median.reverse()
        } else {
            median
        };
        case(one).cmp(&case(other)).then(best)
    });
    Printer::new(false, COLUMNS).all(&rows)?;
    Printer::new(false, &["trial", "peer", "outcome", "detail"]).all(&results.torment)?;
    Printer::new(false, &[]).all(&results.left_out)?;
    for peer in &results.peers {
        if let Some(why) = &peer.skipped {
            show(format!("not here: {}: {why}", peer.name))?;
        }
    }
    Printer::new(false, &[]).all(&[&results.noise])
}

/// The page gets another table between its marks, if the results have the figures for one.
fn write_table(page: &Path, results: &Results) -> Result<()> {
    let Some(table) = markdown::table(results) else {
        let page = page.display();
        eprintln!("# {page} stays as it is: there are no figures of many keys, workload e");
        return Ok(());
    };
    let failed = |why: String| Error::file(page, why);
    let text = fs::read_to_string(page);
    let text = text.map_err(|source| failed(format!("cannot read it ({source})")))?;
    let Some(text) = markdown::replaced(&text, &table) else {
        let [begin, end] = markdown::MARKS;
        let why = format!("it has no lines '{begin}' and '{end}' to write between");
        return Err(failed(why));
    };
    fs::write(page, text).map_err(|source| failed(format!("cannot write it ({source})")))
}

fn list(config: &Config) -> Result<()> {
    let peers = roster::list(config)?;
    for peer in peers {
        let here = match &peer.skipped {
            None => peer.configuration.clone(),
            Some(why) => format!("not here: {why}"),
        };
        show(format!("{:<22}{:<30}{here}", peer.name, peer.title))?;
    }
    Ok(())
}
