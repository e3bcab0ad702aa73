//! Signals as events that can be waited for.
//!
//! | signal | event |
//! |---|---|
//! | `SIGTERM`, `SIGINT` | [`Event::End`]; a second one ends the process at once |
//! | `SIGUSR1` | [`Event::Succeed`] |
//! | `SIGHUP` | [`Event::Reload`] |

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::{flag, low_level::pipe};

/// The exit code of a process that got the signal to end twice.
const CUT_OFF: i32 = 130;

/// What the process is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// End in good order.
    End,
    /// Hand over to a new process.
    Succeed,
    /// Read files of users and certificates again.
    Reload,
}

/// The signals that came.
#[derive(Debug)]
pub struct Signals {
    ending: Arc<AtomicBool>,
    succeed: Arc<AtomicBool>,
    reload: Arc<AtomicBool>,
    /// A byte comes here with each signal.
    rings: UnixStream,
    rung: UnixStream,
}

impl Signals {
    /// From now on signals are events.
    pub fn install() -> io::Result<Signals> {
        let (rings, rung) = UnixStream::pair()?;
        rings.set_nonblocking(true)?;
        rung.set_nonblocking(true)?;
        let signals = Signals {
            ending: Arc::default(),
            succeed: Arc::default(),
            reload: Arc::default(),
            rings,
            rung,
        };
        for signal in [SIGTERM, SIGINT] {
            flag::register_conditional_shutdown(signal, CUT_OFF, Arc::clone(&signals.ending))?;
            flag::register(signal, Arc::clone(&signals.ending))?;
        }
        flag::register(SIGUSR1, Arc::clone(&signals.succeed))?;
        flag::register(SIGHUP, Arc::clone(&signals.reload))?;
        // After the flags: who is woken finds them set.
        for signal in [SIGTERM, SIGINT, SIGUSR1, SIGHUP] {
            pipe::register(signal, signals.rung.try_clone()?)?;
        }
        Ok(signals)
    }

    /// What lets any thread ask the process to end, as a signal does.
    pub fn end(&self) -> io::Result<impl Fn() + Send + Sync + use<>> {
        let rung = self.rung.try_clone()?;
        let ending = Arc::clone(&self.ending);
        Ok(move || {
            ending.store(true, Ordering::SeqCst);
            // Where it is full there is a byte that wakes.
            let _ = (&rung).write(&[0]);
        })
    }

    /// Waits for a signal; `None` when none came in that time.
    pub fn wait(&self, within: Duration) -> io::Result<Option<Event>> {
        self.wait_with(None, within)
    }

    /// The same, and returns as well when `other` can be read.
    pub fn wait_with(
        &self,
        other: Option<BorrowedFd<'_>>,
        within: Duration,
    ) -> io::Result<Option<Event>> {
        if let Some(event) = self.event() {
            return Ok(Some(event));
        }
        let mut ends = vec![PollFd::from_borrowed_fd(self.rings.as_fd(), PollFlags::IN)];
        ends.extend(other.map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN)));
        let within = Timespec::try_from(within).map_err(io::Error::other)?;
        match poll(&mut ends, Some(&within)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        // Where nothing is there it is no signal.
        let _ = (&self.rings).read(&mut [0; 64]);
        Ok(self.event())
    }

    fn event(&self) -> Option<Event> {
        let is_set = |flag: &AtomicBool| flag.swap(false, Ordering::SeqCst);
        // Stays set: the next such signal ends the process.
        if self.ending.load(Ordering::SeqCst) {
            return Some(Event::End);
        }
        if is_set(&self.succeed) {
            return Some(Event::Succeed);
        }
        is_set(&self.reload).then_some(Event::Reload)
    }
}
