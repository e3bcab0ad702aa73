//! Reading requests from a Unix socket without waking the client that sent them.
//!
//! A client that sleeps in a read of a Unix socket is woken by its answer, but also when its
//! request is taken out of the socket at the other end: the kernel reports that there is room to
//! send, even to a client that does not wait for it. On a CPU that client and server share this
//! costs two thread switches for nothing. So the requests of a client that sends one after the
//! other are peeked at, each behind the one before (`SO_PEEK_OFF`), and taken out together later,
//! while the client has the next answer to read.
//!
//! - **PEEK-1** The socket's own offset is `bytes`: peeking increases it, taking out decreases it.
//! - **PEEK-2** Nobody waits for an event of a socket with `bytes` left in it: the epoll would
//!   report it at once.
//! - **PEEK-3** Such a socket is not closed: the client would see a reset of the connection.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::LazyLock;

use rustix::buffer::spare_capacity;
use rustix::io::{self, Errno};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair, sockopt,
};

/// Requests that come at once are left if they have no more bytes: to answer more takes so long
/// that the wake-up is a small part.
const SMALL_BYTES: usize = 4 * 1024;
/// The most bytes that are left in a socket, beyond those of one read.
const MOST_BYTES: usize = 16 * 1024;

/// The requests of a Unix socket that were read and are still in it.
#[derive(Debug)]
pub(crate) struct Peek {
    bytes: usize,
    /// Whether the last read was small.
    is_small: bool,
}

impl Peek {
    /// Prepares a socket for peeking. Returns `None` if it is not a Unix socket, or the system has
    /// no such offset.
    pub(crate) fn of(socket: impl AsFd) -> Option<Self> {
        static IS_SUPPORTED: LazyLock<bool> = LazyLock::new(|| is_supported() == Ok(true));
        let is_unix = sockopt::socket_domain(&socket) == Ok(AddressFamily::UNIX);
        (is_unix && *IS_SUPPORTED && set_up(socket).is_ok()).then_some(Self {
            bytes: 0,
            is_small: true,
        })
    }

    /// Appends the bytes that have come to `bytes`, as far as its capacity allows. With `peeks`, a
    /// small number of bytes also stays in the socket. Returns how many came, and whether there may
    /// be more.
    pub(crate) fn receive(
        &mut self,
        socket: impl AsFd,
        bytes: &mut Vec<u8>,
        peeks: bool,
    ) -> Result<(usize, bool), Errno> {
        let offered = bytes.capacity() - bytes.len();
        let (size, filled) = if peeks && self.is_small {
            let (_, size) = recv(&socket, spare_capacity(bytes), RecvFlags::PEEK)?;
            self.bytes += size;
            (size, size)
        } else {
            if self.bytes + SMALL_BYTES > offered {
                self.take_out(&socket)?;
            }
            let (_, size) = recv(&socket, spare_capacity(bytes), RecvFlags::empty())?;
            (self.drop_known(bytes, size)?, size)
        };
        self.is_small = size <= SMALL_BYTES;
        if size == 0 || !self.is_small || self.bytes > MOST_BYTES {
            self.take_out(socket)?;
        }
        Ok((size, filled == offered))
    }

    /// Drops bytes that an earlier peek returned from the last `size` bytes, which were just taken
    /// out. Returns how many bytes are new.
    fn drop_known(&mut self, bytes: &mut Vec<u8>, size: usize) -> Result<usize, Errno> {
        let known = self.bytes.min(size);
        let start = bytes.len() - size;
        bytes.drain(start..start + known);
        self.bytes -= known;
        if known > 0 && known == size {
            return Err(Errno::AGAIN);
        }
        Ok(size - known)
    }

    /// Takes the peeked bytes out of the socket.
    ///
    /// # Errors
    ///
    /// If the bytes are not there any more, which should not happen. Never because the call would
    /// block.
    pub(crate) fn take_out(&mut self, socket: impl AsFd) -> Result<(), Errno> {
        let mut room = [const { MaybeUninit::uninit() }; MOST_BYTES];
        while self.bytes > 0 {
            let part = self.bytes.min(room.len());
            match recv(&socket, &mut room[..part], RecvFlags::empty()) {
                Ok((_, 0)) | Err(Errno::AGAIN) => return Err(Errno::IO),
                Ok((_, size)) => self.bytes -= size,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }
}

/// Returns whether the system respects the offset: some systems accept it and return the same bytes
/// again.
fn is_supported() -> Result<bool, Errno> {
    let none = SocketFlags::empty();
    let (client, socket) = socketpair(AddressFamily::UNIX, SocketType::STREAM, none, None)?;
    set_up(&socket)?;
    send(&client, b"12", SendFlags::NOSIGNAL)?;
    let mut seen = *b"00";
    for byte in &mut seen {
        recv(&socket, core::slice::from_mut(byte), RecvFlags::PEEK)?;
    }
    Ok(seen == *b"12")
}

/// Lets each peek begin where the one before ended, and see the same bytes as a read.
fn set_up(socket: impl AsFd) -> io::Result<()> {
    // A byte sent out of band is otherwise seen by a peek, but not by a read.
    sockopt::set_socket_oobinline(&socket, true)?;
    peek_by_offset(socket)
}

#[allow(unsafe_code)]
fn peek_by_offset(socket: impl AsFd) -> io::Result<()> {
    let begin: libc::c_int = 0;
    // SAFETY: the kernel reads one integer of that size, which is there during the call.
    let set = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEEK_OFF,
            (&raw const begin).cast(),
            size_of_val(&begin) as libc::socklen_t,
        )
    };
    if set == 0 {
        Ok(())
    } else {
        Err(Errno::NOPROTOOPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    /// Returns `None` if the system has no such offset.
    fn pair() -> Option<(UnixStream, UnixStream, Peek)> {
        let (client, socket) = UnixStream::pair().expect("a pair");
        socket.set_nonblocking(true).expect("set");
        let peek = Peek::of(&socket);
        if peek.is_none() {
            eprintln!("skipped: no peeking by an offset here");
        }
        Some((client, socket, peek?))
    }

    fn received(peek: &mut Peek, socket: &UnixStream, peeks: bool) -> Result<Vec<u8>, Errno> {
        let mut bytes = Vec::with_capacity(64 * 1024);
        bytes.extend_from_slice(b"before");
        let (size, is_more) = peek.receive(socket, &mut bytes, peeks)?;
        assert!(!is_more);
        assert_eq!(bytes.len(), 6 + size);
        assert!(bytes.starts_with(b"before"));
        Ok(bytes.split_off(6))
    }

    /// Returns how many bytes are in the socket.
    fn bytes_in(socket: &UnixStream) -> u64 {
        rustix::io::ioctl_fionread(socket).expect("a socket")
    }

    #[test]
    fn what_is_peeked_at_is_read_once_and_taken_out_later() {
        let Some((mut client, socket, mut peek)) = pair() else {
            return;
        };
        for round in 0..3 {
            for number in 0..10 {
                let request = format!("{round} {number}\n");
                client.write_all(request.as_bytes()).expect("sent");
                let read = received(&mut peek, &socket, true);
                assert_eq!(read.as_deref(), Ok(request.as_bytes()));
                assert_eq!(received(&mut peek, &socket, true), Err(Errno::AGAIN));
            }
            assert_eq!((peek.bytes, bytes_in(&socket)), (40, 40));
            if round == 2 {
                assert_eq!(received(&mut peek, &socket, false), Err(Errno::AGAIN));
                assert_eq!((peek.bytes, bytes_in(&socket)), (0, 0));
            }
            client.write_all(b"new").expect("sent");
            if round == 1 {
                assert_eq!(peek.take_out(&socket), Ok(()));
                assert_eq!((peek.bytes, bytes_in(&socket)), (0, 3));
            }
            assert_eq!(
                received(&mut peek, &socket, false).as_deref(),
                Ok(&b"new"[..])
            );
            assert_eq!((peek.bytes, bytes_in(&socket)), (0, 0));
        }
    }

    #[test]
    fn long_requests_are_not_left() {
        let Some((mut client, socket, mut peek)) = pair() else {
            return;
        };
        let large = vec![1; SMALL_BYTES + 1];
        client.write_all(&large).expect("sent");
        assert_eq!(received(&mut peek, &socket, true), Ok(large.clone()));
        assert_eq!(bytes_in(&socket), 0);
        // The next one is not left either, but one after something small is.
        client.write_all(b"small").expect("sent");
        assert_eq!(
            received(&mut peek, &socket, true).as_deref(),
            Ok(&b"small"[..])
        );
        assert_eq!(bytes_in(&socket), 0);
        let small = vec![2; SMALL_BYTES];
        let mut most = 0;
        for _ in 0..20 {
            client.write_all(&small).expect("sent");
            assert_eq!(received(&mut peek, &socket, true).as_ref(), Ok(&small));
            assert_eq!(peek.bytes as u64, bytes_in(&socket));
            most = most.max(peek.bytes);
        }
        assert_eq!(most, MOST_BYTES);
    }

    #[test]
    fn a_full_buffer_means_that_there_may_be_more() {
        let Some((mut client, socket, mut peek)) = pair() else {
            return;
        };
        client.write_all(b"first").expect("sent");
        assert_eq!(
            received(&mut peek, &socket, true).as_deref(),
            Ok(&b"first"[..])
        );
        client.write_all(&[3; 60_000]).expect("sent");
        for (peeks, capacity, expected) in [
            // Less than what was left and a small read: that is taken out on its own.
            (false, 4_000, (4_000, true)),
            (false, 50_000, (50_000, true)),
            (true, 50_000, (6_000, false)),
        ] {
            let mut bytes = Vec::with_capacity(capacity);
            let capacity = bytes.capacity();
            assert_eq!(
                peek.receive(&socket, &mut bytes, peeks),
                Ok(expected),
                "{capacity}"
            );
            assert!(bytes.iter().all(|&byte| byte == 3));
        }
        assert_eq!(bytes_in(&socket), 0);
    }

    #[test]
    fn bytes_out_of_band_are_peeked_at_and_taken_out_like_others() {
        let Some((client, socket, mut peek)) = pair() else {
            return;
        };
        let send = |bytes: &[u8], flags| send(&client, bytes, flags);
        assert_eq!(send(b"one", SendFlags::empty()), Ok(3));
        // Refused before Linux 5.15.
        let sent = send(b"!", SendFlags::OOB).unwrap_or(0);
        assert_eq!(send(b"two", SendFlags::empty()), Ok(3));
        let mut seen = Vec::new();
        while let Ok(bytes) = received(&mut peek, &socket, true) {
            seen.extend_from_slice(&bytes);
        }
        assert_eq!(
            seen,
            if sent == 1 {
                &b"one!two"[..]
            } else {
                b"onetwo"
            }
        );
        assert_eq!(peek.take_out(&socket), Ok(()));
        assert_eq!(send(b"three", SendFlags::empty()), Ok(5));
        assert_eq!(
            received(&mut peek, &socket, true).as_deref(),
            Ok(&b"three"[..])
        );
    }

    #[test]
    fn what_is_not_there_any_more_is_an_error() {
        let Some((mut client, socket, mut peek)) = pair() else {
            return;
        };
        client.write_all(b"request").expect("sent");
        assert!(received(&mut peek, &socket, true).is_ok());
        // Another reader, which should not exist.
        (&socket).read_exact(&mut [0; 7]).expect("it is there");
        assert_eq!(peek.take_out(&socket), Err(Errno::IO));
    }

    #[test]
    fn nothing_is_left_at_the_end() {
        let Some((mut client, socket, mut peek)) = pair() else {
            return;
        };
        client.write_all(b"last").expect("sent");
        assert_eq!(
            received(&mut peek, &socket, true).as_deref(),
            Ok(&b"last"[..])
        );
        client.shutdown(std::net::Shutdown::Write).expect("shut");
        assert_eq!(received(&mut peek, &socket, true), Ok(Vec::new()));
        assert_eq!(bytes_in(&socket), 0);
        drop(socket);
        // No reset.
        assert_eq!(client.read(&mut [0]).expect("the end"), 0);
    }

    #[test]
    fn other_sockets_are_not_peeked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listens");
        let address = listener.local_addr().expect("bound");
        assert!(Peek::of(TcpStream::connect(address).expect("connects")).is_none());
    }

    /// Returns whether a thread sleeps, and how often it went to sleep.
    fn sleeps(thread: &Path) -> (bool, u64) {
        let status = fs::read_to_string(Path::new("/proc").join(thread).join("status"));
        let status = status.expect("a thread of ours");
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            line.expect("a field of it").trim().to_owned()
        };
        let switches = field("voluntary_ctxt_switches:").parse().expect("a number");
        (field("State:").starts_with('S'), switches)
    }

    #[test]
    fn a_client_that_waits_is_not_woken() {
        let Some((mut client, mut socket, mut peek)) = pair() else {
            return;
        };
        let (sender, receiver) = mpsc::channel();
        let waits = std::thread::spawn(move || {
            client.write_all(b"request").expect("sent");
            let thread = fs::read_link("/proc/thread-self");
            sender.send(thread.expect("a link")).expect("heard");
            let mut answer = [0; 6];
            client.read_exact(&mut answer).expect("an answer");
            answer
        });
        let thread = receiver.recv().expect("a thread");
        let until = Instant::now() + Duration::from_secs(60);
        let mut before = sleeps(&thread);
        loop {
            assert!(Instant::now() < until, "it does not wait");
            std::thread::sleep(Duration::from_millis(20));
            let now = sleeps(&thread);
            if now.0 && now == before {
                break;
            }
            before = now;
        }
        let read = received(&mut peek, &socket, true);
        assert_eq!(read.as_deref(), Ok(&b"request"[..]));
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(sleeps(&thread), before);
        socket.write_all(b"answer").expect("sent");
        assert_eq!(&waits.join().expect("no panic"), b"answer");
    }
}
