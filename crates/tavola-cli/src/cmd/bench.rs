//! `tavola bench`: a few seconds of the common calls in one process. The measurements that compare
//! are in the program `tavola-bench`.

use std::process::ExitCode;
use std::time::Instant;

use serde_json::Map;
use tavola::{Error, Table};
use tavola_program::units::parse_count;

use crate::error::CliError;
use crate::output::Output;
use crate::units::count;

const EXAMPLES: &str = "\
Examples:
  tavola bench
  tavola bench --keys 10M --value-bytes 100

Sets, reads and changes keys of 8 bytes in a table of its own, in one process, and prints
how long a call takes. Use it to see that this machine is healthy. Comparisons with other
stores, several processes and servers are in a separate program, tavola-bench: run
'make bench-quick' in Tavola's sources.";

/// Keys in a batch.
const BATCH: usize = 64;

/// Measure the common calls for a few seconds
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The number of keys
    #[arg(long, value_name = "N", default_value = "1M", value_parser = parse_count)]
    keys: u64,
    /// The bytes of each value
    #[arg(long, value_name = "N", default_value = "8")]
    value_bytes: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// A phase: its name, and nanoseconds for a key.
type Phase = (&'static str, f64);

pub fn run(args: Args) -> Result<ExitCode, CliError> {
    let keys = args.keys.max(1);
    let room = keys.saturating_mul(args.value_bytes as u64 + 64) * 4 + (16 << 20);
    let table = Table::options().max_size(room).private()?;
    let phases = measure(&table, keys, args.value_bytes)?;
    let mut out = Output::new();
    if args.json {
        let mut document = Map::new();
        document.insert("keys".to_string(), keys.into());
        document.insert("value_bytes".to_string(), args.value_bytes.into());
        for (name, ns) in phases {
            document.insert(format!("{name}_ns"), ns.into());
        }
        out.json(document)?;
    } else {
        out.line(format!(
            "{} keys, values of {} bytes",
            count(keys),
            args.value_bytes
        ))?;
        for (name, ns) in phases {
            let per_second = count((1e9 / ns) as u64);
            out.line(format!(
                "{name:<12}{ns:8.0} ns a key  {per_second:>12} a second"
            ))?;
        }
    }
    out.finish()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the numbers below `keys`, each once, in an order in which no two neighbours are near.
fn scattered(keys: u64) -> impl Iterator<Item = [u8; 8]> {
    // A step that has no factor in common with the number of keys meets each of them.
    let wanted = (keys / 13 * 8).max(1);
    let step = (wanted..).find(|step| greatest_factor(*step, keys) == 1);
    let step = step.unwrap_or(1);
    (0..keys).map(move |index| (index.wrapping_mul(step) % keys).to_le_bytes())
}

fn greatest_factor(mut one: u64, mut other: u64) -> u64 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

fn measure(table: &Table, keys: u64, value_bytes: usize) -> Result<Vec<Phase>, CliError> {
    let mut value = vec![b'v'; value_bytes];
    let mut phases = vec![timed("set", keys, |key| table.set(key, &value))?];
    value.fill(b'w');
    phases.push(timed("overwrite", keys, |key| table.set(key, &value))?);
    let mut out = Vec::with_capacity(value_bytes);
    let mut found = 0;
    phases.push(timed("get", keys, |key| {
        found += u64::from(table.get_into(key, &mut out)? && out == value);
        Ok(())
    })?);
    phases.push(timed("miss", keys, |mut key| {
        key[7] = u8::MAX;
        found += u64::from(table.contains(key)?);
        Ok(())
    })?);
    let all: Vec<[u8; 8]> = scattered(keys).collect();
    let begin = Instant::now();
    for batch in all.chunks(BATCH) {
        table.get_many(batch, |_, read| {
            found += u64::from(read == Some(&value[..]))
        })?;
    }
    phases.push(("get_many", ns_each(begin, keys)));
    phases.push(timed("remove", keys, |key| table.remove(key).map(drop))?);
    match found == 2 * keys && table.is_empty()? {
        true => Ok(phases),
        false => Err(CliError::Sentence(
            "the table gave a wrong answer; please report it".to_string(),
        )),
    }
}

fn timed(
    name: &'static str,
    keys: u64,
    mut call: impl FnMut([u8; 8]) -> Result<(), Error>,
) -> Result<Phase, CliError> {
    let begin = Instant::now();
    scattered(keys).try_for_each(&mut call)?;
    Ok((name, ns_each(begin, keys)))
}

fn ns_each(begin: Instant, keys: u64) -> f64 {
    begin.elapsed().as_nanos() as f64 / keys as f64
}

#[cfg(test)]
mod tests {
    use super::scattered;

    #[test]
    fn each_key_is_met_once() {
        for keys in [1, 2, 13, 100, 1001] {
            let mut all: Vec<u64> = scattered(keys).map(u64::from_le_bytes).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..keys), "{keys}");
        }
    }
}
