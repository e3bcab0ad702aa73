//! Operations on a table that may be damaged.

use crate::lengths::Lengths;
use crate::op::Draw;
use crate::watch::begin_operation;
use arbitrary::Unstructured;
use tavola::{Error, Hint, Result, Table};
use tavola_model::{Answer, Needs, Op, Refusal, perform};

/// Damage may be reported; nothing else may go wrong.
pub(crate) fn tolerate(outcome: Result<()>) {
    match outcome {
        Ok(()) | Err(Error::Corrupt { .. } | Error::Full { .. } | Error::NotACounter) => {}
        Err(error) => panic!("{error}"),
    }
}

pub(crate) struct Damaged<'a> {
    table: &'a Table,
    /// What the superblock says; nobody changes it while the table is open.
    lengths: Lengths,
    /// All uids that were given.
    given: Vec<Hint>,
}

impl<'a> Damaged<'a> {
    pub(crate) fn new(table: &'a Table, lengths: Lengths, given: Vec<Hint>) -> Self {
        Self {
            table,
            lengths,
            given,
        }
    }

    /// Does the next step of an input. Returns false at its end.
    pub(crate) fn play_next(&mut self, source: &mut Unstructured) -> bool {
        let mut draw = Draw {
            source,
            lengths: self.lengths,
            given: &self.given,
        };
        let Ok(ops) = draw.next() else {
            return false;
        };
        begin_operation();
        tolerate(ops.iter().try_for_each(|op| self.play(op)));
        true
    }

    /// Does an operation. What does not fit is refused, or does nothing where that depends on a key
    /// that the damage may have taken; nothing else is refused, unless the table is full.
    pub(crate) fn play(&mut self, op: &Op) -> Result<()> {
        let answer = perform(self.table, op)?;
        let refusal = self.lengths.0.and_then(|fixed| fixed.refusal(op));
        let is_right = match (refusal, &answer) {
            (Some((refusal, _)), Answer::Refused(why)) if refusal == *why => true,
            // Of a pair before the one that does not fit, or of what is set before that.
            (Some(_), Answer::Refused(Refusal::Full)) => {
                matches!(op, Op::SetMany(_) | Op::CompareAndSwap(..))
            }
            (Some((_, needs)), answer) => needs != Needs::Nothing && answer.is_miss(),
            (None, Answer::Refused(why)) => matches!(why, Refusal::Full | Refusal::NotACounter),
            (None, _) => true,
        };
        assert!(is_right, "{op:?} answers {answer:?}");
        if let Answer::Uid(hint) = answer {
            self.given.extend(hint);
        }
        Ok(())
    }
}
