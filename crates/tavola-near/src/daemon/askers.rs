//! The readers that ask the daemon, on the socket beside the table.

use crate::ask::{socket_path, take_request, write_answer};
use crate::engine::{Answered, Engine};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::{fs, process};
use tavola::Table;

/// More bytes than this are not read of one reader at once.
const MOST_READ: usize = 1 << 16;

/// A connection of a reader.
pub(super) struct Asker {
    pub(super) stream: UnixStream,
    incoming: Vec<u8>,
    out: Vec<u8>,
    /// A request is on the way. The next one waits.
    is_waiting: bool,
}

impl Asker {
    pub(super) fn has_output(&self) -> bool {
        !self.out.is_empty()
    }

    /// Reads what has come. Returns false if the connection has ended.
    fn read(&mut self) -> bool {
        let mut buffer = [0; MOST_READ];
        match self.stream.read(&mut buffer) {
            Ok(0) => false,
            Ok(len) => {
                self.incoming.extend_from_slice(&buffer[..len]);
                true
            }
            Err(error) => is_pause(&error),
        }
    }

    /// Sends as much as possible. Returns false if the connection has ended.
    fn write(&mut self) -> bool {
        match self.stream.write(&self.out) {
            Ok(len) => {
                self.out.drain(..len);
                true
            }
            Err(error) => is_pause(&error),
        }
    }
}

/// Returns whether the call can be repeated later.
pub(super) fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, WouldBlock};
    [Interrupted, WouldBlock].contains(&error.kind())
}

/// The socket and its connections.
pub(super) struct Askers {
    pub(super) listener: UnixListener,
    path: PathBuf,
    pub(super) open: HashMap<u64, Asker>,
    next_number: u64,
}

impl Askers {
    /// Listens beside the table, in the place of a former owner.
    pub(super) fn listen(table: &Table) -> io::Result<Self> {
        let path = socket_path(table.path());
        let mut fresh = path.clone().into_os_string();
        fresh.push(format!(".{}", process::id()));
        let fresh = PathBuf::from(fresh);
        // One of a former process of this number.
        let _ = fs::remove_file(&fresh);
        let listener = UnixListener::bind(&fresh)?;
        listener.set_nonblocking(true)?;
        // Who may use the table may ask.
        let mode = fs::metadata(table.path())?.permissions().mode() & 0o666;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))?;
        fs::rename(&fresh, &path)?;
        Ok(Self {
            listener,
            path,
            open: HashMap::new(),
            next_number: 0,
        })
    }

    pub(super) fn remove_socket(&self) {
        // If it stays, readers are told that nobody listens.
        let _ = fs::remove_file(&self.path);
    }

    pub(super) fn accept(&mut self) {
        // If no more can be accepted now, those that wait are accepted later.
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_err() {
                continue;
            }
            let asker = Asker {
                stream,
                incoming: Vec::new(),
                out: Vec::new(),
                is_waiting: false,
            };
            self.open.insert(self.next_number, asker);
            self.next_number += 1;
        }
    }

    /// Reads of one reader, and asks the engine for its key.
    pub(super) fn receive(&mut self, number: u64, engine: &mut Engine, now_ms: u64) {
        let Some(asker) = self.open.get_mut(&number) else {
            return;
        };
        let is_open = asker.read() && asker.ask(number, engine, now_ms);
        if !is_open {
            self.open.remove(&number);
        }
    }

    /// Sends on to one reader.
    pub(super) fn send(&mut self, number: u64) {
        if let Some(asker) = self.open.get_mut(&number)
            && !asker.write()
        {
            self.open.remove(&number);
        }
    }

    /// Gives a reader its answer.
    pub(super) fn answer(&mut self, answered: &Answered, engine: &mut Engine, now_ms: u64) {
        let number = answered.asker;
        let Some(asker) = self.open.get_mut(&number) else {
            return;
        };
        write_answer(&mut asker.out, answered);
        asker.is_waiting = false;
        let is_open = asker.write() && asker.ask(number, engine, now_ms);
        if !is_open {
            self.open.remove(&number);
        }
    }
}

impl Asker {
    /// Passes the next request on, if none is on the way. Returns false if it is malformed.
    fn ask(&mut self, number: u64, engine: &mut Engine, now_ms: u64) -> bool {
        if self.is_waiting {
            return true;
        }
        match take_request(&mut self.incoming) {
            Ok(Some(key)) => {
                self.is_waiting = true;
                engine.ask(number, &key, now_ms);
                true
            }
            Ok(None) => true,
            Err(_) => false,
        }
    }
}
