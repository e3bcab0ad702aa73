//! An io_uring that sends the answers of several connections by one system call.
//!
//! When clients share the CPU, the kernel may run a client at each call that wakes it, before the
//! next connection is answered: the client sends one request, sleeps again, and is woken for the
//! next answer. One call for all answers of a round wakes it once, and it finds all of them.
//!
//! - **RING-1** Between two calls of [`Ring::send`] the kernel has nothing of ours: each call waits
//!   for all that it handed over. That is at once, as no request waits for a socket (`DONTWAIT`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;
use rustix::net::SendFlags;

/// The most answers that one call sends.
pub(crate) const SENDS: usize = 32;

/// Bytes to send to a connection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Send<'a> {
    pub(crate) socket: BorrowedFd<'a>,
    pub(crate) bytes: &'a [u8],
}

/// The number of bytes that a socket took at once, or its error.
pub(crate) type Sent = Result<usize, Errno>;

/// The io_uring of a thread.
pub(crate) struct Ring(IoUring);

impl Ring {
    /// Makes a ring.
    ///
    /// # Errors
    ///
    /// If the kernel is older than Linux 5.18, or the system refuses io_uring to programs.
    pub(crate) fn new() -> io::Result<Self> {
        // A send that fails does not stop those after it.
        let ring = IoUring::builder().setup_submit_all().build(SENDS as u32)?;
        Ok(Self(ring))
    }

    /// Sends as much of each as its socket takes now. There may be at most `SENDS`.
    ///
    /// # Errors
    ///
    /// If nothing was sent. The ring cannot be used after that.
    pub(crate) fn send(&mut self, sends: &[Send<'_>]) -> io::Result<[Sent; SENDS]> {
        let flags = (SendFlags::NOSIGNAL | SendFlags::DONTWAIT).bits() as i32;
        for (number, send) in sends.iter().enumerate() {
            let socket = types::Fd(send.socket.as_raw_fd());
            let entry = opcode::Send::new(socket, send.bytes.as_ptr(), send.bytes.len() as u32)
                .flags(flags)
                .build()
                .user_data(number as u64);
            self.push(&entry);
        }
        let mut sent = [Ok(0); SENDS];
        let mut missing = sends.len();
        while missing > 0 {
            let taken = self.0.submit_and_wait(missing);
            for completion in self.0.completion() {
                let result = completion.result();
                sent[completion.user_data() as usize] = match usize::try_from(result) {
                    Ok(size) => Ok(size),
                    Err(_) => Err(Errno::from_raw_os_error(-result)),
                };
                missing -= 1;
            }
            match taken {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                    if self.0.submission().len() == sends.len() {
                        return Err(error);
                    }
                    // Some sends are under way, and end as soon as their bytes are copied (RING-1).
                    std::thread::yield_now();
                }
                _ => {}
            }
        }
        Ok(sent)
    }

    #[allow(unsafe_code)]
    fn push(&mut self, entry: &io_uring::squeue::Entry) {
        // SAFETY: the bytes and the socket are borrowed until `send` returns. By then the kernel
        // is done with them (RING-1), or has not seen them and never will: the ring is dropped.
        let pushed = unsafe { self.0.submission().push(entry) };
        pushed.expect("no more than it has room for");
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ring").field(&self.0.as_raw_fd()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn each_socket_takes_what_it_can_and_none_waits() {
        let Ok(mut ring) = Ring::new() else {
            eprintln!("skipped: no io_uring here");
            return;
        };
        let pairs: Vec<_> = (0..SENDS)
            .map(|_| UnixStream::pair().expect("a pair"))
            .collect();
        pairs[1].1.shutdown(std::net::Shutdown::Both).expect("shut");
        let large = vec![7; 8 << 20];
        for round in 0..3 {
            let sends = pairs.iter().enumerate().map(|(number, pair)| Send {
                socket: pair.0.as_fd(),
                bytes: if number == 2 { &large } else { b"answer" },
            });
            let sends: Vec<_> = sends.collect();
            let sent = ring.send(&sends).expect("sends");
            for (number, sent) in sent.iter().enumerate() {
                match (number, sent) {
                    (1, sent) => assert_eq!(*sent, Err(Errno::PIPE)),
                    (2, Ok(size)) => assert!(round == 0 && (1..large.len()).contains(size)),
                    (2, sent) => assert_eq!((*sent, round > 0), (Err(Errno::AGAIN), true)),
                    (_, sent) => assert_eq!(*sent, Ok(6)),
                }
            }
        }
        for pair in pairs.iter().skip(3) {
            let mut found = [0; 12];
            (&pair.1).read_exact(&mut found).expect("read");
            assert_eq!(&found, b"answeranswer" as &[u8]);
        }
    }
}
