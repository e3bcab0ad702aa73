//! The session of one connection: TLS between its socket and its buffers.
//!
//! ```text
//!  socket ── recv ──▶ records ──▶ rustls ──▶ input of the connection
//!  socket ◀─ sendmsg ─ rustls, 64 KiB at most ◀── output of the connection
//! ```
//!
//! - **TLS-1** All that can be decrypted is given on at once: when the socket is empty, nothing of
//!   the client's waits in here, so that the epoll reports whenever there is something to do.
//! - **TLS-2** What is encrypted and not sent is at most `OUTPUT_BYTES`, and records of the
//!   handshake; the rest stays in the output, by which its client is held back.
//! - **TLS-3** Of a handshake, a bounded number of bytes is taken in: `HANDSHAKE_BYTES`.

use std::io::{self, BufRead, IoSlice, Write};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};
use rustls::{HandshakeKind, ServerConnection};

use super::{OUTPUT_BYTES, Tls};
use crate::net::output::Output;
use crate::net::stream::{End, Received, send_slices};

/// The most bytes of records that one system call receives.
const SPACE_BYTES: usize = 32 * 1024;
/// The bytes of a record and its header.
const RECORD_BYTES: usize = 16 * 1024 + 512;
/// The least number of bytes that a call receives, however little room there is.
const LEAST_BYTES: usize = 4 * 1024;
/// The most bytes that a client may send in a handshake: its certificates are most of them.
const HANDSHAKE_BYTES: usize = 32 * 1024;

/// The TLS session of one client.
pub(crate) struct Session {
    connection: ServerConnection,
    /// The bytes that the client has sent in the handshake so far.
    shaken: usize,
}

/// The client broke the TLS protocol, or is not let in.
struct Broken;

impl Session {
    pub(crate) fn new(tls: &Tls) -> io::Result<Self> {
        let connection = ServerConnection::new(tls.config());
        let mut connection = connection.map_err(io::Error::other)?;
        connection.set_buffer_limit(Some(OUTPUT_BYTES));
        Ok(Self {
            connection,
            shaken: 0,
        })
    }

    /// Returns whether the handshake is not complete yet.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Returns whether the client made a full handshake and did not resume an earlier session.
    pub(crate) fn is_new(&self) -> bool {
        self.connection.handshake_kind() != Some(HandshakeKind::Resumed)
    }

    /// Returns whether bytes are encrypted and not sent yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.connection.wants_write()
    }

    /// Returns the bytes of memory that the session holds for a client that does not read.
    pub(crate) fn holds(&self) -> usize {
        if self.is_pending() { OUTPUT_BYTES } else { 0 }
    }

    /// Appends the bytes that have come to `bytes`. That may be a record more than there is room
    /// for.
    pub(crate) fn receive(
        &mut self,
        socket: &OwnedFd,
        bytes: &mut Vec<u8>,
    ) -> io::Result<Received> {
        let before = bytes.len();
        let spare = bytes.capacity() - before;
        let mut left = spare.saturating_sub(RECORD_BYTES).max(LEAST_BYTES);
        let mut received = Received::default();
        while left > 0 && !received.is_dry {
            let mut space = [MaybeUninit::uninit(); SPACE_BYTES];
            let offered = left.min(SPACE_BYTES);
            match recv(socket, &mut space[..offered], RecvFlags::empty()) {
                Ok(((records, _), _)) => {
                    left -= records.len();
                    received.taken += records.len();
                    received.is_dry = records.len() < offered;
                    received.end = match self.decrypt(records, bytes) {
                        Ok(false) if records.is_empty() => Some(End::Finished),
                        Ok(false) => None,
                        Ok(true) => Some(End::Finished),
                        Err(Broken) => Some(End::Broken),
                    };
                }
                Err(Errno::AGAIN | Errno::INTR) => received.is_dry = true,
                Err(errno) => return Err(errno.into()),
            }
            received.is_dry |= received.end.is_some();
        }
        received.size = bytes.len() - before;
        Ok(received)
    }

    /// Decrypts the records that came. Returns whether the client reported that it sends no more.
    fn decrypt(&mut self, mut records: &[u8], bytes: &mut Vec<u8>) -> Result<bool, Broken> {
        while !records.is_empty() {
            let is_handshaking = self.is_handshaking();
            let size = self.connection.read_tls(&mut records);
            let size = size.map_err(|_| Broken)?;
            if is_handshaking {
                self.shaken += size;
                if self.shaken > HANDSHAKE_BYTES {
                    return Err(Broken);
                }
            }
            let state = self.connection.process_new_packets();
            let state = state.map_err(|_| Broken)?;
            self.hand_on(state.plaintext_bytes_to_read(), bytes);
            if state.peer_has_closed() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn hand_on(&mut self, size: usize, bytes: &mut Vec<u8>) {
        bytes.reserve_exact(size);
        let mut reader = self.connection.reader();
        // The loop ends with an error if nothing is left.
        while let Ok(chunk) = reader.fill_buf()
            && !chunk.is_empty()
        {
            let size = chunk.len();
            bytes.extend_from_slice(chunk);
            reader.consume(size);
        }
    }

    /// Sends as much as the socket takes now. Returns how many bytes left the output; some of them
    /// may be sent later.
    pub(crate) fn send(&mut self, socket: &OwnedFd, output: &mut Output) -> io::Result<usize> {
        let mut sum = 0;
        while self.flush(socket)? && !output.is_empty() && !self.is_handshaking() {
            let writer = &mut self.connection.writer();
            sum += output.send_by(|slices| writer.write_vectored(slices))?;
        }
        Ok(sum)
    }

    /// Sends what is encrypted. Returns false if the socket takes no more for now.
    fn flush(&mut self, socket: &OwnedFd) -> io::Result<bool> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Socket(socket)) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Sends the end of the session, as far as the socket takes it now. Sends nothing before the
    /// handshake is complete, because the client could not read it.
    pub(crate) fn finish(&mut self, socket: &OwnedFd) {
        if self.is_handshaking() {
            return;
        }
        self.connection.send_close_notify();
        // Fails when the client is gone, which the next read reports.
        let _ = self.flush(socket);
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("is_handshaking", &self.is_handshaking())
            .finish_non_exhaustive()
    }
}

/// The socket that records are written to.
struct Socket<'a>(&'a OwnedFd);

impl Write for Socket<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match send_slices(self.0, slices)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            size => Ok(size),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
