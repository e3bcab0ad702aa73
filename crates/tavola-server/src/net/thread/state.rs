//! The states of a connection.

use std::time::{Duration, Instant};

/// How long a drain waits for the first request of a new connection, which may be on its way: a
/// client that has just connected should not notice that the server is replaced.
const FIRST: Duration = Duration::from_secs(1);
/// How long a client may take to close its side after the service closed.
const LINGER: Duration = Duration::from_secs(1);
/// How long a client may take after a drain closed its idle connection: long enough for a request
/// on its way.
const LINGER_OF_IDLE: Duration = Duration::from_millis(250);

/// How far a connection is.
///
/// | stage | reads | serves | next |
/// |---|---|---|---|
/// | `Open` | while the output has room | yes | `Ended`, `Held`, `Closing` |
/// | `Ended` by the client | no | while the service says `Again` | closed when all is sent |
/// | `Held` by the service, which will close | no | no | `Closing` at its time |
/// | `Closing` by service or drain, or after a TLS error | no | no | `Lingering` when all is sent |
/// | `Lingering` until the client closes | to throw away | no | closed, at its time at the latest |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Open,
    Ended,
    Held { until: Instant },
    Closing { linger: Duration },
    Lingering { until: Instant },
}

impl Stage {
    /// The service closes.
    pub(super) const CLOSING: Self = Self::Closing { linger: LINGER };
    /// A drain closes a connection that is idle.
    pub(super) const CLOSING_IDLE: Self = Self::Closing {
        linger: LINGER_OF_IDLE,
    };
}

/// What a client that has connected did so far.
///
/// | state | continues with |
/// |---|---|
/// | `Handshake`: of TLS; closed if it takes longer | `FirstRequest` |
/// | `FirstRequest`: none has come; a drain waits for it until then | `Done` when a byte has come |
/// | `Done` | |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    Handshake { until: Instant },
    FirstRequest { until: Instant },
    Done,
}

impl Opening {
    pub(super) fn first_request(now: Instant) -> Self {
        let until = now + FIRST;
        Self::FirstRequest { until }
    }
}

/// What has to happen before the service is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// The input gets at least this many bytes.
    Input { at_least: usize },
    /// Nothing: the service said `Again`, or was woken.
    Turn,
}

/// What the thread still has to do for a connection without an event of it.
///
/// | state | continues with |
/// |---|---|
/// | `Nothing` | `NextTurn` when it is put into `ready`, `BatchedSend` after a turn `InBatch` |
/// | `NextTurn`: in `ready`; its events are ignored | `Nothing` when it is taken out of there |
/// | `BatchedSend`: its answers are in the batch of the round | `Nothing` when that is sent |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Nothing,
    NextTurn,
    BatchedSend,
}
