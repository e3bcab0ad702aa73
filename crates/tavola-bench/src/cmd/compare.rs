//! `tavola-bench compare`: arguments, what goes on, and the results for people.

use std::fs;
use std::path::{Path, PathBuf};

use tavola_bench::compare::report::Row;
use tavola_bench::compare::{self, Config, LETTERS, Progress, Results, markdown, page};
use tavola_bench::{Error, Result, command};
use tavola_program::interrupt::install_handlers;

use super::table::Printer;
use super::{json, show};

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

--only torment has none of them, but kills writers and servers, fills a small file system, goes
beyond limits, has readers stay, and lets four processes count: what becomes of each store is told.

Results go to --out: results.json, report.html (a page with charts that needs no network), and
rows.jsonl, in which a line is written as soon as a store had its turn, so that a run that was
ended goes on with --resume. Stores in memory are below /dev/shm unless --dir says otherwise; all
files of a run are gone at its end.

Examples:
  tavola-bench compare --quick                        three minutes
  tavola-bench compare --only e --peers tavola,lmdb
  tavola-bench compare --only torment                 what kills and full disks do to stores
  tavola-bench compare --out here --resume            go on where it was ended
  tavola-bench compare --report-only compared/results.json";

/// The word that takes the place of letters.
const TORMENT: &str = "torment";

/// Tavola beside the other stores there are
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    config: Config,
    /// Letters of the workloads, such as 'eg', or 'torment' [default: all; no torment if quick]
    #[arg(long, value_name = "LETTERS")]
    only: Option<String>,
    /// The folder for results [default: compared]; the page's file with --report-only
    #[arg(long, short, value_name = "PATH")]
    out: Option<PathBuf>,
    /// Measure nothing: make the page of a results.json there is, beside it or as --out
    #[arg(long, value_name = "RESULTS", conflicts_with_all = ["resume", "list", "json"])]
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
}

pub fn run(args: Args) -> Result<()> {
    if let Some(results) = &args.report_only {
        let report = page::write(results, args.out.as_deref())?;
        if let Some(page) = &args.page {
            let results = page::read(results)?;
            write_table(page, &results)?;
        }
        return show(report.display().to_string());
    }
    let only = args.only.as_deref();
    let config = Config {
        tavola: command::find(args.config.tavola.as_ref().map(|path| path.as_os_str()))?,
        only: match only {
            _ if args.list => String::new(),
            Some(TORMENT) => String::new(),
            only => only.unwrap_or(LETTERS).to_owned(),
        },
        torment: only == Some(TORMENT) || only.is_none() && !args.config.quick,
        out: args.out.unwrap_or_else(|| PathBuf::from("compared")),
        interrupted: install_handlers().map_err(|source| Error::Io {
            doing: "installing signal handlers",
            source,
        })?,
        ..args.config
    };
    if args.list {
        return list(&config);
    }
    let results = compare::run(&config, &mut |progress| tell(progress))?;
    if let Some(page) = &args.page {
        write_table(page, &results)?;
    }
    let report = page::write(&config.out.join("results.json"), None)?;
    eprintln!("# charts and tables: {}", report.display());
    match args.json {
        true => show(json(&results)),
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
    let failed = |why: String| Error::Page {
        path: page.to_owned(),
        why,
    };
    let text = fs::read_to_string(page);
    let text = text.map_err(|source| failed(format!("cannot read it ({source})")))?;
    let Some(text) = markdown::replaced(&text, &table) else {
        let [begin, end] = markdown::MARKS;
        let why = format!("it has no lines '{begin}' and '{end}' to write between");
        return Err(failed(why));
    };
    fs::write(page, text).map_err(|source| failed(format!("cannot write it ({source})")))
}

/// What goes on is no result: it goes to standard error.
fn tell(progress: &Progress) {
    match progress {
        Progress::Skipped { peer, why } => eprintln!("# without {peer}: {why}"),
        Progress::Trial {
            workload,
            title,
            at,
            of,
        } => eprintln!("# {at}/{of}  {workload}  {title}"),
        Progress::Tormented(row) => eprintln!(
            "# torment  {}  {}: {}: {}",
            row.peer, row.trial, row.outcome, row.detail
        ),
        Progress::Turn { peer, failed } => {
            if let Some(why) = failed {
                eprintln!("#   {peer}: {why}");
            }
        }
    }
}

fn list(config: &Config) -> Result<()> {
    let peers = compare::list(config)?;
    for peer in peers {
        let here = match &peer.skipped {
            None => peer.configuration.clone(),
            Some(why) => format!("not here: {why}"),
        };
        show(format!("{:<20}{:<30}{here}", peer.name, peer.title))?;
    }
    Ok(())
}
