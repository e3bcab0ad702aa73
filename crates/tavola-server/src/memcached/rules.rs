//! What clients may do.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use tavola_proto::binary::{self, Command, Status};
use tavola_proto::text::{self, Shutdown, answer};
use tavola_proto::{Decoder, Limits, Protocol, Request, Restricted};

use super::auth::Users;
use super::saves::Saves;
use crate::net::Output;

/// The default number of requests in a row: for small values they take less time than a thread's
/// wake-up.
const REQUESTS: usize = 256;
const WATCH_OFF: &[u8] = b"CLIENT_ERROR watch commands not allowed\r\n";
const CACHEDUMP_OFF: &[u8] = b"CLIENT_ERROR stats cachedump not allowed\r\n";
const DETAIL_OFF: &[u8] = b"CLIENT_ERROR stats detail not allowed\r\n";
const METADUMP_OFF: &[u8] = b"ERROR metadump not allowed\r\n";
const MGDUMP_OFF: &[u8] = b"ERROR key dump not allowed\r\n";

/// The permissions and limits of clients. The default is that of memcached, unless a field differs.
#[derive(Clone)]
pub struct Rules {
    /// The bytes of the largest value.
    pub value_bytes: usize,
    /// The most requests of a client that are carried out in a row, before others have their turn.
    pub requests: usize,
    /// The only protocol, or `None` if the first byte of a connection decides.
    pub protocol: Option<Protocol>,
    /// The users that may connect, or `None` if there are no passwords.
    pub users: Option<Arc<Users>>,
    /// Whether clients may remove all keys at once.
    pub flush: bool,
    /// Whether clients may list keys.
    pub dumps: bool,
    /// Whether clients may watch what others do.
    pub watch: bool,
    /// The byte at which prefixes of keys end, if commands are counted by them from the beginning.
    /// Otherwise they end at `:`, and are counted after a client asks for it.
    pub prefixes: Option<u8>,
    /// The initial value of `verbosity`, which has no effect.
    pub verbosity: u32,
    /// Called when a client of the text protocol asks the server to end. Without it clients may
    /// not.
    pub shutdown: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Called when a connection is closed after several wrong passwords, with the address of the
    /// client, if it has one.
    pub on_guessing: Option<Arc<OnGuessing>>,
    /// The saves of the table to a file, if it is saved.
    pub saves: Option<Arc<Saves>>,
}

/// The function that is called when a client guesses passwords.
pub type OnGuessing = dyn Fn(Option<SocketAddr>) + Send + Sync;

impl Default for Rules {
    fn default() -> Self {
        Self {
            value_bytes: Limits::default().value_bytes,
            requests: REQUESTS,
            protocol: None,
            users: None,
            flush: true,
            dumps: true,
            watch: true,
            prefixes: None,
            verbosity: 0,
            shutdown: None,
            on_guessing: None,
            saves: None,
        }
    }
}

impl fmt::Debug for Rules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rules")
            .field("value_bytes", &self.value_bytes)
            .field("requests", &self.requests)
            .field("protocol", &self.protocol)
            .field("asks_for_password", &self.users.is_some())
            .field("flush", &self.flush)
            .field("dumps", &self.dumps)
            .field("watch", &self.watch)
            .field("prefixes", &self.prefixes)
            .field("verbosity", &self.verbosity)
            .field("shutdown", &self.shutdown.is_some())
            .field("on_guessing", &self.on_guessing.is_some())
            .field("saves", &self.saves)
            .finish()
    }
}

impl Rules {
    /// Returns the decoder for a new connection.
    pub(super) fn decoder(&self, limits: Limits) -> Decoder {
        match self.protocol {
            Some(protocol) => Decoder::of(protocol, limits),
            None => Decoder::new(limits),
        }
    }

    /// Answers a request that the rules refuse. Returns false if it may be carried out.
    pub(super) fn answer(&self, request: &Request<'_>, output: &mut Output) -> bool {
        match request {
            Request::Text(text::Request::FlushAll { noreply, .. }) if !self.flush => {
                if !noreply {
                    output.extend(answer::FLUSH_OFF);
                }
                true
            }
            Request::Binary(binary::Request {
                header,
                command: Command::Flush { .. },
                ..
            }) if !self.flush => {
                binary::answer::error(output.room(64), header, Status::AuthFailure);
                true
            }
            Request::Text(text::Request::Shutdown { mode, noreply }) => {
                self.shut_down(*mode, *noreply, output)
            }
            Request::Text(request) => match self.refused(request) {
                Some(line) => {
                    output.extend(line);
                    true
                }
                None => false,
            },
            _ => false,
        }
    }

    /// Returns the answer to a request for information that clients may not have.
    fn refused(&self, request: &text::Request<'_>) -> Option<&'static [u8]> {
        use text::{LruCrawler, Request, Stats};
        match request {
            Request::Watch(_) => self.off(Restricted::Watch),
            Request::Stats(Stats::Cachedump { .. }) => self.off(Restricted::Cachedump),
            Request::Stats(Stats::Detail(_)) => self.off(Restricted::Detail),
            Request::LruCrawler { command, .. } if !self.dumps => match command {
                LruCrawler::Metadump(_) => Some(METADUMP_OFF),
                LruCrawler::Mgdump(_) => Some(MGDUMP_OFF),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the line that replaces the answer to a command that clients may not give, be it
    /// valid or not.
    pub(super) fn off(&self, command: Restricted) -> Option<&'static [u8]> {
        let (may, line) = match command {
            Restricted::FlushAll => (self.flush, answer::FLUSH_OFF),
            Restricted::Watch => (self.watch, WATCH_OFF),
            Restricted::Cachedump => (self.dumps, CACHEDUMP_OFF),
            Restricted::Detail => (self.dumps, DETAIL_OFF),
            _ => return None,
        };
        (!may).then_some(line)
    }

    /// Asks the program to end the server, if clients may do that. The client gets no answer: its
    /// connection closes as the server ends.
    fn shut_down(&self, mode: Shutdown, noreply: bool, output: &mut Output) -> bool {
        let Some(shutdown) = &self.shutdown else {
            return false;
        };
        match mode {
            Shutdown::Normal | Shutdown::Graceful => shutdown(),
            Shutdown::Unknown if noreply => {}
            Shutdown::Unknown => output.extend(answer::SHUTDOWN_MODE),
        }
        true
    }
}
