//! Which server is down, and when to ask it again.
//!
//! A server is down after several failures in a row, or a refused connection. Then requests to it
//! fail at once. Now and then one of them begins a connection, which is left alone if it does not
//! become ready in a moment: later requests look at it, and once the server has answered, the
//! server is up. So a server that is silent costs its clients next to nothing, and one that comes
//! back is found by the next request. A server that fails at once is asked each 100 ms.

use crate::cause::FailureCause;
use crate::conn::{Broken, Conn, Opening, Progress};
use crate::options::Settings;
use crate::server::Server;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The pause before a server that is down is asked for the first time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How long a request that begins a connection to a server that is down waits for it.
const PATIENCE: Duration = Duration::from_millis(10);

/// What is known of a server's failures.
#[derive(Debug)]
pub(crate) struct Failures {
    /// Whether the server is down; read without the lock.
    is_down: AtomicBool,
    /// Whether anything failed since the last success; read without the lock.
    has_failed: AtomicBool,
    state: Mutex<FailureState>,
}

/// The failures of a server since its last success.
#[derive(Debug)]
struct FailureState {
    /// Failures in a row.
    count: u32,
    last: Option<Instant>,
    /// The last failure ever.
    broken: Option<Broken>,
    pause: Duration,
    /// When the server is asked again.
    next: Instant,
    probe: Option<Opening>,
}

/// Whether a server may be used.
#[derive(Debug)]
pub(crate) enum Access {
    Up,
    /// It has just come back, and this is a connection to it.
    Back(Box<Conn>),
    Down,
}

impl Failures {
    pub(crate) fn new() -> Self {
        Self {
            is_down: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
            state: Mutex::new(FailureState {
                count: 0,
                last: None,
                broken: None,
                pause: FIRST_PAUSE,
                next: Instant::now(),
                probe: None,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, FailureState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }

    /// Returns the last failure, if there was one since the last success.
    pub(crate) fn last(&self) -> Option<Broken> {
        let is_known = self.has_failed.load(Ordering::Relaxed) || self.is_down();
        is_known.then(|| self.lock().broken.clone())?
    }

    /// Returns why a server that is down is so.
    pub(crate) fn cause(&self) -> FailureCause {
        let broken = &self.lock().broken;
        { broken.as_ref() }.map_or(FailureCause::Refused, |broken| broken.cause)
    }

    /// Returns whether the server may be used; asks it if it is down and its time has come.
    pub(crate) fn access(&self, server: &Server, settings: &Settings) -> Access {
        if !self.is_down() {
            return Access::Up;
        }
        // One at a time asks; the others need not wait for it.
        let Ok(mut state) = self.state.try_lock() else {
            return Access::Down;
        };
        if !self.is_down() {
            return Access::Up;
        }
        match state.ask(server, settings) {
            None => Access::Down,
            Some(conn) => {
                state.count = 0;
                state.last = None;
                state.pause = FIRST_PAUSE;
                self.has_failed.store(false, Ordering::Relaxed);
                self.is_down.store(false, Ordering::Relaxed);
                Access::Back(conn)
            }
        }
    }

    /// Closes a connection in the making of another process, which cannot be waited for.
    pub(crate) fn abandon(&self) {
        if let Ok(mut state) = self.state.try_lock() {
            state.probe = None;
        }
    }

    /// Notes that a server answered.
    pub(crate) fn note_success(&self) {
        if self.has_failed.load(Ordering::Relaxed) && !self.is_down() {
            let mut state = self.lock();
            state.count = 0;
            state.last = None;
            self.has_failed.store(false, Ordering::Relaxed);
        }
    }

    /// Notes a failure of a call that began at this time.
    pub(crate) fn note_failure(&self, broken: &Broken, began: Instant, settings: &Settings) {
        let now = Instant::now();
        let mut state = self.lock();
        let is_in_a_row = state
            .last
            .is_some_and(|last| began <= last + settings.failure_timeout);
        state.count = if is_in_a_row { state.count + 1 } else { 1 };
        state.last = Some(now);
        state.broken = Some(broken.clone());
        self.has_failed.store(true, Ordering::Relaxed);
        let is_down = broken.cause == FailureCause::Refused || state.count >= settings.max_failures;
        if is_down && !self.is_down.swap(true, Ordering::Relaxed) {
            state.pause = FIRST_PAUSE;
            state.next = now + jittered(FIRST_PAUSE);
            state.probe = None;
        }
    }
}

impl FailureState {
    /// Begins or continues a connection. Returns it if it is ready.
    fn ask(&mut self, server: &Server, settings: &Settings) -> Option<Box<Conn>> {
        let now = Instant::now();
        if let Some(probe) = &self.probe
            && now >= probe.began + settings.connect_timeout.max(settings.retry)
        {
            // What was sent may be lost; another connection shows more than the old one.
            self.probe = None;
            self.next = now;
        }
        let is_new = self.probe.is_none();
        if is_new && now < self.next {
            return None;
        }
        let opening = match self.probe.take() {
            Some(opening) => Ok(opening),
            None => Opening::begin(server, settings),
        };
        // The one who begins it gives it a moment.
        let patience = if is_new { PATIENCE } else { Duration::ZERO };
        let advanced = opening.and_then(|opening| advance(opening, server, settings, patience));
        match advanced {
            Ok(Progress::Ready(conn)) => return Some(conn),
            Ok(Progress::Waiting(opening)) => self.probe = Some(opening),
            Err(broken) => {
                self.pause = match is_cheap(broken.cause, is_new) {
                    true => FIRST_PAUSE,
                    false => (self.pause * 2).min(settings.retry.max(FIRST_PAUSE)),
                };
                self.next = now + jittered(self.pause);
                self.broken = Some(broken);
            }
        }
        None
    }
}

/// Whether to ask a server that fails in this way costs it and its clients next to nothing, so that
/// it can be asked often: the machine or the server says at once that there is no connection.
fn is_cheap(cause: FailureCause, is_new: bool) -> bool {
    match cause {
        FailureCause::Refused
        | FailureCause::Unreachable
        | FailureCause::Closed
        | FailureCause::Reset
        | FailureCause::Rejected
        | FailureCause::Local => true,
        // In a new attempt nothing is waited for: too many connections wait to be accepted.
        FailureCause::TimedOut => is_new,
        _ => false,
    }
}

/// Continues a connection for a moment.
fn advance(
    opening: Opening,
    server: &Server,
    settings: &Settings,
    patience: Duration,
) -> Result<Progress, Broken> {
    let deadline = Instant::now() + patience;
    let mut progress = opening.advance(server, settings)?;
    while let Progress::Waiting(opening) = progress {
        let is_ready = crate::conn::wait_for(opening.poll_fd().as_mut_slice(), deadline);
        if !is_ready {
            return Ok(Progress::Waiting(opening));
        }
        progress = opening.advance(server, settings)?;
    }
    Ok(progress)
}

/// A time between three quarters and five quarters of this one, so that clients do not all ask at
/// once.
fn jittered(time: Duration) -> Duration {
    let random = RandomState::new().hash_one(0) % 1024;
    time * 3 / 4 + time / 2 * u32::try_from(random).unwrap_or(0) / 1024
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::thread;

    fn refused() -> Broken {
        Broken::of(FailureCause::Refused, "no")
    }

    fn settings() -> Settings {
        let client = Client::builder()
            .server("a", 1.0)
            .build()
            .expect("a client");
        client.settings().clone()
    }

    #[test]
    fn failures_in_a_row_or_a_refusal_make_a_server_down() {
        let settings = settings();
        let now = Instant::now();
        let failures = Failures::new();
        let silent = Broken::late();
        failures.note_failure(&silent, now, &settings);
        assert!(!failures.is_down());
        failures.note_success();
        assert!(failures.last().is_none());
        failures.note_failure(&silent, now, &settings);
        assert!(!failures.is_down(), "a success is between them");
        let later = Instant::now() + settings.failure_timeout * 2;
        failures.note_failure(&silent, later, &settings);
        assert!(!failures.is_down(), "they are too far apart");
        failures.note_failure(&silent, now, &settings);
        assert!(failures.is_down());
        let last = failures.last().expect("a failure");
        assert_eq!(last.to_string(), silent.to_string());
        assert_eq!(failures.cause(), FailureCause::TimedOut);
        let failures = Failures::new();
        failures.note_failure(&refused(), now, &settings);
        assert!(failures.is_down());
    }

    /// A server is asked again and again until each attempt has failed; returns the last pause.
    fn pause_after(server: &Server, attempts: usize) -> Duration {
        let settings = settings();
        let failures = Failures::new();
        failures.note_failure(&refused(), Instant::now(), &settings);
        for _ in 0..attempts {
            // The pause is over.
            failures.lock().next = Instant::now();
            loop {
                assert!(matches!(failures.access(server, &settings), Access::Down));
                if failures.lock().probe.is_none() {
                    break;
                }
            }
            let state = failures.lock();
            assert!(state.next <= Instant::now() + state.pause * 5 / 4);
        }
        failures.lock().pause
    }

    /// With 125 ms at most before each attempt, a server is found within 200 ms of its return.
    #[test]
    fn a_server_that_fails_at_once_is_asked_at_short_pauses_however_often() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let server = |name: &str| -> Server {
            let name = format!("unix:{}", path(name).display());
            name.parse().expect("a server")
        };
        // Nothing listens there.
        assert_eq!(pause_after(&server("none"), 10), FIRST_PAUSE);
        // It closes each connection, and one that has bytes to read is reset.
        let closing = UnixListener::bind(path("closing")).expect("a socket");
        thread::spawn(move || closing.incoming().for_each(drop));
        assert_eq!(pause_after(&server("closing"), 10), FIRST_PAUSE);
        // It refuses to serve.
        let refusing = UnixListener::bind(path("refusing")).expect("a socket");
        thread::spawn(move || {
            for mut stream in refusing.incoming().flatten() {
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(b"SERVER_ERROR too many connections\r\n");
            }
        });
        assert_eq!(pause_after(&server("refusing"), 10), FIRST_PAUSE);
        // Its queue is full.
        let full = UnixListener::bind(path("full")).expect("a socket");
        rustix::net::listen(&full, 0).expect("a queue of one");
        let _first = UnixStream::connect(path("full")).expect("connected");
        assert_eq!(pause_after(&server("full"), 10), FIRST_PAUSE);
    }

    #[test]
    fn only_what_does_not_fail_at_once_or_needs_a_person_is_asked_less_often() {
        for cause in FailureCause::ALL {
            let is_asked_less = matches!(
                cause,
                FailureCause::Unresolved
                    | FailureCause::TimedOut
                    | FailureCause::Tls
                    | FailureCause::Authentication
                    | FailureCause::Protocol
                    | FailureCause::Proxy
                    | FailureCause::Partial
                    | FailureCause::Busy
            );
            assert_eq!(is_cheap(cause, false), !is_asked_less, "{cause:?}");
        }
        // A server that sends what is no answer.
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let name = listener.local_addr().expect("an address").to_string();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 64]);
                let _ = stream.write_all(b"220 ready\r\n");
            }
        });
        let server: Server = name.parse().expect("a server");
        assert_eq!(pause_after(&server, 2), FIRST_PAUSE * 4);
        assert_eq!(pause_after(&server, 10), settings().retry);
    }

    #[test]
    fn pauses_are_spread() {
        let pauses: Vec<_> = (0..100).map(|_| jittered(FIRST_PAUSE)).collect();
        let (least, most) = (FIRST_PAUSE * 3 / 4, FIRST_PAUSE * 5 / 4);
        assert!(pauses.iter().all(|pause| (least..=most).contains(pause)));
        assert!(pauses.iter().any(|pause| *pause != pauses[0]));
    }
}
