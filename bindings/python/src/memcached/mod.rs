//! The client of `tavola.memcached`: what its class does natively.
//!
//! - `options`: what a client is made of
//! - `keys`, `values`: what callers give, as bytes
//! - `answers`: takes what servers answer, without the interpreter's lock
//! - `failure`: what servers refuse or do not answer, as exceptions
//! - `read`, `write`, `servers`: the calls

mod answers;
mod failure;
mod keys;
mod options;
mod read;
mod servers;
mod values;
mod write;

use crate::cell::LockedCell;
use crate::error::refused;
use answers::Answers;
use keys::KeyRules;
use options::Given;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::sync::Arc;
use tavola_client::{Batch, Builder, Client, Outcome};
use values::Values;

/// Failures of servers that do not raise an exception.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Nothing,
    /// Those of reads, which find nothing then.
    Reads,
    /// Those of writes as well, which did nothing then.
    All,
}

/// The options of a client, and the client while it has connections.
struct State {
    builder: Builder,
    client: LockedCell<Option<Client>>,
    keys: KeyRules,
    values: Values,
    ignored: Ignored,
    /// Whether a call without a reply if it says nothing.
    default_noreply: bool,
    /// Whether requests without a reply wait for the next one.
    holds_noreply: bool,
}

/// The native part of ``tavola.memcached.Client``.
#[pyclass(subclass, frozen, module = "tavola._tavola")]
pub struct MemcachedClient {
    state: LockedCell<Option<Arc<State>>>,
}

impl State {
    fn client(&self, py: Python<'_>) -> PyResult<Client> {
        if let Some(client) = self.client.with(py, |client| client.clone()) {
            return Ok(client);
        }
        let made = py.detach(|| self.builder.clone().build());
        let made = made.map_err(|error| failure::not_made(py, &error))?;
        // Another thread may have made one meanwhile.
        Ok(self
            .client
            .with(py, |client| client.get_or_insert(made).clone()))
    }

    /// Executes requests without the interpreter's lock.
    fn execute(&self, py: Python<'_>, batch: &mut Batch<'_>) -> PyResult<Answers> {
        let client = self.client(py)?;
        let mut answers = Answers::of(batch.len());
        py.detach(|| client.execute(batch, &mut answers));
        Ok(answers)
    }

    /// Returns the outcome of a request, `None` if it failed and that is to be ignored.
    fn checked(
        &self,
        py: Python<'_>,
        outcome: Option<Outcome>,
        ignored_from: Ignored,
    ) -> PyResult<Option<Outcome>> {
        let Some(error) = failure::of(py, self, &outcome)? else {
            return Ok(outcome);
        };
        let is_ignored = match ignored_from {
            Ignored::Nothing => false,
            Ignored::Reads => self.ignored != Ignored::Nothing,
            Ignored::All => self.ignored == Ignored::All,
        };
        match is_ignored {
            true => Ok(None),
            false => Err(error),
        }
    }
}

impl MemcachedClient {
    fn state(&self, py: Python<'_>) -> PyResult<Arc<State>> {
        match self.state.with(py, |state| state.clone()) {
            Some(state) => Ok(state),
            None => Err(refused(
                py,
                "CLOSED",
                "the client has no servers: call __init__ of its base class first",
            )),
        }
    }
}

#[pymethods]
impl MemcachedClient {
    #[new]
    #[pyo3(signature = (*_arguments, **_options))]
    fn new(_arguments: &Bound<'_, PyTuple>, _options: Option<&Bound<'_, PyDict>>) -> Self {
        Self {
            state: LockedCell::new(None),
        }
    }

    /// Takes the options, which `tavola.memcached.Client` has put into a dict.
    fn _begin(&self, py: Python<'_>, given: Given) -> PyResult<()> {
        let state = Arc::new(given.state(py)?);
        // Errors of the options are raised now, not by the first call.
        state.client(py)?;
        let old = self.state.with(py, |place| place.replace(state));
        py.detach(|| drop(old));
        Ok(())
    }

    /// Close all connections, after what is held is sent. The next call connects again.
    ///
    /// >>> from tavola.memcached import Client
    /// >>> client = Client("tavola:doc")
    /// >>> client.close()
    /// >>> client.set("key", "value")
    /// True
    fn close(&self, py: Python<'_>) {
        let state = self.state.with(py, |state| state.clone());
        if let Some(state) = state {
            let client = state.client.with(py, Option::take);
            py.detach(|| drop(client));
        }
    }
}

impl Drop for MemcachedClient {
    fn drop(&mut self) {
        // It sends what is held; if the interpreter ends just now, when the fields are dropped.
        Python::try_attach(|py| {
            let state = self.state.with(py, Option::take);
            py.detach(|| drop(state));
        });
    }
}
