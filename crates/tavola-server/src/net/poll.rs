//! Waiting for events: an epoll, and mailboxes, whose messages wake a thread up.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::{self, Errno};

/// The most events that one wait returns.
const EVENTS: usize = 256;

/// An epoll, level-triggered: an event that is not dealt with is reported again.
#[derive(Debug)]
pub(crate) struct Poll {
    epoll: OwnedFd,
    /// The tokens and flags of the events that the last wait returned.
    events: Vec<(u64, EventFlags)>,
}

impl Poll {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            epoll: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(EVENTS),
        })
    }

    pub(crate) fn add(&self, source: impl AsFd, token: u64, flags: EventFlags) -> io::Result<()> {
        epoll::add(&self.epoll, source, EventData::new_u64(token), flags)
    }

    pub(crate) fn change(
        &self,
        source: impl AsFd,
        token: u64,
        flags: EventFlags,
    ) -> io::Result<()> {
        epoll::modify(&self.epoll, source, EventData::new_u64(token), flags)
    }

    pub(crate) fn remove(&self, source: impl AsFd) -> io::Result<()> {
        epoll::delete(&self.epoll, source)
    }

    /// Waits for events, for at most `timeout`, and returns whether there are any.
    pub(crate) fn wait(&mut self, timeout: Option<Duration>) -> bool {
        self.events.clear();
        let timeout = timeout.map(|time| Timespec {
            tv_sec: time.as_secs().min(1 << 30) as _,
            tv_nsec: time.subsec_nanos().into(),
        });
        let mut room = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((found, _)) => {
                let found = found.iter().map(|event| (event.data.u64(), event.flags));
                self.events.extend(found);
            }
            Err(Errno::INTR) => {}
            Err(errno) => panic!("waiting on an epoll of our own failed: {errno}"),
        }
        !self.events.is_empty()
    }

    /// Returns the number of events of the last wait.
    pub(crate) fn events(&self) -> usize {
        self.events.len()
    }

    /// Returns the token and the flags of an event of the last wait.
    pub(crate) fn event(&self, number: usize) -> (u64, EventFlags) {
        self.events[number]
    }
}

/// The messages for a thread. The first of them wakes it up through an eventfd.
#[derive(Debug)]
pub(crate) struct Mailbox<M> {
    messages: Mutex<Vec<M>>,
    eventfd: OwnedFd,
}

impl<M> Mailbox<M> {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            messages: Mutex::new(Vec::new()),
            eventfd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
        })
    }

    /// Returns the eventfd, which the thread's epoll watches for reading.
    pub(crate) fn eventfd(&self) -> &OwnedFd {
        &self.eventfd
    }

    pub(crate) fn push(&self, message: M) {
        let mut messages = self.lock();
        messages.push(message);
        if messages.len() == 1 {
            // Fails only if 2^64 messages were not taken.
            let _ = io::write(&self.eventfd, &1_u64.to_ne_bytes());
        }
    }

    /// Takes all messages.
    ///
    /// The eventfd is reset before the messages are taken, so that no wake-up is lost: a message
    /// that comes in between is taken now and wakes the thread once too often, and one that comes
    /// later sets the eventfd again.
    pub(crate) fn take(&self) -> Vec<M> {
        // Fails if the eventfd is not set, which does no harm.
        let _ = io::read(&self.eventfd, &mut [0; 8]);
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<M>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_wakes_and_is_reported_once() {
        let mailbox = Mailbox::new().expect("an eventfd");
        let mut poll = Poll::new().expect("an epoll");
        poll.add(mailbox.eventfd(), 9, EventFlags::IN)
            .expect("added");
        assert!(!poll.wait(Some(Duration::ZERO)));
        mailbox.push('a');
        mailbox.push('b');
        assert!(poll.wait(None));
        assert_eq!(poll.event(0), (9, EventFlags::IN));
        assert_eq!(poll.events(), 1);
        assert_eq!(mailbox.take(), ['a', 'b']);
        assert!(!poll.wait(Some(Duration::from_millis(1))));
    }
}
