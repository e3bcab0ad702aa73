//! Exceptions for requests that servers refuse or do not answer, and for wrong arguments.

use super::State;
use crate::error::{bad_option, refused};
use pyo3::prelude::*;
use tavola_client::{BuildError, Error, Outcome};

/// Returns the exception for an outcome that is a failure.
pub fn of(py: Python<'_>, state: &State, outcome: &Option<Outcome>) -> PyResult<Option<PyErr>> {
    let is_failure = |outcome: &Outcome| {
        matches!(
            outcome,
            Outcome::Refused(_) | Outcome::Unsent(_) | Outcome::Unknown(_)
        )
    };
    match outcome {
        Some(outcome) if is_failure(outcome) => {
            let checked = state.client(py)?.checked(outcome.clone());
            Ok(checked.err().map(|error| raised(py, &error)))
        }
        Some(_) => Ok(None),
        None => {
            let why = "the request was not executed".to_string();
            Ok(Some(raised(py, &Error::Refused(why))))
        }
    }
}

/// Returns the exception for an error of a call.
#[cold]
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let status = match error {
        Error::Refused(why) if why.starts_with("SERVER_ERROR") => "MEMCACHE_SERVER",
        Error::Refused(why) if why == "ERROR" => "MEMCACHE_COMMAND",
        Error::Refused(_) => "MEMCACHE_CLIENT",
        Error::Unsent { .. } => "MEMCACHE_UNSENT",
        _ => "MEMCACHE_UNANSWERED",
    };
    refused(py, status, error.to_string())
}

/// Returns the exception for options that make no client.
#[cold]
pub fn not_made(py: Python<'_>, error: &BuildError) -> PyErr {
    match error {
        // Its sentence begins with the name that the option has here.
        BuildError::Option { name, why } => bad_option(
            py,
            match *name {
                "namespace" => "key_prefix",
                "io_timeout" => "timeout",
                "pool" => "max_pool_size",
                "text_auth" => "user",
                other => other,
            },
            *why,
        ),
        other => refused(py, "BAD_OPTION", other.to_string()),
    }
}

/// Returns the exception for a key or a value that memcached cannot have.
#[cold]
pub fn illegal(py: Python<'_>, sentence: impl Into<String>) -> PyErr {
    refused(py, "MEMCACHE_ILLEGAL", sentence)
}
