//! Why a call failed: a code, and a sentence that says what to do.

use super::codes::{self, Code};
use crate::status::Failure;
use tavola_client_core::{BuildError, Client, Outcome};

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
            Outcome::Unsent(server) => Some(Self::of_server(client, *server, false)),
            Outcome::Unknown(server) => Some(Self::of_server(client, *server, true)),
            _ => None,
        }
    }

    fn of_server(client: &Client, server: usize, is_unknown: bool) -> Self {
        let why = client.last_error(server);
        let why = why.unwrap_or_else(|| "the connection was in use or closed".to_string());
        let name = client.servers()[server].name();
        let sentence = match is_unknown {
            true => format!("{name}: {why}; the request may have been carried out"),
            false => format!("{name}: {why}; the request was not sent, and can be repeated"),
        };
        Self {
            code: broken(&why, is_unknown),
            why: sentence,
            server: Some(server),
        }
    }

    pub(super) fn of_error(error: &tavola_client_core::Error) -> Self {
        use tavola_client_core::Error;
        let code = match error {
            Error::Refused(why) => refused(why),
            Error::Unsent { why, .. } => broken(why, false),
            Error::Unknown { why, .. } => broken(why, true),
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

/// The code of a failed connection, by its words.
fn broken(why: &str, is_unknown: bool) -> Code {
    let has = |words: &[&str]| words.iter().any(|word| why.contains(word));
    if has(&["cannot be resolved", "has no address"]) {
        codes::HOST_LOOKUP_FAILURE
    } else if has(&["password", "refused the first request", "login"]) {
        codes::AUTH_FAILURE
    } else if has(&["in time", "timed out"]) {
        codes::TIMEOUT
    } else if has(&["it sent", "it answered"]) {
        codes::PROTOCOL_ERROR
    } else if is_unknown {
        codes::READ_FAILURE
    } else {
        codes::CONNECTION_FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_is_reported_as_a_missing_key() {
        let client = Client::builder().server("a", 1.0).build().unwrap();
        let outcomes = [
            Outcome::Refused("SERVER_ERROR object too large for cache".into()),
            Outcome::Refused("SERVER_ERROR out of memory storing object".into()),
            Outcome::Refused("CLIENT_ERROR cannot increment".into()),
            Outcome::Unsent(0),
            Outcome::Unknown(0),
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
            ]
        );
        assert!(Fault::of(&client, &Outcome::Miss).is_none());
    }
}
