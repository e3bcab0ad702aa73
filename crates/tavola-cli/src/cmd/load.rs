//! `tavola load`: entries from a file or a pipe into a table, in batches.

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Read};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use indicatif::ProgressBar;
use tavola::Table;

use crate::args::TableArg;
use crate::constant;
use crate::error::CliError;
use crate::progress::{self, Lasting};
use crate::rights::RightsArgs;
use crate::stream::tsv::Columns;
use crate::stream::{Batch, Format, Source, binary, cdb, folder, gdbm, jsonl, mdb, memcached, rdb};
use crate::units;

const EXAMPLES: &str = "\
Examples:
  tavola load sessions sessions.jsonl
  curl -s https://example.org/entries.jsonl | tavola load sessions
  tavola load words words.tsv --key 1 --value 3
  tavola load people people.csv --key 2 --value 5
  tavola load pages --dir ./pages                 one file per key
  tavola load unicode UnicodeData.txt --separator ';' --key 1 --value 2 --raw
  tavola dump old --format binary | tavola load new
  mdb_dump ./lmdb | tavola load people            from LMDB; likewise cdb -d words.cdb
  db_dump people.db | tavola load people --keep   from Berkeley DB; only keys that are new
  memcached-tool localhost dump | tavola load m   from memcached
  tavola load people /var/lib/redis/dump.rdb      from Redis, its strings
  gdbm_dump people.gdbm - | tavola load people    from GDBM
  psql -c 'COPY people TO STDOUT' | tavola load people --format pgcopy

Creates the table if it is missing; an existing key gets the new value, unless --keep is
given. If a file is damaged or incomplete, the exit code is 2; the entries before that
place stay loaded, and the error reports their number. Without --format, the name and
the first bytes of the file determine the format; unless it is jsonl or binary, a line
on standard error reports the choice. With --dir, the key is the path below the
directory, in which % and two hexadecimal digits are a byte. Progress is shown on
standard error: a bar on a terminal, otherwise a line every 10 seconds.";

/// Load entries from a file or standard input into a table
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    table: TableArg,
    /// The file to read [default: standard input, also '-']
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// The format [default: from the first bytes or the name of the file, else jsonl]
    #[arg(long, short, value_enum)]
    format: Option<Format>,
    /// Load each file in this directory and its subdirectories as the value of a key
    #[arg(long, value_name = "DIR", conflicts_with_all = ["file", "format"])]
    dir: Option<PathBuf>,
    /// Leave keys that exist as they are
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    rights: RightsArgs,
    /// With rdb: the number of the database whose keys to load
    #[arg(long, value_name = "N", default_value_t = 0)]
    database: u32,
}

#[derive(clap::Args)]
#[command(next_help_heading = "Options of tsv, csv and pgcopy")]
struct ColumnArgs {
    /// The column of the key, counted from 1 [default: 1]
    #[arg(long, value_name = "N", value_parser = parse_column)]
    key: Option<usize>,
    /// The column of the value [default: 2]
    #[arg(long, value_name = "N", value_parser = parse_column)]
    value: Option<usize>,
    /// The separator of columns [default: a tab, or a comma]
    #[arg(long, value_name = "CHAR", value_parser = parse_separator)]
    separator: Option<u8>,
    /// With tsv: take backslashes literally, not as \t, \n, \r and \\
    #[arg(long)]
    raw: bool,
    /// With csv: the first line is an entry, not the column names
    #[arg(long)]
    no_header: bool,
}

impl ColumnArgs {
    fn any(&self) -> bool {
        self.key.is_some()
            || self.value.is_some()
            || self.separator.is_some()
            || self.raw
            || self.no_header
    }

    fn columns(&self) -> Columns {
        let plain = Columns::default();
        Columns {
            key: self.key.unwrap_or(plain.key),
            value: self.value.unwrap_or(plain.value),
            separator: self.separator,
            raw: self.raw,
            has_header: !self.no_header,
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
    if let Some(folder) = &args.dir {
        return load(
            &args,
            &mut folder::Reader::new(folder),
            folder,
            &ProgressBar::hidden(),
        );
    }
    let (path, input, total) = open(args.file.as_deref())?;
    let bar = progress::over_bytes(total);
    let mut input = BufReader::with_capacity(256 << 10, bar.wrap_read(input));
    let failed = |source| CliError::Read {
        path: path.clone(),
        source,
    };
    let first = input.fill_buf().map_err(failed)?;
    let format = choose(args.format, args.columns.any(), &path, first)?;
    let mut source = format.source(input, args.columns.columns(), args.database);
    load(&args, &mut *source, &path, &bar)
}

fn load(
    args: &Args,
    source: &mut dyn Source,
    path: &Path,
    bar: &ProgressBar,
) -> Result<ExitCode, CliError> {
    let table = args.table.keys_or_create_with(args.rights)?;
    let started = Instant::now();
    let mut pouring = Pouring {
        table: &table,
        is_keeping: args.keep,
        taken: 0,
        kept: 0,
    };
    let poured = pouring.pour(source, path);
    bar.finish_and_clear();
    let Pouring { taken, kept, .. } = pouring;
    poured.map_err(|source| CliError::Partial {
        loaded: taken,
        source: Box::new(source),
    })?;
    if let Some(what) = source.left_out() {
        eprintln!("tavola: {}: {what}", path.display());
    }
    if io::stderr().is_terminal() {
        let (entries, seconds) = (units::count(taken - kept), started.elapsed().as_secs_f64());
        let kept = match kept {
            0 => String::new(),
            kept => format!("; {} kept", units::counted(kept, "existing key")),
        };
        eprintln!(
            "loaded {entries} entries into {} in {seconds:.1} s{kept}",
            args.table.label()
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// An input, what to call it, and its size if that is known.
type Input = (PathBuf, Box<dyn Read>, Option<u64>);

/// The input, what to call it, and its size where that is known.
pub(super) fn open(file: Option<&Path>) -> Result<Input, CliError> {
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

/// Returns the format: as asked for, else by the options, the first bytes and the name of the
/// input. Says so if it is a guess.
pub(super) fn choose(
    format: Option<Format>,
    has_columns: bool,
    path: &Path,
    first: &[u8],
) -> Result<Format, CliError> {
    if let Some(format) = format {
        if has_columns && !matches!(format, Format::Tsv | Format::Csv | Format::Pgcopy) {
            let why = "--key, --value and --separator work with tsv, csv and pgcopy only, --raw \
                with tsv, --no-header with csv; leave them out, or give one of these with --format";
            return Err(CliError::Sentence(why.to_string()));
        }
        return Ok(format);
    }
    if let Some(why) = foreign(path, first) {
        return Err(CliError::Sentence(why));
    }
    let (format, by) = guess(has_columns, path, first);
    if !matches!(format, Format::Jsonl | Format::Binary) && !by.is_empty() {
        let (path, name) = (path.display(), format.name());
        eprintln!(
            "tavola: {path} is read as {name} because of its {by}; override it with \
            --format"
        );
    }
    Ok(format)
}

/// Returns the format, and what it follows from; nothing if the options name it.
fn guess(has_columns: bool, path: &Path, first: &[u8]) -> (Format, &'static str) {
    let named = Format::of_name(path);
    let text = first.trim_ascii_start();
    match (named, text.first()) {
        _ if has_columns && named != Some(Format::Csv) => (Format::Tsv, ""),
        _ if first.starts_with(&binary::MAGIC) => (Format::Binary, "first bytes"),
        _ if first.starts_with(mdb::FIRST) => (Format::Mdb, "first bytes"),
        _ if gdbm::is_meant(first) => (Format::Gdbm, "first bytes"),
        _ if rdb::is_meant(first) => (Format::Rdb, "first bytes"),
        (None, _) if memcached::is_meant(first) => (Format::Memcached, "first bytes"),
        (None, Some(&cdb::PLUS)) => (Format::Cdb, "first bytes"),
        // Lines are often named so, too.
        (Some(Format::Json), Some(b'{')) if is_entry(text) => (Format::Jsonl, "first bytes"),
        (Some(format), _) => (format, "name"),
        (None, Some(b'[')) => (Format::Json, "first bytes"),
        (None, Some(b'{') | None) => (Format::Jsonl, "first bytes"),
        (None, Some(_)) => {
            let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            match () {
                () if line.contains(&b'\t') => (Format::Tsv, "first bytes"),
                () if line.starts_with(b"key,value") => (Format::Csv, "first bytes"),
                () => (Format::Jsonl, "first bytes"),
            }
        }
    }
}

/// What a database of GDBM begins with, in the order of bytes of the machine that made it.
const GDBM: RangeInclusive<u32> = 0x1357_9acd..=0x1357_9ad1;
/// What a database of QDBM begins with, if the machine has the lowest byte first.
const QDBM: &[u8] = b"[depot]\n\x0c";

/// What follows the first 12 bytes of a database of Berkeley DB, a tree or a hash, in the
/// order of bytes of the machine that made it.
const BERKELEY_DB: [u32; 2] = [0x0005_3162, 0x0006_1561];

/// Returns what to do with a database that is not text.
fn foreign(path: &Path, first: &[u8]) -> Option<String> {
    // The magic number of LMDB, behind the header of its first page.
    let is_lmdb = first.get(16..20) == Some(&0xBEEF_C0DE_u32.to_le_bytes()[..]);
    let magic = first
        .first_chunk()
        .map_or(0, |magic| u32::from_le_bytes(*magic));
    let behind = first.get(12..).and_then(<[u8]>::first_chunk);
    let behind = behind.map_or(0, |magic| u32::from_le_bytes(*magic));
    let is_berkeley_db = [behind, behind.swap_bytes()]
        .iter()
        .any(|magic| BERKELEY_DB.contains(magic));
    let is_gdbm = GDBM.contains(&magic) || GDBM.contains(&magic.swap_bytes());
    let is_cdb = path.extension().is_some_and(|extension| extension == "cdb");
    let is_constant = is_cdb && first.first() != Some(&cdb::PLUS) || constant::is_frozen(first);
    let file = match path.is_file() {
        true => path,
        false => Path::new("FILE"),
    };
    let (path, file) = (path.display(), file.display());
    match () {
        () if is_lmdb => Some(format!(
            "{path} is a database of another program; load what that prints, as in: \
            mdb_dump -n {file} | tavola load TABLE"
        )),
        () if is_berkeley_db => Some(format!(
            "{path} is a database of Berkeley DB; load what db_dump prints, as in: db_dump {file} \
            | tavola load TABLE"
        )),
        () if is_gdbm => Some(format!(
            "{path} is a database of GDBM; load what gdbm_dump prints, as in: gdbm_dump {file} - \
            | tavola load TABLE"
        )),
        () if first.starts_with(QDBM) => Some(format!(
            "{path} is a database of QDBM; load what its tools print, as in: dptsv export -bin \
            {file} | tavola load TABLE --format qdbm; or vltsv, if vlmgr made it"
        )),
        () if is_constant => Some(format!(
            "{path} is a constant file, and not text; set its keys with: tavola thaw {file} TABLE"
        )),
        () => None,
    }
}

/// Returns whether the first line is an entry of JSON lines.
fn is_entry(text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<jsonl::Entry>(line).is_ok_and(|entry| entry.parse().is_ok())
}

/// Keys whose cache misses overlap.
const WAVE: usize = 32;

/// A load on its way.
struct Pouring<'a> {
    table: &'a Table,
    /// Whether a key that exists keeps its value.
    is_keeping: bool,
    /// The entries of the source that are in the table, also after an error.
    taken: u64,
    /// How many of their keys existed and kept their value.
    kept: u64,
}

impl Pouring<'_> {
    /// Stores all entries of the source, a batch at a time.
    fn pour(&mut self, source: &mut dyn Source, path: &Path) -> Result<(), CliError> {
        let mut batch = Batch::default();
        let mut lasting = Lasting::new("loaded");
        loop {
            let more = source.next(&mut batch);
            if batch.is_full() || !matches!(more, Ok(true)) {
                self.store(&batch)?;
                batch.clear();
                lasting.tick(self.taken);
            }
            if !more.map_err(|bad| bad.of(path))? {
                return Ok(());
            }
        }
    }

    /// Stores a batch one key after the other, so that the number is exact after an error, too.
    fn store(&mut self, batch: &Batch) -> Result<(), CliError> {
        let table = self.table;
        for (pairs, attributes, tags) in batch.runs() {
            let tags = table.fetch_tags(tags)?;
            for wave in pairs.chunks(WAVE) {
                let keys: Vec<&[u8]> = wave.iter().map(|(key, _)| *key).collect();
                table.prefetch(&keys)?;
                for (key, value) in wave {
                    let is_new = match (self.is_keeping, tags.is_empty()) {
                        (false, true) => table.set_with(key, value, attributes).map(|()| true),
                        (false, false) => table
                            .set_tagged(key, value, attributes, &tags)
                            .map(|()| true),
                        (true, true) => table.add_with(key, value, attributes),
                        (true, false) => table.add_tagged(key, value, attributes, &tags),
                    }?;
                    self.kept += u64::from(!is_new);
                    self.taken += 1;
                }
            }
        }
        Ok(())
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

    #[test]
    fn the_format_follows_from_name_and_first_bytes() {
        let cases: [(&str, &[u8], Format); 17] = [
            (
                "standard input",
                b"{\"key\":\"a\",\"value\":\"b\"}\n",
                Format::Jsonl,
            ),
            ("standard input", b"\n [{", Format::Json),
            ("standard input", b"a\tb\n", Format::Tsv),
            ("standard input", b"key,value\r\na,b", Format::Csv),
            ("standard input", b"\x89TAVOLA\n\x02", Format::Binary),
            ("standard input", b"", Format::Jsonl),
            ("standard input", b"VERSION=3\nformat", Format::Mdb),
            ("standard input", b"+1,1:a->b\n\n", Format::Cdb),
            ("standard input", b"add a 0 0 1\r\nb\r\n", Format::Memcached),
            (
                "standard input",
                b"# GDBM dump file created by",
                Format::Gdbm,
            ),
            (
                "standard input",
                b"!\r\n! GDBM FLAT FILE DUMP -- ",
                Format::Gdbm,
            ),
            ("standard input", b"REDIS0010\xfa", Format::Rdb),
            ("standard input", b"VALKEY080\xfa", Format::Rdb),
            ("a.csv", b"a\tb\n", Format::Csv),
            (
                "a.json",
                b"{\"key\":\"a\",\"value\":\"b\"}\n{",
                Format::Jsonl,
            ),
            ("a.json", b"{\"a\":\"b\"}", Format::Json),
            ("a.txt", b"words", Format::Jsonl),
        ];
        for (path, first, format) in cases {
            assert_eq!(guess(false, Path::new(path), first).0, format, "{path}");
        }
        assert_eq!(guess(true, Path::new("a"), b"x"), (Format::Tsv, ""));
        assert_eq!(guess(true, Path::new("a.csv"), b"x").0, Format::Csv);
    }
}
