//! The frame of every function: no panic crosses it, and an error leaves its message.

use crate::status::{Failure, set_last_error, tavola_status};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What the inside of a function comes to.
pub(crate) type Answer = Result<tavola_status, Failure>;

/// Done.
pub(crate) const OK: Answer = Ok(tavola_status::TAVOLA_OK);

/// Runs the inside of a function. What a panic leaves behind is sound: a lock whose holder panicked
/// is abandoned, and who wants it next recovers what it guards.
#[inline(always)]
pub(crate) fn entry(inside: impl FnOnce() -> Answer) -> tavola_status {
    match catch_unwind(AssertUnwindSafe(inside)) {
        Ok(Ok(status)) => status,
        Ok(Err(failure)) => failed(&failure),
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

/// The answer to a question whether something is there.
#[inline(always)]
pub(crate) fn found(is_there: bool) -> Answer {
    Ok(match is_there {
        true => tavola_status::TAVOLA_OK,
        false => tavola_status::TAVOLA_NOT_FOUND,
    })
}

#[cold]
fn failed(failure: &Failure) -> tavola_status {
    set_last_error(failure.to_string(), failure.os_error());
    failure.status()
}

#[cold]
fn panicked(payload: &(dyn Any + Send)) -> tavola_status {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    set_last_error(
        format!("a bug of the library, please report it: {text}"),
        None,
    );
    tavola_status::TAVOLA_ERR_PANIC
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::tavola_last_error;
    use std::ffi::CStr;

    fn last_error() -> String {
        // SAFETY: the message stays until the next error of this thread.
        let text = unsafe { CStr::from_ptr(tavola_last_error()) };
        text.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let status = entry(|| panic!("number {}", 7));
        assert_eq!(status, tavola_status::TAVOLA_ERR_PANIC);
        assert!(last_error().ends_with("number 7"));
    }

    #[test]
    fn a_failure_leaves_its_message_and_an_answer_does_not() {
        let status = entry(|| Err(Failure::null("key")));
        assert_eq!(status, tavola_status::TAVOLA_ERR_NULL);
        assert!(last_error().contains("key"));
        assert_eq!(entry(|| found(false)), tavola_status::TAVOLA_NOT_FOUND);
        assert!(last_error().contains("key"));
        assert_eq!(entry_or(7, || Err(Failure::stopped())), 7);
    }
}
