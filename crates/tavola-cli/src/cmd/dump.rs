//! `tavola dump`: all entries of a table, in one of the formats of `stream`.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use indicatif::ProgressBar;
use tavola::Table;

use crate::args::TableArg;
use crate::error::CliError;
use crate::progress;
use crate::stream::{Beside, Format, Sink};

const EXAMPLES: &str = "\
Examples:
  tavola dump sessions > sessions.jsonl
  tavola dump sessions sessions.tavola            binary, by the name of the file
  tavola dump sessions --format tsv | cut -f1     the keys
  tavola dump here --format binary | ssh there tavola load here

Other processes go on using the table: a key that is there all the time comes out at
least once, with a value that it had. All formats carry any bytes. The binary one is a
header, lengths with their bytes, and a trailer with count and checksum, so that
'tavola load' notices when some of it is missing.";

/// Write all entries of a table to a file or a pipe
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// Where to; '-' or nothing is standard output
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format [default: by the name of the file, else jsonl]
    #[arg(long, short, value_enum)]
    format: Option<Format>,
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let file = args.file.as_deref().filter(|path| *path != Path::new("-"));
    let format = args
        .format
        .or_else(|| Format::of_name(file?))
        .unwrap_or(Format::Jsonl);
    let table = args.table.open_to_read()?;
    match file {
        Some(path) => {
            let failed = |source| CliError::Write {
                path: path.to_path_buf(),
                source,
            };
            let file = File::create(path).map_err(failed)?;
            let bar = progress::over_keys(table.len()?);
            dump(
                &table,
                format,
                BufWriter::with_capacity(256 << 10, file),
                &bar,
                &failed,
            )?;
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
            dump(&table, format, out, &bar, &CliError::Output)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn dump(
    table: &Table,
    format: Format,
    out: impl Write,
    bar: &ProgressBar,
    failed: &dyn Fn(io::Error) -> CliError,
) -> Result<(), CliError> {
    let mut sink = format.sink(out).map_err(failed)?;
    let dumped = entries(table, &mut *sink, bar, failed);
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
    let mut since_tick = 0;
    let mut entries = table.iter();
    let damage = loop {
        let ((key, value, attributes), tags) = match entries.next_with_tags() {
            Ok(Some(entry)) => entry,
            Ok(None) => break None,
            // It comes once, after all keys that can be read: the dump of these is whole.
            Err(error) => break Some(error),
        };
        let names = table.tag_names(&tags)?;
        // Less of them: one was invalidated since, and the key is gone with it.
        if names.len() == tags.len() {
            let beside = Beside::of(attributes, names);
            sink.entry(key, value, &beside).map_err(failed)?;
        }
        since_tick += 1;
        if since_tick == TICK {
            bar.inc(TICK);
            since_tick = 0;
        }
    };
    sink.finish().map_err(failed)?;
    damage.map_or(Ok(()), |error| Err(error.into()))
}
