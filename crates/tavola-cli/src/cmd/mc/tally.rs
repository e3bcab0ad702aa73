//! What became of the entries that were stored on servers.

use std::process::ExitCode;

use serde_json::Map;
use tavola_client::{Client, Outcome};

use super::complain;
use super::entries::fault;
use crate::error::CliError;
use crate::output::{Output, printable};
use crate::units::count;

/// Refusals and failures that are shown one by one.
const SHOWN: u64 = 10;

/// Counts what became of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub stored: u64,
    /// Not stored, because the key was there.
    pub present: u64,
    /// Removed or expired before they were read.
    pub missing: u64,
    /// Refused by a server: they cannot be stored there, or read.
    pub refused: u64,
    /// A server did not answer.
    pub failed: u64,
}

impl Tally {
    /// Counts what became of a key.
    pub fn note(&mut self, client: &Client, key: &[u8], outcome: Option<&Outcome>) {
        match outcome {
            Some(Outcome::Stored) => self.stored += 1,
            Some(Outcome::NotStored | Outcome::Exists) => self.present += 1,
            Some(Outcome::Miss) => self.missing += 1,
            outcome => {
                let is_refused = matches!(outcome, Some(Outcome::Refused(_)));
                let why = fault(client, outcome).unwrap_or_default();
                self.complain_of(key, &why);
                match is_refused {
                    true => self.refused += 1,
                    false => self.failed += 1,
                }
            }
        }
    }

    fn complain_of(&self, key: &[u8], why: &str) {
        match self.refused + self.failed {
            0..SHOWN => complain(format!("{}: {why}", printable(key))),
            SHOWN => complain("more keys fail, which are counted only"),
            _ => {}
        }
    }

    /// How many keys are done, whatever became of them.
    pub fn done(&self) -> u64 {
        self.stored + self.present + self.missing + self.refused + self.failed
    }

    /// Prints the numbers; `verb` says what `stored` means.
    pub fn print(&self, verb: &str, as_json: bool) -> Result<(), CliError> {
        let numbers = [
            (verb, self.stored),
            ("present", self.present),
            ("missing", self.missing),
            ("refused", self.refused),
            ("failed", self.failed),
        ];
        let mut out = Output::new();
        if as_json {
            let pair = |(name, number): (&str, u64)| (name.to_string(), number.into());
            out.json(numbers.into_iter().map(pair).collect::<Map<_, _>>())?;
        } else {
            let words = numbers.map(|(name, number)| format!("{} {name}", count(number)));
            out.line(words.join(", "))?;
        }
        out.finish()
    }

    /// Returns the exit code.
    pub fn code(&self) -> ExitCode {
        match (self.refused, self.failed) {
            (0, 0) => ExitCode::SUCCESS,
            (_, 0) => ExitCode::from(crate::MISSING),
            _ => ExitCode::from(crate::ERROR),
        }
    }
}
