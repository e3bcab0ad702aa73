//! The cases, by what they touch.

mod growth;
mod keys;
mod large;
mod members;
mod space;

use super::Run;
use super::case::{Case, Prepared};
use crate::scratch::Scratch;
use crate::system::sleep_ms;

/// Longer than a freed page stays in the pool untouched.
const GRACE_MS: u64 = 2_100;

const DOUBLING: &str = "split past the inline directory";
const WORDS: &str = "pages past the words that were backed at first";

/// Makes a case.
pub(super) type Make = fn(&Scratch) -> Prepared<Case>;

/// Cases of large tables, made one at a time: each takes more memory than all others together.
pub(super) const LARGE: [(&str, Make); 2] =
    [(DOUBLING, growth::doubling), (WORDS, space::backing_words)];

/// All other cases, their files made.
pub(super) fn all(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut cases = Vec::new();
    keys::add(run.scratch, &mut cases)?;
    large::add(run.scratch, &mut cases)?;
    growth::add(run.scratch, &mut cases)?;
    space::add(run.scratch, &mut cases)?;
    members::add(run, &mut cases)?;
    // What the files hold as free is old enough to be given back from now on.
    sleep_ms(GRACE_MS);
    Ok(cases)
}
