//! Why a call failed: a code, and a sentence that says what to do.

use super::codes::{self, Code};
use crate::status::Failure;
use tavola_client_core::{BuildError, Client, Error, FailureCause, Outcome};

/// Why a call failed.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) code: Code,
    pub(super) why: String,
    /// The server's place in the list of the client.
    pub(super) server: Option<usize>,
}

impl Fault {
    pub(super) fn new(code: Code, why: impl Into<String>) -> Self {
        Self {
            code,
            why: why.into(),
            server: None,
        }
    }

    pub(super) fn arguments(why: &str) -> Self {
        Self::new(codes::INVALID_ARGUMENTS, why)
    }

    pub(super) fn no_memory() -> Self {
        Self::new(
            codes::MEMORY_ALLOCATION_FAILURE,
            "there is no memory for the value",
        )
    }

    /// Of a key that cannot be sent.
    pub(super) fn bad_key(why: &str) -> Self {
        Self::new(codes::BAD_KEY_PROVIDED, why)
    }

    /// What the failed outcome of a request says; `None` if it did not fail.
    pub(super) fn of(client: &Client, outcome: &Outcome) -> Option<Self> {
        match outcome {
            Outcome::Refused(why) => Some(Self::new(refused(why), why.clone())),
            Outcome::Unsent(failure) | Outcome::Unknown(failure) => {
                let error = client.checked(outcome.clone()).err()?;
                let server = Some(failure.server);
                Some(Self {
                    server,
                    ..Self::of_error(&error)
                })
            }
            _ => None,
        }
    }

    pub(super) fn of_error(error: &Error) -> Self {
        let code = match error {
            Error::Refused(why) => refused(why),
            Error::Unsent { cause, .. } => broken(*cause, codes::CONNECTION_FAILURE),
            Error::Unknown { cause, .. } => broken(*cause, codes::READ_FAILURE),
            _ => codes::FAILURE,
        };
        Self::new(code, error.to_string())
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::new(codes::INVALID_ARGUMENTS, failure.to_string())
    }
}

impl From<BuildError> for Fault {
    fn from(error: BuildError) -> Self {
        Self::new(codes::INVALID_ARGUMENTS, error.to_string())
    }
}

/// The code of a refusal, by its words.
fn refused(why: &str) -> Code {
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if has(&["too large", "TooLarge"]) {
        codes::E2BIG
    } else if has(&["out of memory", "OutOfMemory"]) {
        codes::SERVER_MEMORY_ALLOCATION_FAILURE
    } else if has(&["the key", "a key", "key is"]) {
        codes::BAD_KEY_PROVIDED
    } else if has(&["Auth", "auth"]) {
        codes::AUTH_FAILURE
    } else if has(&["CLIENT_ERROR", "non-numeric", "NotNumber", "NotANumber"]) {
        codes::CLIENT_ERROR
    } else if has(&["SERVER_ERROR"]) {
        codes::SERVER_ERROR
    } else if has(&["UnknownCommand", "does not know"]) || why == "ERROR" {
        codes::NOT_SUPPORTED
    } else {
        codes::CLIENT_ERROR
    }
}

/// The code of a failed connection, where the cause has one of its own.
fn broken(cause: FailureCause, otherwise: Code) -> Code {
    match cause {
        FailureCause::Unresolved => codes::HOST_LOOKUP_FAILURE,
        FailureCause::Authentication => codes::AUTH_FAILURE,
        FailureCause::TimedOut => codes::TIMEOUT,
        FailureCause::Protocol => codes::PROTOCOL_ERROR,
        _ => otherwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tavola_client_core::ServerFailure;

    #[test]
    fn no_failure_is_reported_as_a_missing_key() {
        let client = Client::builder().server("a", 1.0).build().unwrap();
        let failed = |cause| ServerFailure { server: 0, cause };
        let outcomes = [
            Outcome::Refused("SERVER_ERROR object too large for cache".into()),
            Outcome::Refused("SERVER_ERROR out of memory storing object".into()),
            Outcome::Refused("CLIENT_ERROR cannot increment".into()),
            Outcome::Unsent(failed(FailureCause::Refused)),
            Outcome::Unknown(failed(FailureCause::Closed)),
            Outcome::Unknown(failed(FailureCause::TimedOut)),
            Outcome::Unsent(failed(FailureCause::Authentication)),
            Outcome::Unsent(failed(FailureCause::Unresolved)),
            Outcome::Unknown(failed(FailureCause::Protocol)),
        ];
        let codes = outcomes.map(|outcome| Fault::of(&client, &outcome).unwrap().code);
        assert_eq!(
            codes,
            [
                codes::E2BIG,
                codes::SERVER_MEMORY_ALLOCATION_FAILURE,
                codes::CLIENT_ERROR,
                codes::CONNECTION_FAILURE,
                codes::READ_FAILURE,
                codes::TIMEOUT,
                codes::AUTH_FAILURE,
                codes::HOST_LOOKUP_FAILURE,
                codes::PROTOCOL_ERROR,
            ]
        );
        assert!(Fault::of(&client, &Outcome::Miss).is_none());
    }
}
