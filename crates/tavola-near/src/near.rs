//! A near cache as its readers hold it.

use crate::ask::{Heard, read_answer, socket_path, write_request};
use crate::clock;
use crate::error::{NearError, Result};
use crate::read::{Coarse, Reader};
use crate::shared::{Shared, Trust};
use crate::sync::Ordering;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::{Duration, Instant};
use tavola::Table;

/// How long the daemon may take for an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// For how long a daemon that cannot be reached is tried: a standby may be taking over.
const TAKEOVER: Duration = Duration::from_millis(200);
/// Between two tries.
const PAUSE: Duration = Duration::from_millis(5);
/// How often an answer that came too late is asked for again.
const TRIES: u32 = 3;
/// Connections that are kept.
const KEPT: usize = 16;

/// A near cache that a daemon (`tavola near`) fills. Threads can share it.
///
/// # Examples
/// ```no_run
/// let near = tavola_near::Near::open("sessions")?;
/// let session: Option<Vec<u8>> = near.get("sess:alice")?;
/// # Ok::<(), tavola_near::NearError>(())
/// ```
#[derive(Debug)]
pub struct Near {
    reader: Reader,
    shared: Shared,
    socket: PathBuf,
    /// Connections to the daemon without a request, each with the process that made it.
    idle: Mutex<Vec<(u32, UnixStream)>>,
}

/// The state of a near cache.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearStatus {
    /// Whether values in the table may be used at this moment.
    pub is_trusted: bool,
    /// How old a value may be at most, in milliseconds, apart from a tick of the clock.
    pub max_stale_ms: u64,
    /// How many daemons have been the owner, one after another.
    pub owners: u64,
    /// Values that were stored.
    pub fills: u64,
    /// Keys that the server reported as changed.
    pub pushes: u64,
    /// How often all values were given up: lost connections, and flushes of the server.
    pub losses: u64,
}

impl Near {
    /// Opens the near cache in the table of that name.
    ///
    /// # Errors
    /// [`NearError::NotNear`] if no daemon has been started for it; [`NearError::OtherClock`];
    /// [`NearError::Table`] with the errors of opening a table.
    pub fn open(name: impl AsRef<Path>) -> Result<Self> {
        let table = Table::options().open_existing(name.as_ref())?;
        let shared = Shared::open(&table)?;
        // Pairs with the store in `Owner::take_over`.
        if shared.clock().load(Ordering::Acquire) != clock::fingerprint() {
            return Err(NearError::OtherClock);
        }
        let socket = socket_path(table.path());
        Ok(Self {
            reader: Reader::new(Arc::new(table), shared.clone()),
            shared,
            socket,
            idle: Mutex::default(),
        })
    }

    /// Returns the value of a key, or `None` if the server has none.
    ///
    /// The value was the newest one on the server at some moment not longer ago than `max_stale`,
    /// plus a tick of the kernel's clock (1 to 10 ms).
    ///
    /// # Errors
    /// [`NearError::NoDaemon`]; [`NearError::Upstream`]; [`NearError::KeyTooLong`];
    /// [`NearError::Table`] if the table is damaged.
    ///
    /// # Concurrency
    /// A hit takes no lock, no system call, and nothing of the daemon. A miss asks the daemon,
    /// which asks the server once for all that miss the same key.
    #[inline]
    pub fn get(&self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(self.get_into(key, &mut value)?.then_some(value))
    }

    /// Reads the value of a key into a buffer, which is cleared first. Returns false if the server
    /// has none.
    ///
    /// # Errors
    /// As [`Near::get`].
    #[inline]
    pub fn get_into(&self, key: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<bool> {
        let key = key.as_ref();
        match self.reader.find(key, out, &mut Coarse) {
            Ok(true) => Ok(true),
            Ok(false) => self.fetch(key, out),
            Err(error) => Err(error),
        }
    }

    /// Reads a value into a buffer if the table has one that may be used, without the daemon.
    /// Returns false if not, whatever the server has.
    ///
    /// # Errors
    /// [`NearError::Table`] if the table is damaged.
    #[inline]
    pub fn peek_into(&self, key: impl AsRef<[u8]>, out: &mut Vec<u8>) -> Result<bool> {
        self.reader.find(key.as_ref(), out, &mut Coarse)
    }

    /// Returns the state of the cache.
    pub fn status(&self) -> NearStatus {
        let trust = Trust::of(self.shared.trust().load(Ordering::Acquire));
        NearStatus {
            is_trusted: clock::coarse_ms() < trust.until_ms,
            max_stale_ms: self.shared.max_stale_ms().load(Ordering::Relaxed),
            owners: trust.generation,
            fills: self.shared.fills().load(Ordering::Relaxed),
            pushes: self.shared.pushes().load(Ordering::Relaxed),
            losses: self.shared.losses().load(Ordering::Relaxed),
        }
    }

    /// Returns the table that holds the values. Each has 8 bytes more than the server's value.
    pub fn table(&self) -> &Table {
        self.reader.table()
    }

    #[cold]
    fn fetch(&self, key: &[u8], out: &mut Vec<u8>) -> Result<bool> {
        let mut request = Vec::new();
        write_request(&mut request, key)?;
        for _ in 0..TRIES {
            let (heard, deadline_ms) = self.ask(&request, out)?;
            // A reader that was stopped may hold an answer that is too old by now.
            if clock::coarse_ms() >= deadline_ms {
                continue;
            }
            match heard {
                Heard::Value => return Ok(true),
                Heard::Missing => return Ok(false),
                Heard::Failed => {
                    let why = String::from_utf8_lossy(out).into_owned();
                    out.clear();
                    return Err(NearError::Upstream { why });
                }
            }
        }
        out.clear();
        Err(NearError::Upstream {
            why: "its answers come too late".to_owned(),
        })
    }

    /// Asks the daemon; another one, if the first has gone.
    fn ask(&self, request: &[u8], out: &mut Vec<u8>) -> Result<(Heard, u64)> {
        let began = Instant::now();
        loop {
            match self.ask_once(request, out) {
                Ok(heard) => return Ok(heard),
                Err(source) => {
                    // A connection that failed is dropped, so no answer is taken for another's.
                    out.clear();
                    if is_timeout(&source) || began.elapsed() > TAKEOVER {
                        return Err(NearError::NoDaemon { source });
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    fn ask_once(&self, request: &[u8], out: &mut Vec<u8>) -> io::Result<(Heard, u64)> {
        let process = std::process::id();
        let idle = self.idle().and_then(|mut idle| idle.pop());
        // A forked child leaves the connections to its parent.
        let mut stream = match idle.filter(|(owner, _)| *owner == process) {
            Some((_, stream)) => stream,
            None => {
                let stream = UnixStream::connect(&self.socket)?;
                stream.set_read_timeout(Some(PATIENCE))?;
                stream.set_write_timeout(Some(PATIENCE))?;
                stream
            }
        };
        stream.write_all(request)?;
        let heard = read_answer(&mut stream, out)?;
        if let Some(mut idle) = self.idle()
            && idle.len() < KEPT
        {
            idle.push((process, stream));
        }
        Ok(heard)
    }

    /// Returns the connections, unless another thread has them at this moment. In a forked child
    /// that may be one of the parent's, so nobody waits for it.
    fn idle(&self) -> Option<MutexGuard<'_, Vec<(u32, UnixStream)>>> {
        match self.idle.try_lock() {
            Ok(idle) => Some(idle),
            Err(TryLockError::Poisoned(idle)) => Some(idle.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    use io::ErrorKind::{TimedOut, WouldBlock};
    [TimedOut, WouldBlock].contains(&error.kind())
}
