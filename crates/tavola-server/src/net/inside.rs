//! A service that the process itself uses without a socket: requests and answers are the same bytes
//! that a connection would carry.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::net::counters::Meter;
use crate::net::options::Setup;
use crate::net::output::Output;
use crate::net::service::{Gone, Next, Peer, Service, Thread, Waker, Worker};
use crate::net::shared::Shared;
use crate::net::thread::Token;

/// The most bytes of answers that wait to be read. With more, no more requests are taken.
const OUTPUT_BYTES: usize = 256 * 1024;
/// The most memory for a half request that is kept when the request is done.
const KEPT_BYTES: usize = 64 * 1024;

/// A service without sockets and threads of its own: each [`Line`] is served by the thread that
/// writes to it.
///
/// ```
/// use std::sync::Arc;
/// use tavola_server::Inside;
/// use tavola_server::memcached::Memcached;
///
/// let table = tavola::Table::options().max_size(1 << 20).private()?;
/// let inside = Inside::new(Memcached::new(Arc::new(table)))?;
/// let mut line = inside.connect();
/// line.write(b"set k 0 0 1\r\nv\r\n");
/// let mut answer = [0; 100];
/// let count = line.read(&mut answer).expect("an answer");
/// assert_eq!(&answer[..count], b"STORED\r\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Inside<S> {
    service: S,
    shared: Arc<Shared>,
    /// The number of the next line. Lines have negative numbers, which no socket has.
    next: AtomicI32,
}

/// A connection to a service of the same process.
pub struct Line<W: Worker> {
    worker: W,
    /// `None` when the service has closed the line.
    session: Option<W::Session>,
    /// The beginning of a request whose rest has not come.
    input: Vec<u8>,
    output: Output,
    /// Whether the service has more to write once the output has room.
    has_more: bool,
}

impl<S: Service> Inside<S> {
    /// Makes a service usable from inside. Nothing is started.
    ///
    /// # Errors
    /// If the system refuses a descriptor.
    pub fn new(service: S) -> io::Result<Self> {
        let setup = Setup {
            addresses: Vec::new(),
            tls: Vec::new(),
            socket_mode: None,
            descriptors: Vec::new(),
            max_connections: 0,
            refuses: false,
            backlog: 0,
            idle_timeout: None,
        };
        Ok(Self {
            service,
            shared: Arc::new(Shared::new(1, setup)?),
            next: AtomicI32::new(-1),
        })
    }

    /// Makes a connection.
    pub fn connect(&self) -> Line<S::Worker> {
        let thread = Thread {
            index: 0,
            meter: Meter {
                shared: Arc::clone(&self.shared),
            },
        };
        let mut worker = self.service.worker(&thread);
        let session = worker.open(&Peer {
            listener: 0,
            address: None,
            local: None,
            descriptor: self.next.fetch_sub(1, Relaxed),
            waker: Waker {
                shared: Arc::clone(&self.shared),
                thread: 0,
                token: Token::NOWHERE,
            },
        });
        Line {
            worker,
            session: Some(session),
            input: Vec::new(),
            output: Output::new(OUTPUT_BYTES),
            has_more: false,
        }
    }
}

impl<S> fmt::Debug for Inside<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inside").finish_non_exhaustive()
    }
}

impl<W: Worker> Line<W> {
    /// Serves requests. Returns how many bytes were taken: all of them, or 0 while too many answers
    /// wait to be read.
    ///
    /// # Panics
    /// If the service does. The line is closed then.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        if self.has_more || self.output.is_full() {
            return 0;
        }
        match self.input.is_empty() {
            true => {
                let consumed = self.serve(bytes);
                self.input.extend_from_slice(&bytes[consumed..]);
            }
            false => {
                self.input.extend_from_slice(bytes);
                self.serve_input();
            }
        }
        bytes.len()
    }

    /// Moves answers into `memory` and returns how many bytes that were, or `None` if there are no
    /// answers.
    ///
    /// # Panics
    /// As [`Line::write`].
    pub fn read(&mut self, memory: &mut [u8]) -> Option<usize> {
        if self.output.is_empty() && self.has_more {
            self.serve_input();
        }
        let mut copied = 0;
        while copied < memory.len() && !self.output.is_empty() {
            let room = &mut memory[copied..];
            let sent = self.output.send_by(|slices| {
                let mut count = 0;
                for slice in slices {
                    let part = slice.len().min(room.len() - count);
                    room[count..count + part].copy_from_slice(&slice[..part]);
                    count += part;
                }
                Ok(count)
            });
            copied += sent.unwrap_or(0);
        }
        (copied > 0).then_some(copied)
    }

    /// Returns whether the service has closed the line. Answers may still wait to be read.
    pub fn is_closed(&self) -> bool {
        self.session.is_none()
    }

    /// Serves the requests that were kept.
    fn serve_input(&mut self) {
        let mut input = std::mem::take(&mut self.input);
        let consumed = self.serve(&input);
        input.drain(..consumed);
        input.shrink_to(KEPT_BYTES);
        self.input = input;
    }

    /// Serves until the service wants more input or the output is full. Returns how many bytes are
    /// consumed.
    fn serve(&mut self, input: &[u8]) -> usize {
        // The session is taken out during the call, so that a panic closes the line.
        let Some(mut session) = self.session.take() else {
            return input.len();
        };
        self.has_more = false;
        let mut consumed = 0;
        loop {
            let rest = &input[consumed..];
            let served = self.worker.serve(&mut session, rest, &mut self.output);
            consumed += served.consumed;
            match served.next {
                Next::Read { .. } => break,
                Next::Again if self.output.is_full() => {
                    self.has_more = true;
                    break;
                }
                Next::Again => {}
                Next::Close | Next::CloseAfter(_) => {
                    self.worker.close(session, Gone::Done);
                    return input.len();
                }
            }
        }
        self.session = Some(session);
        consumed
    }
}

impl<W: Worker> Drop for Line<W> {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.worker.close(session, Gone::Done);
        }
    }
}

impl<W: Worker> fmt::Debug for Line<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line")
            .field("is_closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Served;

    /// Repeats each line a number of times, which is at its beginning.
    struct Repeats;

    impl Service for Repeats {
        type Worker = Repeats;
        fn worker(&self, _thread: &Thread) -> Repeats {
            Repeats
        }
    }

    impl Worker for Repeats {
        type Session = usize;
        fn open(&mut self, _peer: &Peer) -> usize {
            0
        }
        fn serve(&mut self, done: &mut usize, input: &[u8], output: &mut Output) -> Served {
            let Some(end) = input.iter().position(|byte| *byte == b'\n') else {
                return Served::some(0);
            };
            let line = &input[..=end];
            if line == b"quit\n" {
                let next = Next::Close;
                return Served {
                    consumed: line.len(),
                    next,
                };
            }
            let wanted = usize::from(line[0] - b'0') * 10_000;
            let next = Next::Again;
            while *done < wanted && !output.is_full() {
                output.extend(line);
                *done += 1;
            }
            let consumed = if *done == wanted { line.len() } else { 0 };
            if consumed > 0 {
                *done = 0;
            }
            Served { consumed, next }
        }
    }

    #[test]
    fn answers_that_are_not_read_hold_requests_back_and_none_is_lost() {
        let inside = Inside::new(Repeats).expect("a descriptor");
        let mut line = inside.connect();
        let text = format!("9{}\n", "x".repeat(60));
        let (first, second) = text.as_bytes().split_at(7);
        assert_eq!(line.write(first), 7);
        assert_eq!(line.read(&mut [0; 10]), None);
        assert_eq!(line.write(second), second.len());
        assert_eq!(line.write(b"1\n"), 0);
        let (mut all, mut memory) = (Vec::new(), vec![0; 100_000]);
        while let Some(count) = line.read(&mut memory) {
            all.extend_from_slice(&memory[..count]);
        }
        assert!(all == text.repeat(90_000).into_bytes());
        assert_eq!(line.write(b"1\nquit\n"), 7);
        assert!(line.is_closed());
        let count = line.read(&mut memory);
        assert_eq!(count, Some(20_000));
        assert_eq!(line.read(&mut memory), None);
    }
}
