//! Leases: one process computes a value, the others wait for it.

use crate::cell::LockedCell;
use crate::error::{OrRaise, bad_option, refused};
use crate::table::{Table, TagHandles};
use crate::text::key_of;
use crate::time::duration;
use pyo3::prelude::*;
use std::time::{Duration, Instant};
use tavola::{LeaseOptions, Leased, Pending as Wait};

/// The longest that a wait keeps signals, such as Ctrl-C, from their handlers.
pub const SIGNALS: Duration = Duration::from_millis(50);

/// The right to compute the value of a key.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct Lease {
    lease: LockedCell<Option<tavola::Lease>>,
}

impl Lease {
    fn new(lease: tavola::Lease) -> Self {
        Self {
            lease: LockedCell::new(Some(lease)),
        }
    }

    fn take(&self, py: Python<'_>) -> PyResult<tavola::Lease> {
        match self.lease.with(py, Option::take) {
            Some(lease) => Ok(lease),
            None => Err(refused(py, "NOT_HELD", "the lease has ended already")),
        }
    }
}

#[pymethods]
impl Lease {
    /// Stores the value and ends the lease. Returns false if another process has the lease now.
    #[pyo3(signature = (table, value, tags=None))]
    fn fill(
        &self,
        table: &Table,
        value: &Bound<'_, PyAny>,
        tags: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        let py = value.py();
        let tags = tags.map_or(Ok(tavola::Tags::NONE), |tags| TagHandles::of(table, tags))?;
        let (encoded, flags) = table.serializer.encode(value)?;
        let (lease, value) = (self.take(py)?, encoded.as_slice(py));
        table.change(py, |_| lease.fill_with(value, flags, &tags))
    }

    /// Ends the lease without a value; for `back_off` seconds no process tries again.
    fn fail(&self, back_off: &Bound<'_, PyAny>, error: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = error.py();
        let pause = duration("back_off", back_off)?.unwrap_or(Duration::from_secs(3600));
        let sentence = error.str()?.to_string();
        self.take(py)?.fail(pause, sentence).or_raise(py)
    }

    /// Ends the lease; another process may have it at once. Returns false if it has passed on.
    fn release(&self, py: Python<'_>) -> PyResult<bool> {
        self.take(py)?.fail(Duration::ZERO, b"").or_raise(py)
    }

    #[getter]
    fn is_recorded(&self, py: Python<'_>) -> bool {
        self.lease.with(py, |lease| {
            lease.as_ref().is_some_and(tavola::Lease::is_recorded)
        })
    }
}

/// A value that another process or thread is computing.
#[pyclass(frozen, module = "tavola._tavola")]
pub struct Pending {
    wait: Wait,
}

#[pymethods]
impl Pending {
    /// Sleeps until it is worth to ask again, at most for the seconds given. Returns false if they
    /// have passed.
    fn wait(&self, timeout: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = timeout.py();
        let limit = match timeout.is_none() {
            true => None,
            false => duration("timeout", timeout)?,
        };
        wait_in_slices(py, limit, |slice| self.wait.wait(slice))
    }

    /// Sleeps as `wait`, in one piece: for threads that no signal reaches.
    fn wait_briefly(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| self.wait.wait(SIGNALS)).or_raise(py)
    }
}

/// Waits without the interpreter's lock, and lets signal handlers run in between. `wait` returns
/// whether what is waited for has come.
pub fn wait_in_slices(
    py: Python<'_>,
    limit: Option<Duration>,
    mut wait: impl FnMut(Duration) -> tavola::Result<bool> + Send,
) -> PyResult<bool> {
    let until = limit.and_then(|limit| Instant::now().checked_add(limit));
    loop {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let slice = left.unwrap_or(SIGNALS).min(SIGNALS);
        if py.detach(|| wait(slice)).or_raise(py)? {
            return Ok(true);
        }
        py.check_signals()?;
        if left.is_some_and(|left| left <= slice) {
            return Ok(false);
        }
    }
}

/// The result of `ask`: the outcome, the value, and the lease, the wait, or the sentence.
type Answer<'py> = (
    &'static str,
    Option<Bound<'py, PyAny>>,
    Option<Bound<'py, PyAny>>,
);

#[pymethods]
impl Table {
    /// Returns the value of a key, or the lease to compute it, or a wait for another process.
    #[pyo3(name = "_ask", signature = (key, ttl, stale, early, lease))]
    fn ask<'py>(
        &self,
        key: &Bound<'py, PyAny>,
        ttl: &Bound<'py, PyAny>,
        stale: &Bound<'py, PyAny>,
        early: Option<f64>,
        lease: &Bound<'py, PyAny>,
    ) -> PyResult<Answer<'py>> {
        let py = key.py();
        let options = lease_options(ttl, stale, early, lease)?;
        let table = self.shared(py)?;
        let (leased, flags) = table
            .get_or_lease_with_flags(key_of(key)?, options)
            .or_raise(py)?;
        let decoded = |value: Vec<u8>| self.serializer.decode(py, &value, flags).map(Some);
        let object = |lease| Ok::<_, PyErr>(Bound::new(py, Lease::new(lease))?.into_any());
        Ok(match leased {
            Leased::Hit(value) => ("hit", decoded(value)?, None),
            Leased::Stale { value, lease } => {
                let lease = lease.map(object).transpose()?;
                ("stale", decoded(value)?, lease)
            }
            Leased::Won(lease) => ("won", None, Some(object(lease)?)),
            Leased::Wait(wait) => {
                let pending = Bound::new(py, Pending { wait })?;
                ("wait", None, Some(pending.into_any()))
            }
            Leased::Failed { error, retry } => {
                let why = String::from_utf8_lossy(&error).into_owned();
                let error = crate::error::exception(py, &tavola::Error::NotComputed { why, retry });
                (
                    "failed",
                    None,
                    Some(error.into_value(py).into_bound(py).into_any()),
                )
            }
        })
    }
}

fn lease_options(
    ttl: &Bound<'_, PyAny>,
    stale: &Bound<'_, PyAny>,
    early: Option<f64>,
    lease: &Bound<'_, PyAny>,
) -> PyResult<LeaseOptions> {
    let forever = Duration::MAX;
    let fresh = match ttl.is_none() {
        true => forever,
        false => duration("ttl", ttl)?.unwrap_or(forever),
    };
    if fresh.is_zero() {
        return Err(bad_option(ttl.py(), "ttl", "it is not above 0"));
    }
    let stale = duration("stale", stale)?.unwrap_or(forever);
    let lease = duration("lease", lease)?.unwrap_or(forever);
    let options = LeaseOptions::new(fresh).stale(stale).lease(lease);
    Ok(match early {
        Some(beta) => options.early(beta),
        None => options,
    })
}
