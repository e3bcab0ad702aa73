//! Calls of one request.
//!
//! - `value`: where the value of a get goes
//! - `read`: gets
//! - `write`: stores, removals, expiry times
//! - `count`: counters

mod count;
mod read;
mod value;
mod write;

use crate::client::tavola_mc_client;
use crate::status::Failure;
use tavola_client_core::{Batch, Outcome, Sink};

/// Takes the outcome of a request without a value.
#[derive(Default)]
pub(crate) struct OutcomeOnly {
    pub(crate) outcome: Option<Outcome>,
}

impl Sink for OutcomeOnly {
    fn room(&mut self, _index: usize, _len: usize, _flags: u32) -> Option<&mut [u8]> {
        None
    }

    fn done(&mut self, _index: usize, outcome: Outcome) {
        self.outcome = Some(outcome);
    }
}

/// Executes one request and returns what became of it.
fn ask<'a>(
    client: &tavola_mc_client,
    prepare: impl FnOnce(&mut Batch<'a>) -> usize,
) -> Result<Outcome, Failure> {
    let mut batch = Batch::new();
    prepare(&mut batch);
    let mut sink = OutcomeOnly::default();
    client.client.execute(&mut batch, &mut sink);
    outcome_of(client, sink.outcome)
}

/// The outcome of a request as a result.
fn outcome_of(client: &tavola_mc_client, outcome: Option<Outcome>) -> Result<Outcome, Failure> {
    let none = || Outcome::Refused("the request was not executed".to_string());
    Ok(client.client.checked(outcome.unwrap_or_else(none))?)
}
