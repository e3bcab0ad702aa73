//! `tavola load`: entries from a file or a pipe into a table, in batches.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use tavola::Table;

use crate::args::TableArg;
use crate::error::CliError;
use crate::progress;
use crate::stream::tsv::Columns;
use crate::stream::{Batch, Format, Source, binary};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola load sessions sessions.jsonl
  curl -s https://example.org/entries.jsonl | tavola load sessions
  tavola load words words.tsv --key 1 --value 3
  tavola load unicode UnicodeData.txt --separator ';' --key 1 --value 2 --raw
  tavola dump old --format binary | tavola load new

Makes the table when it is not there; a key that is there gets the new value. A file that
is damaged or cut short ends with exit code 2; what came before that place stays loaded.";

/// Read entries from a file or a pipe into a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// Where from; '-' or nothing is standard input
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format [default: by the beginning or the name of the file, else jsonl]
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Options of tab-separated text")]
struct ColumnArgs {
    /// The column of the key, counted from 1 [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_column)]
    key: Option<usize>,
    /// The column of the value [default: 2]
    #[arg(long, value_name = "N", value_parser = parse_column)]
    value: Option<usize>,
    /// What stands between columns [default: a tab]
    #[arg(long, value_name = "CHAR", value_parser = parse_separator)]
    separator: Option<u8>,
    /// Backslashes mean themselves, not \t, \n, \r and \\
    #[arg(long)]
    raw: bool,
}

impl ColumnArgs {
    fn any(&self) -> bool {
        self.key.is_some() || self.value.is_some() || self.separator.is_some() || self.raw
    }

    fn columns(&self) -> Columns {
        let plain = Columns::default();
        Columns {
            key: self.key.unwrap_or(plain.key),
            value: self.value.unwrap_or(plain.value),
            separator: self.separator.unwrap_or(plain.separator),
            raw: self.raw,
        }
    }
}

fn parse_column(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("'{text}' is not a column; the first one is 1")),
    }
}

fn parse_separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && *byte != b'\n' => Ok(*byte),
        _ => Err(format!("'{text}' is not one ASCII character")),
    }
}

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let (path, input, total) = open(args.file.as_deref())?;
    let bar = progress::over_bytes(total);
    let mut input = BufReader::with_capacity(256 << 10, bar.wrap_read(input));
    let failed = |source| CliError::Read {
        path: path.clone(),
        source,
    };
    let format = choose(&args, &path, input.fill_buf().map_err(failed)?)?;
    let table = args.table.open_or_create()?;
    let started = Instant::now();
    let mut source = format.source(input, args.columns.columns());
    let mut loaded = 0;
    let poured = pour(&table, &mut *source, &path, &mut loaded);
    bar.finish_and_clear();
    poured.map_err(|source| CliError::Partial {
        loaded,
        source: Box::new(source),
    })?;
    if io::stderr().is_terminal() {
        let (entries, seconds) = (units::count(loaded), started.elapsed().as_secs_f64());
        eprintln!(
            "loaded {entries} entries into {} in {seconds:.1} s",
            args.table.label()
        );
    }
    Ok(ExitCode::SUCCESS)
}

type Input = (PathBuf, Box<dyn Read>, Option<u64>);

/// The input, what to call it, and its size where that is known.
fn open(file: Option<&Path>) -> Result<Input, CliError> {
    let Some(path) = file.filter(|path| *path != Path::new("-")) else {
        let stdin = io::stdin();
        if file.is_none() && stdin.is_terminal() {
            return Err(CliError::NoInput {
                wanted: "file to load",
            });
        }
        return Ok((PathBuf::from("standard input"), Box::new(stdin), None));
    };
    let failed = |source| CliError::Read {
        path: path.to_path_buf(),
        source,
    };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let total = metadata.is_file().then_some(metadata.len());
    Ok((path.to_path_buf(), Box::new(file), total))
}

/// The format: as asked for, else by the options, by how the input begins, by its name.
fn choose(args: &Args, path: &Path, beginning: &[u8]) -> Result<Format, CliError> {
    match args.format {
        Some(Format::Jsonl | Format::Binary) if args.columns.any() => {
            let why = "--key, --value, --separator and --raw are for tab-separated text; \
                leave them out or give --format tsv";
            Err(CliError::Sentence(why.to_string()))
        }
        Some(format) => Ok(format),
        None if args.columns.any() => Ok(Format::Tsv),
        None if beginning.starts_with(&binary::MAGIC) => Ok(Format::Binary),
        None => Ok(Format::of_name(path).unwrap_or(Format::Jsonl)),
    }
}

/// Stores all entries of the source, a batch at a time; `loaded` counts those that are stored,
/// also when it ends with an error.
fn pour(
    table: &Table,
    source: &mut dyn Source,
    path: &Path,
    loaded: &mut u64,
) -> Result<(), CliError> {
    let mut batch = Batch::default();
    loop {
        let more = source.next(&mut batch);
        if batch.is_full() || !matches!(more, Ok(true)) {
            for (pairs, attributes, tags) in batch.runs() {
                if tags.is_empty() {
                    table.set_many_with(&pairs, attributes)?;
                    continue;
                }
                let tags = table.fetch_tags(tags)?;
                for (key, value) in pairs {
                    table.set_tagged(key, value, attributes, &tags)?;
                }
            }
            *loaded += batch.len() as u64;
            batch.clear();
        }
        if !more.map_err(|bad| bad.of(path))? {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_from_one_and_separators_are_one_character() {
        assert_eq!(parse_column("3"), Ok(3));
        assert!(parse_column("0").is_err());
        assert!(parse_column("-1").is_err());
        assert_eq!(parse_separator(";"), Ok(b';'));
        assert_eq!(parse_separator("\t"), Ok(b'\t'));
        assert_eq!(parse_separator("\\t"), Ok(b'\t'));
        assert!(parse_separator(";;").is_err());
        assert!(parse_separator("").is_err());
        assert!(parse_separator("ü").is_err());
    }
}
