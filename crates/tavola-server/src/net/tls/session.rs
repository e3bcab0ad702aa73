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

/// Records that one call of the system brings at most.
const SPACE_BYTES: usize = 32 * 1024;
/// A record, and what is around it.
const RECORD_BYTES: usize = 16 * 1024 + 512;
/// The bytes that are received at least, however little room there is.
const LEAST_BYTES: usize = 4 * 1024;
/// What a client may send until a handshake is done: its certificates are most of it.
const HANDSHAKE_BYTES: usize = 32 * 1024;

/// TLS with one client.
pub(crate) struct Session {
    connection: ServerConnection,
    /// Bytes of the handshake so far.
    shaken: usize,
}

/// The client does not keep to TLS, or is not let in.
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

    /// Whether it is not agreed yet how to talk.
    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Whether it was a full handshake; other clients resume an earlier session.
    pub(crate) fn is_new(&self) -> bool {
        self.connection.handshake_kind() != Some(HandshakeKind::Resumed)
    }

    /// Whether something is encrypted and not sent.
    pub(crate) fn is_pending(&self) -> bool {
        self.connection.wants_write()
    }

    /// Bytes of memory that it holds for a client that does not read.
    pub(crate) fn holds(&self) -> usize {
        if self.is_pending() { OUTPUT_BYTES } else { 0 }
    }

    /// Appends what is there to `bytes`. That may be a record more than there is room for.
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

    /// Decrypts what came, and returns whether the client has said that no more will come.
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
        // It ends where nothing is left, which is reported as an error.
        while let Ok(chunk) = reader.fill_buf()
            && !chunk.is_empty()
        {
            let size = chunk.len();
            bytes.extend_from_slice(chunk);
            reader.consume(size);
        }
    }

    /// Sends what the socket takes now, and returns how much of the output that was, or will be.
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

    /// Says that no more will come, as far as the socket takes it now; nothing to who has not heard
    /// anything yet.
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

/// Where records are written to.
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
