//! Operations on a table and on a map: the answers are the same.

use crate::lengths::{Lengths, nth_fixed};
use crate::op::Draw;
use crate::watch::within_limit;
use arbitrary::{Arbitrary, Unstructured};
use tavola::Table;
use tavola_model::{Model, Op, agree, play};

const MOST_OPS: usize = 300;
/// Of the byte that says the kind of table: keys and values have fixed lengths.
const FIXED: u8 = 1 << 5;

struct Pair {
    lengths: Lengths,
    table: Table,
    model: Model,
}

/// Plays the input's operations.
///
/// # Panics
/// Where an answer differs, or a check finds something.
pub fn run(input: &[u8]) {
    let mut source = Unstructured::new(input);
    let mut pair = Pair::new(u8::arbitrary(&mut source).unwrap_or(0));
    within_limit(|| {
        for _ in 0..MOST_OPS {
            let mut draw = Draw {
                source: &mut source,
                lengths: pair.lengths,
                given: pair.model.given(),
            };
            let Ok(ops) = draw.next() else {
                break;
            };
            ops.iter().for_each(|op| pair.play(op));
            if source.is_empty() {
                break;
            }
        }
        for op in [
            Op::Maintain,
            Op::RemoveExpired,
            Op::Walk,
            Op::Repair,
            Op::Walk,
        ] {
            pair.play(&op);
        }
    });
}

impl Pair {
    /// Of fixed lengths: which, in bits 2 to 4 of the kind, and whether there are uids, in bit 7.
    fn new(kind: u8) -> Self {
        let nth = || nth_fixed(usize::from(kind >> 2), kind >= 128);
        let fixed = (kind & FIXED != 0).then(nth);
        let names_all = fixed.map_or(kind >= 192, |fixed| fixed.uids);
        let lengths = Lengths(fixed);
        let options = Table::options().max_size(4 << 20).shards(1 << (kind % 3));
        let options = lengths.options(options.uids(names_all));
        Self {
            lengths,
            table: options.private().expect("a table of 4 MiB"),
            model: Model::new(fixed, names_all),
        }
    }

    fn play(&mut self, op: &Op) {
        let played = play(&self.table, &mut self.model, op).map(drop);
        let agreed = match op {
            Op::Walk | Op::Check | Op::Stats => played.and_then(|()| self.agree()),
            _ => played,
        };
        agreed.unwrap_or_else(|why| panic!("{why}"));
    }

    fn agree(&self) -> Result<(), String> {
        let fixed = self.table.stats().unwrap().fixed;
        assert_eq!(fixed, self.lengths.as_stats());
        agree(&self.table, &self.model)
    }
}
