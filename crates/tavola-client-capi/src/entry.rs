//! The frame of every function: no panic crosses it, and an error leaves its message.

use crate::status::{Failure, set_last_error, tavola_mc_cause, tavola_mc_status};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the inside of a function comes to.
pub(crate) type Answer = Result<tavola_mc_status, Failure>;

/// Done.
pub(crate) const OK: Answer = Ok(tavola_mc_status::TAVOLA_MC_OK);

/// Runs the inside of a function. A panic closes the connections that are in use, so what it
/// leaves behind is sound.
pub(crate) fn entry(inside: impl FnOnce() -> Answer) -> tavola_mc_status {
    match catch_unwind(AssertUnwindSafe(inside)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => {
            set_last_error(&failure.to_string(), failure.cause());
            failure.status()
        }
        Err(payload) => panicked(&*payload),
    }
}

/// As [`entry`], of a function that returns something else than a status.
pub(crate) fn entry_or<T>(otherwise: T, inside: impl FnOnce() -> Result<T, Failure>) -> T {
    let mut value = otherwise;
    entry(|| {
        value = inside()?;
        OK
    });
    value
}

#[cold]
fn panicked(payload: &(dyn Any + Send)) -> tavola_mc_status {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    let message = format!("a bug of the library, please report it: {text}");
    set_last_error(&message, tavola_mc_cause::TAVOLA_MC_CAUSE_NONE);
    tavola_mc_status::TAVOLA_MC_ERR_PANIC
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::tavola_mc_last_error;
    use std::ffi::CStr;

    fn last_error() -> String {
        // SAFETY: the message stays until the next error of this thread.
        let text = unsafe { CStr::from_ptr(tavola_mc_last_error()) };
        text.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let status = entry(|| panic!("number {}", 7));
        assert_eq!(status, tavola_mc_status::TAVOLA_MC_ERR_PANIC);
        assert!(last_error().ends_with("number 7"));
    }

    #[test]
    fn a_failure_leaves_its_message() {
        let status = entry(|| Err(Failure::Null("key")));
        assert_eq!(status, tavola_mc_status::TAVOLA_MC_ERR_NULL);
        assert!(last_error().contains("key"));
        assert_eq!(entry_or(7, || Err(Failure::Null("batch"))), 7);
        assert!(last_error().contains("batch"));
    }
}
