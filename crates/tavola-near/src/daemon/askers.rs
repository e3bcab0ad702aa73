//! The readers that ask the daemon, on the socket beside the table.

use crate::ask::{socket_path, take_request, write_answer};
use crate::engine::{Answered, Engine};
use rustix::event::PollFlags;
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
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
    /// Whether nothing more is read: a request is on the way, or answers are not taken.
    fn is_busy(&self) -> bool {
        self.is_waiting || self.out.len() > MOST_READ
    }

    /// What to wait for.
    pub(super) fn interest(&self) -> PollFlags {
        let reads = match self.is_busy() {
            true => PollFlags::empty(),
            false => PollFlags::IN,
        };
        match self.out.is_empty() {
            true => reads,
            false => reads | PollFlags::OUT,
        }
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

/// More readers are not served at once.
const MOST_ASKERS: usize = 4096;
/// Between two looks whether the socket is still there; after a connection that could not be
/// accepted.
const LOOK_MS: u64 = 1000;
const REST_MS: u64 = 100;

/// The socket and its connections.
pub(super) struct Askers {
    pub(super) listener: UnixListener,
    path: PathBuf,
    /// The file that the socket is, device and number.
    file: (u64, u64),
    next_look_ms: u64,
    /// Until then nobody is accepted.
    rests_until_ms: u64,
    pub(super) open: HashMap<u64, Asker>,
    next_number: u64,
}

fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    let metadata = fs::symlink_metadata(path)?;
    Ok((metadata.dev(), metadata.ino()))
}

impl Askers {
    /// Listens beside the table, in the place of a former owner.
    pub(super) fn listen(table: &Table) -> io::Result<Self> {
        let path = socket_path(table.path());
        let (listener, file) = Self::bind(table, &path)?;
        Ok(Self {
            listener,
            path,
            file,
            next_look_ms: 0,
            rests_until_ms: 0,
            open: HashMap::new(),
            next_number: 0,
        })
    }

    fn bind(table: &Table, path: &Path) -> io::Result<(UnixListener, (u64, u64))> {
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!(".{}", process::id()));
        let fresh = PathBuf::from(fresh);
        // One of a former process of this number.
        let _ = fs::remove_file(&fresh);
        let listener = UnixListener::bind(&fresh)?;
        listener.set_nonblocking(true)?;
        // Who may use the table may ask.
        let mode = fs::metadata(table.path())?.permissions().mode() & 0o666;
        fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))?;
        let file = file_at(&fresh)?;
        fs::rename(&fresh, path)?;
        Ok((listener, file))
    }

    /// Removes the socket, unless it is that of another owner by now.
    pub(super) fn remove_socket(&self) {
        // If it stays, readers are told that nobody listens.
        if self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
    }

    fn is_there(&self) -> bool {
        file_at(&self.path).is_ok_and(|file| file == self.file)
    }

    /// Listens anew if the socket is gone. A former owner may have removed it that was stopped
    /// right before that, as it ended.
    pub(super) fn restore_socket(&mut self, table: &Table, now_ms: u64) {
        if now_ms < self.next_look_ms {
            return;
        }
        self.next_look_ms = now_ms + LOOK_MS;
        if !self.is_there()
            && let Ok((listener, file)) = Self::bind(table, &self.path)
        {
            (self.listener, self.file) = (listener, file);
        }
    }

    /// Whether connections are accepted.
    pub(super) fn accepts(&self, now_ms: u64) -> bool {
        self.open.len() < MOST_ASKERS && now_ms >= self.rests_until_ms
    }

    pub(super) fn accept(&mut self, now_ms: u64) {
        while self.open.len() < MOST_ASKERS {
            let stream = match self.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if is_pause(&error) => return,
                Err(_) => {
                    // As if it has too many files open: those that wait are accepted later.
                    self.rests_until_ms = now_ms + REST_MS;
                    return;
                }
            };
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
    pub(super) fn send(&mut self, number: u64, engine: &mut Engine, now_ms: u64) {
        if let Some(asker) = self.open.get_mut(&number)
            && !(asker.write() && asker.ask(number, engine, now_ms))
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
    /// Passes the next request on, if this is not busy. Returns false if it is malformed.
    fn ask(&mut self, number: u64, engine: &mut Engine, now_ms: u64) -> bool {
        if self.is_busy() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_owner_leaves_the_socket_of_the_next_one_and_a_lost_one_comes_back() {
        let directory = tempfile::tempdir_in("/dev/shm").expect("a directory");
        let options = Table::options().max_size(1 << 20);
        let table = options.create(directory.path().join("t")).expect("a table");
        let path = socket_path(table.path());
        let former = Askers::listen(&table).expect("a socket");
        let mut owner = Askers::listen(&table).expect("a socket");
        former.remove_socket();
        let _reader = UnixStream::connect(&path).expect("the owner listens");
        owner.accept(0);
        assert_eq!(owner.open.len(), 1);
        fs::remove_file(&path).expect("a socket");
        owner.restore_socket(&table, LOOK_MS);
        let _reader = UnixStream::connect(&path).expect("it listens again");
        owner.accept(LOOK_MS);
        assert_eq!(owner.open.len(), 2);
        owner.remove_socket();
        assert!(!path.exists());
    }
}
