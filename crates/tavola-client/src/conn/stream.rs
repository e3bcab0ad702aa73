//! A socket, with or without TLS, or a table in its place: bytes out and bytes in, never blocking
//! unless asked to.

use super::broken::Broken;
#[cfg(feature = "tls")]
use super::tls::Session;
use crate::cause::FailureCause;
use crate::fork::{self, Process};
use crate::options::Settings;
use crate::server::{Endpoint, Server};
#[cfg(feature = "table")]
use crate::table::TableLine;
use rustix::event::PollFlags;
use rustix::io::{Errno, ioctl_fionbio};
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType, connect, recv, recvmsg, send, socket_with,
};
use std::io::IoSliceMut;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

#[cfg(test)]
thread_local! {
    /// System calls of this thread on sockets; to make one and connect it is one.
    static CALLS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
    /// What a test does before a call, once: the number of the call, and what.
    static BEFORE: std::cell::RefCell<Option<Interruption>> = const {
        std::cell::RefCell::new(None)
    };
}

/// What a test has in place of the system's resolver.
#[cfg(test)]
pub(crate) type Resolver = Box<dyn Fn(&str) -> Vec<SocketAddr>>;

#[cfg(test)]
thread_local! {
    static RESOLVER: std::cell::RefCell<Option<Resolver>> = const {
        std::cell::RefCell::new(None)
    };
}

/// Looks up the names of this thread.
#[cfg(test)]
pub(crate) fn set_resolver(resolver: Resolver) {
    RESOLVER.set(Some(resolver));
}

#[cfg(test)]
type Interruption = (u32, Box<dyn FnOnce()>);

/// Counts a system call in tests, which may do something before it.
pub(super) fn count_call() {
    #[cfg(test)]
    {
        let count = CALLS.get();
        CALLS.set(count + 1);
        let is_now = |interruption: &mut Interruption| interruption.0 == count;
        let now = BEFORE.with_borrow_mut(|before| before.take_if(is_now));
        if let Some((_, interrupt)) = now {
            interrupt();
        }
    }
}

#[cfg(test)]
pub(crate) fn calls() -> u32 {
    CALLS.get()
}

/// Does something before a later call of this thread: 0 is the next.
#[cfg(test)]
pub(crate) fn interrupt_before(later: u32, interrupt: Box<dyn FnOnce()>) {
    BEFORE.set(Some((calls() + later, interrupt)));
}

/// A socket that is connected, or about to be.
#[derive(Debug)]
pub(crate) struct Stream {
    link: Link,
    /// A forked child has the same socket, and must not use it.
    owner: Process,
    #[cfg(feature = "tls")]
    session: Option<Box<Session>>,
}

/// What the bytes go through.
#[derive(Debug)]
enum Link {
    Socket(OwnedFd),
    /// It never has to be waited for.
    #[cfg(feature = "table")]
    Table(Box<TableLine>),
}

/// An address of a server.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
}

/// Whether to wait for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// As long as the socket's own limit, which is that of a batch.
    Block,
    No,
}

/// Returns the addresses of a server. Names are looked up each time.
pub(crate) fn addresses(server: &Server) -> Result<Vec<Address>, Broken> {
    let found: Vec<Address> = match server.endpoint() {
        Endpoint::Unix(path) => {
            let address = SocketAddrUnix::new(path.as_path());
            let address = address.map_err(|error| {
                let why = format!("the path of its socket is invalid: {error}");
                Broken::of(FailureCause::Refused, why)
            })?;
            vec![Address::Unix(address)]
        }
        Endpoint::Tcp { host, port } => {
            let found = resolve(host, *port).map_err(|error| {
                let why = format!("its name cannot be resolved: {error}");
                Broken::of(FailureCause::Unresolved, why)
            })?;
            found.into_iter().map(Address::Tcp).collect()
        }
        #[cfg(feature = "table")]
        Endpoint::Table(_) => Vec::new(),
    };
    if found.is_empty() {
        return Err(no_address());
    }
    Ok(found)
}

/// Looks up a name, for as long as the system takes.
fn resolve(host: &str, port: u16) -> std::io::Result<Vec<SocketAddr>> {
    #[cfg(test)]
    if let Some(resolver) = RESOLVER.take() {
        let found = resolver(host);
        RESOLVER.set(Some(resolver));
        return Ok(found);
    }
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Why a server without addresses cannot be connected to.
pub(super) fn no_address() -> Broken {
    Broken::of(FailureCause::Unresolved, "its name has no address")
}

impl Stream {
    #[cfg(all(test, feature = "shuttle"))]
    pub(super) fn of_socket(socket: OwnedFd) -> Self {
        Self {
            link: Link::Socket(socket),
            owner: fork::process(),
            #[cfg(feature = "tls")]
            session: None,
        }
    }

    /// Begins to connect. Returns whether it is connected already.
    pub(crate) fn connect(
        address: &Address,
        server: &Server,
        settings: &Settings,
    ) -> Result<(Self, bool), Broken> {
        count_call();
        let family = match address {
            Address::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Address::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Address::Unix(_) => AddressFamily::UNIX,
        };
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(family, SocketType::STREAM, flags, None)
            .map_err(|error| Broken::local("a socket cannot be made", error))?;
        { settings.socket.apply(&fd, address) }
            .map_err(|error| Broken::local("an option of a socket cannot be set", error))?;
        let connected = match address {
            Address::Tcp(address) => connect(&fd, address),
            Address::Unix(address) => connect(&fd, address),
        };
        let is_connected = match connected {
            Ok(()) => true,
            Err(Errno::INPROGRESS | Errno::INTR) => false,
            // Of a Unix socket: it does not become connected later.
            Err(Errno::AGAIN) => {
                let why = "too many connections wait to be accepted";
                return Err(Broken::of(FailureCause::TimedOut, why));
            }
            Err(error) => return Err(Broken::not_connected(error)),
        };
        #[cfg(feature = "tls")]
        let session = settings
            .tls
            .as_ref()
            .map(|tls| tls.begin(server))
            .transpose()?;
        #[cfg(not(feature = "tls"))]
        let _ = server;
        let stream = Self {
            link: Link::Socket(fd),
            owner: fork::process(),
            #[cfg(feature = "tls")]
            session,
        };
        if is_connected {
            stream.note_connected(settings)?;
        }
        Ok((stream, is_connected))
    }

    /// Returns a stream whose bytes go to a table.
    #[cfg(feature = "table")]
    pub(crate) fn of_table(line: TableLine) -> Self {
        Self {
            link: Link::Table(Box::new(line)),
            owner: fork::process(),
            #[cfg(feature = "tls")]
            session: None,
        }
    }

    /// Ends the wait for a connection whose socket has become writable.
    pub(crate) fn finish_connect(&self, settings: &Settings) -> Result<(), Broken> {
        let Some(fd) = self.fd() else {
            return Ok(());
        };
        match sockopt::socket_error(fd) {
            Ok(Ok(())) => self.note_connected(settings),
            Ok(Err(error)) | Err(error) => Err(Broken::not_connected(error)),
        }
    }

    /// From now on the socket blocks for those who ask for that.
    fn note_connected(&self, settings: &Settings) -> Result<(), Broken> {
        let Some(fd) = self.fd() else {
            return Ok(());
        };
        ioctl_fionbio(fd, false)
            .and_then(|()| {
                let limit = Some(settings.io_timeout);
                sockopt::set_socket_timeout(fd, Timeout::Recv, limit)
            })
            .map_err(|error| Broken::local("an option of a socket cannot be set", error))
    }

    /// Returns what can be waited for; `None` if nothing has to be.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        match &self.link {
            Link::Socket(fd) => Some(fd.as_fd()),
            #[cfg(feature = "table")]
            Link::Table(_) => None,
        }
    }

    /// Whether a blocking receive waits for the right thing: bytes of TLS may be here already.
    pub(crate) fn can_block(&self) -> bool {
        #[cfg(feature = "tls")]
        if self.session.is_some() {
            return false;
        }
        self.fd().is_some()
    }

    /// Whether it belongs to this process.
    pub(crate) fn is_own(&self) -> bool {
        self.owner == fork::process()
    }

    fn check_owner(&self) -> Result<(), Broken> {
        match self.is_own() {
            true => Ok(()),
            false => {
                let why = "the process was forked during the call";
                Err(Broken::of(FailureCause::Local, why))
            }
        }
    }

    /// What to wait for, beside bytes to receive, if there is something to send or not.
    pub(crate) fn interest(&self, has_output: bool) -> PollFlags {
        #[cfg(feature = "tls")]
        let has_output = has_output || self.session.as_ref().is_some_and(|tls| tls.wants_write());
        match has_output {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        }
    }

    /// Sends what the socket takes; `None` if it takes nothing now.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<Option<usize>, Broken> {
        count_call();
        self.check_owner()?;
        let fd = match &mut self.link {
            Link::Socket(fd) => fd,
            #[cfg(feature = "table")]
            Link::Table(line) => {
                let taken = line.write(bytes);
                return Ok((taken > 0).then_some(taken));
            }
        };
        #[cfg(feature = "tls")]
        if let Some(session) = &mut self.session {
            return session.send(fd, bytes);
        }
        send_plain(fd, bytes)
    }

    /// Sends what is encrypted already, as far as the socket takes it.
    pub(crate) fn flush(&mut self) -> Result<(), Broken> {
        #[cfg(feature = "tls")]
        if let (Some(session), Link::Socket(fd)) = (&mut self.session, &self.link) {
            return session.flush(fd);
        }
        Ok(())
    }

    /// Receives into `memory`; `None` if nothing is here. The end of the stream is an error.
    pub(crate) fn receive(
        &mut self,
        memory: &mut [u8],
        wait: Wait,
    ) -> Result<Option<usize>, Broken> {
        count_call();
        self.check_owner()?;
        let fd = match &mut self.link {
            Link::Socket(fd) => fd,
            #[cfg(feature = "table")]
            Link::Table(line) => {
                return match line.read(memory) {
                    None if line.is_closed() => Err(Broken::closed()),
                    count => Ok(count),
                };
            }
        };
        #[cfg(feature = "tls")]
        if let Some(session) = &mut self.session {
            return session.receive(fd, memory);
        }
        receive_plain(fd, memory, wait)
    }

    /// Receives into `first`, and into `second` once that is full, by one call.
    pub(crate) fn receive_both(
        &mut self,
        first: &mut [u8],
        second: &mut [u8],
    ) -> Result<Option<usize>, Broken> {
        let can_block = self.can_block();
        let fd = match &self.link {
            Link::Socket(fd) if can_block => fd,
            _ => return self.receive(first, Wait::No),
        };
        count_call();
        self.check_owner()?;
        let mut parts = [IoSliceMut::new(first), IoSliceMut::new(second)];
        let mut control = RecvAncillaryBuffer::default();
        let received = recvmsg(fd, &mut parts, &mut control, RecvFlags::DONTWAIT);
        check_received(received.map(|received| received.bytes))
    }
}

pub(super) fn send_plain(fd: &OwnedFd, bytes: &[u8]) -> Result<Option<usize>, Broken> {
    // A signal for a broken pipe would end programs in C.
    match send(fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
        Ok(count) => Ok(Some(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(Broken::ended(error)),
    }
}

pub(super) fn receive_plain(
    fd: &OwnedFd,
    memory: &mut [u8],
    wait: Wait,
) -> Result<Option<usize>, Broken> {
    let flags = match wait {
        Wait::Block => RecvFlags::empty(),
        Wait::No => RecvFlags::DONTWAIT,
    };
    check_received(recv(fd, memory, flags).map(|(_, count)| count))
}

fn check_received(received: Result<usize, Errno>) -> Result<Option<usize>, Broken> {
    match received {
        Ok(0) => Err(Broken::closed()),
        Ok(count) => Ok(Some(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(Broken::ended(error)),
    }
}
