//! The check of a history: cuts it everywhere, and asks a judge what it makes of each outcome.

use super::SimulatedHome;
use super::choice::{Choice, EveryChoice, RandomChoice, RecordedChoice};
use super::history::History;
use super::remains::Remains;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Which outcomes of a cut are judged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CutChoices {
    /// All, but at most `limit` at one moment. [`CutCount::unfinished`] counts the moments that had
    /// more.
    Exhaustive { limit: usize },
    /// At each moment `count`, from a seed.
    Random { seed: u64, count: usize },
}

/// How much was judged.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct CutCount {
    /// Moments of the history.
    pub(crate) moments: usize,
    /// Outcomes of all moments.
    pub(crate) cuts: usize,
    /// Moments with more outcomes than the limit.
    pub(crate) unfinished: usize,
}

impl std::ops::AddAssign for CutCount {
    fn add_assign(&mut self, more: CutCount) {
        self.moments += more.moments;
        self.cuts += more.cuts;
        self.unfinished += more.unfinished;
    }
}

/// An outcome that the judge refused.
pub(crate) struct CutFailure {
    /// The steps before the power failed.
    pub(crate) after: usize,
    /// The changes that the power failure took away.
    pub(crate) lost: Vec<String>,
    /// Names and lengths of the files that were left.
    pub(crate) left: Vec<String>,
    pub(crate) acknowledged: Vec<u64>,
    pub(crate) message: String,
    /// Outcomes that the judge accepted before.
    pub(crate) accepted: usize,
    history: History,
}

/// Lets the power fail after each step of a history, and before the first.
///
/// For each outcome `recover_and_judge` is given a home, and the operations that were acknowledged
/// before. It fails with a reason if the program under test has lost one of them, or finds
/// something that never was. A panic is a reason, too.
pub(crate) fn check_all_cuts(
    history: &History,
    choices: CutChoices,
    mut recover_and_judge: impl FnMut(SimulatedHome, &[u64]) -> Result<(), String>,
) -> Result<CutCount, Box<CutFailure>> {
    let mut count = CutCount::default();
    let mut remains = Remains::new(&history.start);
    for after in 0..=history.len() {
        if after > 0 {
            let step = &history.steps[after - 1];
            remains.apply(after - 1, step);
            // The same as the moment before.
            if !step.matters() {
                continue;
            }
        }
        count.moments += 1;
        let acknowledged = history.acknowledged_by(after);
        let mut judge = |choice: &mut dyn Choice| {
            let mut choice = RecordedChoice::new(choice);
            let image = remains.leave(&mut choice, &mut |_| {});
            let home = SimulatedHome::from_image(image, acknowledged.clone());
            let verdict = catch_unwind(AssertUnwindSafe(|| recover_and_judge(home, &acknowledged)));
            let Err(message) = verdict.unwrap_or_else(|_| Err("a panic, see above".to_string()))
            else {
                count.cuts += 1;
                return Ok(());
            };
            let mut lost = Vec::new();
            let mut note = |text: fmt::Arguments<'_>| lost.push(text.to_string());
            let image = remains.leave(&mut choice.into_repeated(), &mut note);
            let left = |(name, bytes): (_, &std::sync::Arc<Vec<u8>>)| {
                format!("\"{name}\", {} bytes", bytes.len())
            };
            Err(Box::new(CutFailure {
                after,
                lost,
                left: image.iter().map(left).collect(),
                acknowledged: acknowledged.clone(),
                message,
                accepted: count.cuts,
                history: history.clone(),
            }))
        };
        let is_finished = judge_outcomes(choices, after, &mut judge)?;
        count.unfinished += usize::from(!is_finished);
    }
    Ok(count)
}

/// Judges the outcomes of one moment. Returns false if there are more.
fn judge_outcomes<E>(
    choices: CutChoices,
    after: usize,
    judge: &mut dyn FnMut(&mut dyn Choice) -> Result<(), E>,
) -> Result<bool, E> {
    match choices {
        CutChoices::Exhaustive { limit } => {
            let mut choice = EveryChoice::default();
            for _ in 0..limit {
                judge(&mut choice)?;
                if !choice.advance() {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        CutChoices::Random { seed, count } => {
            let mut choice = RandomChoice::new(seed ^ (after as u64) << 32);
            for _ in 0..count {
                choice.begin_cut();
                judge(&mut choice)?;
            }
            Ok(true)
        }
    }
}

impl fmt::Display for CutFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let accepted = self.accepted;
        writeln!(
            out,
            "refused after {accepted} accepted cuts of this history:"
        )?;
        for (name, bytes) in &self.history.start {
            writeln!(out, "       \"{name}\" was there, {} bytes", bytes.len())?;
        }
        for (at, step) in self.history.steps[..self.after].iter().enumerate() {
            writeln!(out, "  {:>3}  {}", at + 1, self.history.describe(step))?;
        }
        writeln!(out, "       the power fails")?;
        for lost in &self.lost {
            writeln!(out, "       {lost}")?;
        }
        if self.left.is_empty() {
            writeln!(out, "       no file is left")?;
        } else {
            writeln!(out, "       left: {}", self.left.join("; "))?;
        }
        writeln!(out, "       acknowledged: {:?}", self.acknowledged)?;
        write!(out, "  {}", self.message)
    }
}

impl fmt::Debug for CutFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}
