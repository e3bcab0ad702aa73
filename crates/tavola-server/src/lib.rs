//! A server: the sockets, and the protocols served through them.
//!
//! A [`Service`] answers requests; [`memcached::Memcached`] and [`resp::Resp`] are services. The
//! rest knows no protocol: it listens on TCP addresses and Unix sockets, spreads connections over
//! threads, reads what arrives, hands it over as one batch, and sends the answers by one call, or
//! the first of many a little earlier. It holds the limits that keep hostile clients cheap.
//!
//! ```
//! use tavola_server::{Listen, Options, Output, Peer, Served, Service, Thread, Worker};
//!
//! /// Sends back what comes.
//! struct Echo;
//!
//! impl Service for Echo {
//!     type Worker = Echo;
//!     fn worker(&self, _thread: &Thread) -> Echo {
//!         Echo
//!     }
//! }
//!
//! impl Worker for Echo {
//!     type Session = ();
//!     fn open(&mut self, _peer: &Peer) {}
//!     fn serve(&mut self, _session: &mut (), input: &[u8], output: &mut Output) -> Served {
//!         output.extend(input);
//!         Served::all(input)
//!     }
//! }
//!
//! let listen = Listen::Tcp("127.0.0.1:0".parse()?);
//! let server = Options::new().listen(listen).threads(1).start(Echo)?;
//! println!("listens on {}", server.addresses()[0]);
//! server.stop();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | `net` | sockets, threads, buffers, limits |
//! | `memcached` | the protocols of memcached over a table |
//! | `resp` | the protocol of Redis over a table |

#![deny(unsafe_code)]

pub mod memcached;
mod net;
pub mod resp;

pub use net::{
    Address, Counters, Drained, Error, Gone, Inside, Io, Line, Listen, Meter, Next, Options,
    Output, Peer, Result, Served, Server, Service, Setup, Split, SplitSession, SplitWorker, Thread,
    Tls, TlsFiles, Waker, Worker, from_environment, raise_file_limit,
};
