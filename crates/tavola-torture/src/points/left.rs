//! What kind of state a dead process left: which locks it held, and what a check finds wrong while
//! nobody has recovered it, once or more often. States of one kind take recovery the same way, but
//! for how often it goes round its loops.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::FileExt;
use std::path::Path;
use tavola::Table;

/// Where the lock words stand in a table of one shard: the shard's and the pool's.
const LOCKS: [u64; 2] = [4096 + 576, 1024];
/// The kind of a state in which the shard is locked has this bit.
const SHARD: u64 = 1;
/// No kind is 0.
const KNOWN: u64 = 4;

/// The kind of state of the file, as a number.
pub(crate) fn kind(path: &Path) -> Result<u64, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut locks = 0;
    for (bit, offset) in LOCKS.into_iter().enumerate() {
        let mut word = [0; 4];
        let read = file.read_exact_at(&mut word, offset);
        read.map_err(|error| error.to_string())?;
        locks |= u64::from(word != [0; 4]) << bit;
    }
    let table = Table::open_read_only(path).map_err(|error| error.to_string())?;
    let report = table.check().map_err(|error| error.to_string())?;
    let mut wrong = BTreeMap::<String, bool>::new();
    for problem in &report.problems {
        let again = wrong.contains_key(&sort(problem));
        wrong.insert(sort(problem), again);
    }
    let mut hasher = DefaultHasher::new();
    wrong.hash(&mut hasher);
    Ok(hasher.finish() & !7 | KNOWN | locks)
}

/// Whether the dead one held the shard's lock.
pub(crate) fn is_locked(kind: u64) -> bool {
    kind & SHARD != 0
}

/// A problem without its numbers; where it compares two, which is the larger.
fn sort(problem: &str) -> String {
    let numbers = problem.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u64> = numbers.filter_map(|number| number.parse().ok()).collect();
    let words = problem.replace(|c: char| c.is_ascii_digit(), "");
    match numbers[..] {
        [_, held, .., reached] if words.contains("reachable") => {
            format!("{words} {:?}", held.cmp(&reached))
        }
        _ => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_stand_where_the_format_says() {
        let tables = tavola::format_tables();
        let of = |name: &str| {
            let (_, table) = tables.split_once(name).unwrap();
            table.split("###").next().unwrap().to_owned()
        };
        assert!(of("### Pool").contains("in the superblock at offset 1024"));
        assert!(of("### Pool").contains("\n| 0 | 4 | `lock` |"));
        assert!(of("### Shard head").contains("\n| 576 | 4 | `lock` |"));
        assert!(of("### Superblock").contains("\n4096 bytes, at offset 0"));
    }

    #[test]
    fn a_sort_of_problem_has_no_numbers_but_which_is_larger() {
        let leak = |held, reached| {
            sort(&format!(
                "shard 0: {held} blocks of 48 bytes in use, {reached} are reachable"
            ))
        };
        assert_eq!(leak(5, 4), leak(77, 13));
        assert_ne!(leak(5, 4), leak(4, 5));
        assert_eq!(
            sort("page 17 has no size class"),
            sort("page 3 has no size class")
        );
    }
}
