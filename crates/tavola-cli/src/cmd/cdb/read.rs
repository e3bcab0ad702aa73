//! Query, dump, list and statistics of `tavola cdb`.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, StdoutLock, Write};
use std::path::Path;
use std::process::ExitCode;

use tavola_cdb::{Cdb, Slots, Stream};

use super::{Args, MISSING, failed, failed_stream, unreadable};
use crate::error::CliError;

type Out = BufWriter<StdoutLock<'static>>;

fn output() -> Out {
    BufWriter::with_capacity(64 << 10, io::stdout().lock())
}

/// Prints the values of a key.
pub fn query(path: &Path, key: &[u8], args: &Args) -> Result<ExitCode, CliError> {
    let cdb = match Cdb::open(path) {
        // It may have been written in an unusual way.
        Err(tavola_cdb::Error::NotConstant { .. }) => Cdb::open_as(path, args.format()),
        opened => opened,
    };
    let cdb = cdb.map_err(failed)?;
    let mut out = output();
    let mut value = Vec::new();
    let mut printed = 0;
    for (number, record) in (1..).zip(cdb.find(key)) {
        let record = record.map_err(failed)?;
        if args.number.is_some_and(|wanted| wanted != number) {
            continue;
        }
        value.clear();
        record.value.append_to(&mut value).map_err(failed)?;
        out.write_all(&value)?;
        if args.map {
            out.write_all(b"\n")?;
        }
        printed += 1;
        if args.number.is_some() {
            break;
        }
    }
    out.flush()?;
    match printed {
        0 => Ok(ExitCode::from(MISSING)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Prints records, keys or statistics.
pub fn run(path: &Path, args: &Args) -> Result<ExitCode, CliError> {
    let format = args.format_of(path);
    let input: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(File::open(path).map_err(|error| unreadable(path, &error))?),
    };
    let input = BufReader::with_capacity(64 << 10, input);
    let mut stream = Stream::new(input, path, format).map_err(failed_stream)?;
    let mut out = output();
    if args.action.statistics {
        print_statistics(stream, &mut out)?;
    } else {
        let printed = print_records(&mut stream, args, &mut out);
        // What was read before damage is printed, too.
        out.flush()?;
        printed?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn print_records(
    stream: &mut Stream<impl Read>,
    args: &Args,
    out: &mut Out,
) -> Result<(), CliError> {
    while let Some((key, value)) = stream.next_record().map_err(failed_stream)? {
        print_record(key, value, args, out)?;
    }
    match args.map {
        true => Ok(()),
        false => Ok(out.write_all(b"\n")?),
    }
}

fn print_record(key: &[u8], value: &[u8], args: &Args, out: &mut Out) -> Result<(), CliError> {
    let is_dump = args.action.dump;
    match (args.map, is_dump) {
        (true, _) => {}
        (false, true) => write!(out, "+{},{}:", key.len(), value.len())?,
        (false, false) => write!(out, "+{}:", key.len())?,
    }
    out.write_all(key)?;
    if is_dump {
        let between: &[u8] = if args.map { b" " } else { b"->" };
        out.write_all(between)?;
        out.write_all(value)?;
    }
    Ok(out.write_all(b"\n")?)
}

/// Lengths of keys or values. The least one is that of the empty ones only if all are empty, or the
/// last ones, as TinyCDB counts it.
#[derive(Default)]
struct Lengths {
    least: u64,
    most: u64,
    all: u64,
}

impl Lengths {
    fn count(&mut self, length: usize) {
        let length = length as u64;
        if self.least == 0 || self.least > length {
            self.least = length;
        }
        self.most = self.most.max(length);
        self.all += length;
    }

    fn print(&self, what: &str, records: u64, out: &mut Out) -> io::Result<()> {
        let average = rounded(self.all, records);
        let Lengths { least, most, .. } = self;
        writeln!(out, "{what} min/avg/max length: {least}/{average}/{most}")
    }
}

fn rounded(sum: u64, count: u64) -> u64 {
    (sum + count / 2).checked_div(count).unwrap_or(0)
}

fn print_statistics(mut stream: Stream<impl Read>, out: &mut Out) -> Result<(), CliError> {
    let (mut keys, mut values, mut records) = (Lengths::default(), Lengths::default(), 0u64);
    while let Some((key, value)) = stream.next_record().map_err(failed_stream)? {
        keys.count(key.len());
        values.count(value.len());
        records += 1;
    }
    let slots = stream.read_slots().map_err(failed_stream)?;
    writeln!(out, "number of records: {records}")?;
    keys.print("key", records, out)?;
    values.print("val", records, out)?;
    Ok(print_slots(&slots, records, out)?)
}

fn print_slots(all: &Slots, records: u64, out: &mut Out) -> io::Result<()> {
    let Slots {
        tables,
        slots,
        least,
        most,
        distances,
    } = all;
    // As a number of 32 bits, which it wraps to there: records that no slot leads to.
    let collisions = (records as u32).wrapping_sub(distances[0] as u32);
    writeln!(
        out,
        "hash tables/entries/collisions: {tables}/{slots}/{collisions}"
    )?;
    let average = rounded(*slots, *tables);
    writeln!(
        out,
        "hash table min/avg/max length: {least}/{average}/{most}"
    )?;
    writeln!(out, "hash table distances:")?;
    for (distance, count) in distances.iter().enumerate() {
        let (sign, number) = match distance == distances.len() - 1 {
            true => ('>', distance - 1),
            false => ('d', distance),
        };
        let percent = (count * 100).checked_div(records).unwrap_or(0);
        writeln!(out, " {sign}{number}: {count:6} {percent:2}%")?;
    }
    Ok(())
}
