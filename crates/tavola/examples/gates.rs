//! Does a number of operations on a table, for `scripts/gates` to count the instructions of.
//!
//! `gates OPERATION COUNT [--twice EACH]`: what a run with a count takes beyond one with the count
//! 0 is what the operations take. With `--twice` each EACHth of them is done twice, as if the build
//! were slower: the gates must notice it. The table is a private one, whose hash has the same seed
//! in every run: each run takes the same instructions. Of the C library only `get_many` uses
//! anything, a buffer for each call; `get` is the one that reads into the caller's.

use std::error::Error;
use std::hint::black_box;
use tavola::Table;

/// Keys in the table before; as many others are not in it.
const KEYS: usize = 50_000;
/// Keys of one `get_many`.
const BATCH: usize = 32;

type Outcome = Result<(), Box<dyn Error>>;

/// Keys of 8 bytes, which are values, too.
type Bytes = [u8; 8];

struct Bed {
    table: Table,
    there: Vec<Bytes>,
    absent: Vec<Bytes>,
}

impl Bed {
    fn new() -> tavola::Result<Self> {
        let numbered = |from| (from..from + KEYS).map(usize::to_le_bytes).collect();
        let table = Table::options().max_size(16 << 20).private()?;
        let (there, absent): (Vec<Bytes>, Vec<Bytes>) = (numbered(0), numbered(KEYS));
        for key in &there {
            table.set(key, key)?;
        }
        Ok(Self {
            table,
            there,
            absent,
        })
    }

    fn do_operations(&self, operation: &str, count: usize, twice: usize) -> Outcome {
        let Self {
            table,
            there,
            absent,
        } = self;
        let (there, absent) = (&there[..count], &absent[..count]);
        let mut out = Vec::with_capacity(64);
        match operation {
            "get" => each(there.iter(), twice, |key| {
                demand(table.get_into(any(key), &mut out)? && out.len() == 8)
            }),
            "miss" => each(absent.iter(), twice, |key| {
                demand(!table.get_into(any(key), &mut out)?)
            }),
            "get_many" => each(there.chunks_exact(BATCH), twice, |keys| {
                get_many(table, keys)
            }),
            "set_new" => each(absent.iter(), twice, |key| {
                Ok(table.set(any(key), any(key))?)
            }),
            "overwrite" => each(there.iter().zip(absent), twice, |(key, value)| {
                Ok(table.set(any(key), any(value))?)
            }),
            other => Err(format!("no operation: {other}").into()),
        }
    }
}

fn get_many(table: &Table, keys: &[Bytes]) -> Outcome {
    let mut found = 0;
    table.get_many(black_box(keys), |_, value| {
        found += usize::from(value.is_some_and(|value| value.len() == 8));
    })?;
    demand(found == BATCH)
}

/// Bytes of a length that the compiler does not know: it is not known to the library either.
fn any(bytes: &Bytes) -> &[u8] {
    black_box(bytes)
}

fn demand(kept: bool) -> Outcome {
    kept.then_some(())
        .ok_or_else(|| "another answer than was expected".into())
}

fn each<T: Copy>(
    all: impl Iterator<Item = T>,
    twice: usize,
    mut operation: impl FnMut(T) -> Outcome,
) -> Outcome {
    let mut left = twice;
    for one in all {
        operation(one)?;
        left -= 1;
        if left == 0 {
            operation(one)?;
            left = twice;
        }
    }
    Ok(())
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (operation, count, twice) = match arguments[..] {
        [operation, count] => (operation, count.parse()?, usize::MAX),
        [operation, count, "--twice", each] => (operation, count.parse()?, each.parse()?),
        _ => return Err("gates OPERATION COUNT [--twice EACH]".into()),
    };
    if twice == 0 || count > KEYS || count % BATCH != 0 {
        return Err(format!("COUNT: a multiple of {BATCH} up to {KEYS}; EACH: from 1 on").into());
    }
    Bed::new()?.do_operations(operation, count, twice)
}
