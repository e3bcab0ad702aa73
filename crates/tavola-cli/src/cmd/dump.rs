//! `tavola dump`: all entries of a table, in one of the formats of `stream`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;

use indicatif::ProgressBar;
use tavola::Table;
use tavola_cdb::Constant;

use crate::args::TableArg;
use crate::constant;
use crate::error::CliError;
use crate::progress::{self, Lasting};
use crate::stream::{Beside, Format, Sink, folder};

const EXAMPLES: &str = "\
Examples:
  tavola dump sessions > sessions.jsonl
  tavola dump sessions sessions.tavola            binary, by the name of the file
  tavola dump sessions sessions.csv               for a spreadsheet
  tavola dump sessions --format tsv | cut -f1     the keys
  tavola dump pages --dir ./pages                 one file per key
  tavola dump here --format binary | ssh there tavola load here
  tavola dump words --format cdb | cdb -c words.cdb
  tavola dump ./words.cdb                         a constant file
  mkdir lmdb; tavola dump words --format mdb | mdb_load lmdb
  tavola dump words --format mdb-print            text as of mdb_dump -p
  tavola dump words --format bdb | db_load words.db
  tavola dump words --format gdbm | gdbm_load - words.gdbm
  tavola dump words --format pgcopy | psql -c 'COPY words FROM STDIN'

Other processes can use the table meanwhile: a key that exists during the whole dump is
written at least once, with a value that it had. All formats but memcached can hold any
bytes; only jsonl, json and binary keep TTLs, flags and tags; memcached omits tags. The
binary format ends with a count and a checksum, so that 'tavola load' detects an
incomplete dump. With --dir, bytes of a key that a file name cannot contain are written as
% and two hexadecimal digits. Progress is shown on standard error: a bar on a terminal,
otherwise a line every 10 seconds.";

/// Write all entries of a table to a file or standard output
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The file to write [default: standard output, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format [default: from the file name, else jsonl]
    #[arg(long, short, value_parser = Format::written())]
    format: Option<Format>,
    /// Write one file per key into this directory, which must be new or empty
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "format"])]
    dir: Option<PathBuf>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let table = match constant::open(args.table.name())? {
        Some(file) => Entries::Constant(Box::new(file)),
        None => Entries::Table(args.table.keys_to_read()?),
    };
    if let Some(folder) = &args.dir {
        let failed = failure(folder);
        let mut sink = folder::Writer::new(folder).map_err(&failed)?;
        let bar = progress::over_keys(table.len()?);
        dump(&table, &mut sink, &bar, &failed)?;
        return Ok(ExitCode::SUCCESS);
    }
    let file = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let format = args
        .format
        .or_else(|| Format::of_name(file?))
        .unwrap_or(Format::Jsonl);
    match file {
        Some(path) => {
            let failed = failure(path);
            let file = File::create(path).map_err(&failed)?;
            let bar = progress::over_keys(table.len()?);
            let out = BufWriter::with_capacity(256 << 10, file);
            let mut sink = format.sink(out).map_err(&failed)?;
            dump(&table, &mut *sink, &bar, &failed)?;
        }
        None => {
            let stdout = io::stdout().lock();
            let on_terminal = stdout.is_terminal();
            if on_terminal && format == Format::Binary {
                return Err(CliError::BinaryToTerminal);
            }
            let bar = match on_terminal {
                true => ProgressBar::hidden(),
                false => progress::over_keys(table.len()?),
            };
            let out = BufWriter::with_capacity(256 << 10, stdout);
            let mut sink = format.sink(out).map_err(CliError::Output)?;
            dump(&table, &mut *sink, &bar, &CliError::Output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What is dumped.
enum Entries {
    Table(Rc<Table>),
    Constant(Box<Constant>),
}

impl Entries {
    fn len(&self) -> Result<u64, CliError> {
        match self {
            Entries::Table(table) => Ok(table.len()?),
            Entries::Constant(file) => Ok(file.len()),
        }
    }
}

/// Writes the records of a constant file.
fn records(
    file: &Constant,
    sink: &mut dyn Sink,
    bar: &ProgressBar,
    failed: &dyn Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    let mut lasting = Lasting::new("written");
    let mut written = 0;
    constant::each(file, |key, value| {
        sink.entry(key, value, &Beside::default()).map_err(failed)?;
        bar.inc(1);
        written += 1;
        lasting.tick(written);
        Ok(true)
    })?;
    sink.finish().map_err(failed)
}

/// Returns what an error of writing a file or folder is.
fn failure(path: &Path) -> impl Fn(io::Error) -> CliError + '_ {
    |source| CliError::Write {
        path: path.to_path_buf(),
        source,
    }
}

fn dump(
    table: &Entries,
    sink: &mut dyn Sink,
    bar: &ProgressBar,
    failed: &dyn Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    let dumped = match table {
        Entries::Table(table) => entries(table, sink, bar, failed),
        Entries::Constant(file) => records(file, sink, bar, failed),
    };
    bar.finish_and_clear();
    dumped
}

fn entries(
    table: &Table,
    sink: &mut dyn Sink,
    bar: &ProgressBar,
    failed: &dyn Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    const TICK: u64 = 1024;
    let (mut since_tick, mut written) = (0, 0);
    let mut lasting = Lasting::new("written");
    let mut entries = table.iter();
    let damage = loop {
        let ((key, value, attributes), tags) = match entries.next_with_tags() {
            Ok(Some(entry)) => entry,
            Ok(None) => break None,
            // It comes once, after all keys that can be read: the dump of these is complete.
            Err(error) => break Some(error),
        };
        let names = table.tag_names(&tags)?;
        // If there are fewer, one was invalidated since, and the key is gone with it.
        if names.len() == tags.len() {
            let beside = Beside::of(attributes, names);
            sink.entry(key, value, &beside).map_err(failed)?;
        }
        since_tick += 1;
        if since_tick == TICK {
            bar.inc(TICK);
            since_tick = 0;
            written += TICK;
            lasting.tick(written);
        }
    };
    sink.finish().map_err(failed)?;
    damage.map_or(Ok(()), |error| Err(error.into()))
}
