//! The way of syslog(3): a datagram a line to a Unix socket, and who receives them.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use super::CHUNK;
use crate::clock::monotonic_ns;
use crate::log::job::Carried;
use crate::{Error, Result};

/// A user's message that informs, as syslog(3) begins it.
const PRIORITY: &[u8] = b"<14>";
/// More than a stamp takes.
const HEAD: usize = 256;
/// How long the receiver waits for a datagram before it looks whether there are writers.
const NAP: Duration = Duration::from_millis(2);

fn address(name: &str) -> std::io::Result<SocketAddr> {
    SocketAddr::from_abstract_name(name)
}

/// A writer's end. As that of syslog(3), it waits while the receiver's queue is full.
pub(in crate::log) struct Datagrams {
    socket: UnixDatagram,
    bytes: Vec<u8>,
}

impl Datagrams {
    pub(in crate::log) fn to(name: &str) -> Result<Self> {
        let connected = UnixDatagram::unbound().and_then(|socket| {
            socket.connect_addr(&address(name)?)?;
            Ok(socket)
        });
        Ok(Self {
            socket: connected.map_err(Error::io("connecting a socket"))?,
            bytes: Vec::new(),
        })
    }
}

impl Write for Datagrams {
    /// A line, without its end.
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.bytes.clear();
        self.bytes.extend_from_slice(PRIORITY);
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        self.bytes.extend_from_slice(text);
        self.socket.send(&self.bytes)?;
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Who receives datagrams, and writes them to a file as they came.
pub(in crate::log) struct Receiver {
    socket: UnixDatagram,
    file: File,
    room: Vec<u8>,
    bytes: Vec<u8>,
    carried: Carried,
}

impl Receiver {
    pub(in crate::log) fn bind(name: &str, file: File, text_bytes: usize) -> Result<Self> {
        let bound = address(name).and_then(|address| {
            let socket = UnixDatagram::bind_addr(&address)?;
            socket.set_read_timeout(Some(NAP))?;
            Ok(socket)
        });
        Ok(Self {
            socket: bound.map_err(Error::io("making a socket"))?,
            file,
            room: vec![0; HEAD + text_bytes],
            bytes: Vec::with_capacity(CHUNK + HEAD + text_bytes),
            carried: Carried {
                lines: 0,
                end_ns: monotonic_ns(),
            },
        })
    }

    /// Until the writers have ended, and nothing is left. When the last of `all` lines has come,
    /// it is written at once.
    pub(in crate::log) fn carry(
        mut self,
        all: u64,
        are_writers_gone: impl Fn() -> bool,
    ) -> Result<Carried> {
        loop {
            let is_last = are_writers_gone();
            match self.socket.recv(&mut self.room) {
                Ok(len) => {
                    self.bytes.extend_from_slice(&self.room[..len]);
                    self.bytes.push(b'\n');
                    self.carried.lines += 1;
                    if self.bytes.len() >= CHUNK || self.carried.lines == all {
                        self.write_out()?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.write_out()?;
                    if is_last {
                        return Ok(self.carried);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("receiving lines")(error)),
            }
        }
    }

    fn write_out(&mut self) -> Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let written = self.file.write_all(&self.bytes);
        written.map_err(Error::io("writing lines out"))?;
        self.bytes.clear();
        self.carried.end_ns = monotonic_ns();
        Ok(())
    }
}
