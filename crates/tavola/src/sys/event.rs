//! Events that `poll` and `epoll` wait for.
//!
//! A program may close any of its descriptors, and the number may lead to its own file afterwards:
//! nothing is written to a number, and none is closed, before the kernel has said that it still
//! leads to the event.

use super::process::read_whole;
use super::{check, retry};
use std::ffi::CStr;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The most an event counts to: with it, nothing more can be written until somebody has read.
static MOST: u64 = u64::MAX - 1;

/// An event, raised or not.
#[derive(Debug)]
pub(crate) struct Event {
    /// Taken by the drop.
    fd: Option<OwnedFd>,
    /// The kernel's number of it; 0: the kernel numbers none (before 5.2), or /proc is not there.
    id: u64,
}

impl Event {
    /// A new event, not raised.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: the call takes no memory.
        let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        Ok(Self {
            // SAFETY: the kernel has just given it to us.
            fd: Some(unsafe { OwnedFd::from_raw_fd(fd) }),
            id: event_id(fd).unwrap_or(0),
        })
    }

    /// Whether its number still leads to it.
    fn is_there(&self) -> bool {
        event_id(self.as_raw_fd()) == Some(self.id) || (self.id == 0 && is_anonymous(self.as_fd()))
    }

    /// Raises the event, unless it is raised. Returns false if its descriptor was closed.
    pub(crate) fn raise(&self) -> bool {
        let is_there = self.is_there();
        if is_there {
            let count = (&raw const MOST).cast();
            // SAFETY: the count is 8 bytes long. An event that is raised already answers EAGAIN.
            unsafe { libc::write(self.as_raw_fd(), count, size_of::<u64>()) };
        }
        is_there
    }

    /// Takes the event back.
    pub(crate) fn lower(&self) {
        if self.is_there() {
            let mut count = 0u64;
            let to = (&raw mut count).cast();
            // SAFETY: the count is 8 bytes long. An event that is not raised answers EAGAIN.
            unsafe { libc::read(self.as_raw_fd(), to, size_of::<u64>()) };
        }
    }

    /// Waits until this event is not raised, the other is, or a second has passed: their
    /// descriptors may have been closed meanwhile.
    pub(crate) fn wait_lowered(&self, or: &Event) -> io::Result<()> {
        let wanted = |event: &Event, events| libc::pollfd {
            fd: event.as_raw_fd(),
            events,
            revents: 0,
        };
        let mut fds = [wanted(self, libc::POLLOUT), wanted(or, libc::POLLIN)];
        // SAFETY: two places, both valid for the call.
        retry(|| unsafe { libc::poll(fds.as_mut_ptr(), 2, 1000) }).map(drop)
    }
}

impl AsFd for Event {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_ref().expect("taken by the drop only").as_fd()
    }
}

impl AsRawFd for Event {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.as_fd().as_raw_fd()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        if !self.is_there() {
            std::mem::forget(self.fd.take());
        }
    }
}

/// The kernel's number of the event behind a descriptor, from its page in /proc.
fn event_id(fd: libc::c_int) -> Option<u64> {
    let mut path = [0; 40];
    write!(&mut path[..], "/proc/self/fdinfo/{fd}\0").ok()?;
    let mut buffer = [0; 512];
    let info = read_whole(CStr::from_bytes_until_nul(&path).ok()?, &mut buffer)?;
    let mut lines = info.split(|&byte| byte == b'\n');
    let number = lines.find_map(|line| line.strip_prefix(b"eventfd-id:"))?;
    std::str::from_utf8(number).ok()?.trim().parse().ok()
}

/// Whether a descriptor leads to none of files, pipes, sockets and devices.
fn is_anonymous(fd: BorrowedFd<'_>) -> bool {
    // SAFETY: all zeros is a valid `stat`, a struct of integers.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `stat` is a valid place for the answer.
    let known = unsafe { libc::fstat(fd.as_raw_fd(), &raw mut stat) } == 0;
    known && stat.st_mode & libc::S_IFMT == 0
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;

    fn is_raised(event: &Event) -> bool {
        let mut fd = libc::pollfd {
            fd: event.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one place, valid for the call.
        unsafe { libc::poll(&raw mut fd, 1, 0) == 1 }
    }

    #[test]
    fn an_event_is_raised_until_it_is_read() {
        let (event, stop) = (Event::new().unwrap(), Event::new().unwrap());
        assert!(!is_raised(&event));
        assert!(event.raise());
        assert!(event.raise());
        assert!(is_raised(&event));
        event.lower();
        assert!(!is_raised(&event));
        event.lower();
        event.wait_lowered(&stop).unwrap();
        event.raise();
        stop.raise();
        event.wait_lowered(&stop).unwrap();
    }

    #[test]
    fn what_has_its_number_now_is_left_alone() {
        let (event, other) = (Event::new().unwrap(), Event::new().unwrap());
        let number = event.as_raw_fd();
        // SAFETY: the other event takes the number of the first, which `event` does not know.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), number) }, number);
        assert!(!event.raise());
        assert!(!is_raised(&other));
        other.raise();
        event.lower();
        assert!(is_raised(&other));
        drop(event);
        assert_ne!(
            // SAFETY: asks for the flags of a descriptor.
            unsafe { libc::fcntl(number, libc::F_GETFD) },
            -1,
            "not closed"
        );
        // SAFETY: the descriptor made above, which nobody else knows.
        unsafe { libc::close(number) };
    }
}
