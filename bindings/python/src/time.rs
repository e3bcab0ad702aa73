//! Times as Python gives them: seconds as numbers, or `timedelta`.

use crate::error::bad_option;
use pyo3::prelude::*;
use std::time::Duration;
use tavola::Expiry;

/// Returns the seconds of a number or a `timedelta`.
pub fn seconds(name: &'static str, time: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(seconds) = time.extract::<f64>() {
        return Ok(seconds);
    }
    if let Ok(total) = time.getattr("total_seconds") {
        return total.call0()?.extract();
    }
    let class = time.get_type();
    let why = format!(
        "it is a number of seconds or a timedelta, not {}",
        class.name()?
    );
    Err(pyo3::exceptions::PyTypeError::new_err(format!(
        "the option {name} is invalid: {why}"
    )))
}

/// Returns a duration, or `None` for infinite seconds. A negative one is zero.
pub fn duration(name: &'static str, time: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    let given = seconds(name, time)?;
    if given.is_nan() {
        return Err(bad_option(time.py(), name, "it is not a number"));
    }
    // A time that is too long for a duration never ends, either.
    Ok(Duration::try_from_secs_f64(given.max(0.0)).ok())
}

/// Returns the expiry of a TTL: `None` is the default of the table, `inf` is never.
#[inline]
pub fn expiry(ttl: Option<&Bound<'_, PyAny>>) -> PyResult<Expiry> {
    match ttl {
        None => Ok(Expiry::Default),
        Some(ttl) if ttl.is_none() => Ok(Expiry::Default),
        Some(ttl) => {
            let given = duration("ttl", ttl)?;
            Ok(given.map_or(Expiry::Never, Expiry::After))
        }
    }
}

/// Returns the seconds until a key expires, or `None` if it never does.
pub fn left(expiry: Expiry) -> Option<f64> {
    match expiry {
        Expiry::After(left) => Some(left.as_secs_f64()),
        _ => None,
    }
}
