//! Events that `poll` and `epoll` wait for.

use super::{check, retry};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The most an event counts to: with it, nothing more can be written until somebody has read.
static MOST: u64 = u64::MAX - 1;

/// A new event, not raised.
pub(crate) fn new() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no memory.
    let fd = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the kernel has just given it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Raises the event, unless it is raised.
pub(crate) fn raise(event: BorrowedFd<'_>) {
    // SAFETY: the count is 8 bytes long. An event that is raised already answers EAGAIN.
    unsafe {
        libc::write(
            event.as_raw_fd(),
            (&raw const MOST).cast(),
            size_of::<u64>(),
        )
    };
}

/// Takes the event back.
pub(crate) fn lower(event: BorrowedFd<'_>) {
    let mut count = 0u64;
    // SAFETY: the count is 8 bytes long. An event that is not raised answers EAGAIN.
    unsafe { libc::read(event.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
}

/// Waits until the first event is not raised, or the second is.
pub(crate) fn wait_lowered(event: BorrowedFd<'_>, or: BorrowedFd<'_>) -> io::Result<()> {
    let wanted = |fd: BorrowedFd<'_>, events| libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 0,
    };
    let mut fds = [wanted(event, libc::POLLOUT), wanted(or, libc::POLLIN)];
    // SAFETY: two places, both valid for the call.
    retry(|| unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) }).map(drop)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    fn is_raised(event: &OwnedFd) -> bool {
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
        let (event, stop) = (new().unwrap(), new().unwrap());
        assert!(!is_raised(&event));
        raise(event.as_fd());
        raise(event.as_fd());
        assert!(is_raised(&event));
        lower(event.as_fd());
        assert!(!is_raised(&event));
        lower(event.as_fd());
        wait_lowered(event.as_fd(), stop.as_fd()).unwrap();
        raise(event.as_fd());
        raise(stop.as_fd());
        wait_lowered(event.as_fd(), stop.as_fd()).unwrap();
    }
}
