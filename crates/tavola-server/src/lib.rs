//! The sockets of a server: bytes in, bytes out.
//!
//! What is served is a [`Service`]; this crate knows no protocol. It listens on TCP addresses and
//! Unix sockets, spreads connections over threads, reads what arrives, hands it over as one batch,
//! and sends the answers by one call. It holds the limits that keep hostile clients cheap.
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
//! # Threads
//!
//! One thread accepts and hands each connection to the thread that has the fewest. Sockets that
//! share a port (`SO_REUSEPORT`) would save that step, but the kernel spreads by a hash of the
//! addresses: four connections on two threads are often all on one. Unix sockets have no such
//! thing, a limit over all threads would need a common count at each accept anyway, and what waits
//! in the queue of one of many sockets is lost when that one is closed.
//!
//! Each serving thread has its own epoll, level-triggered: a connection with more to read than one
//! turn takes is told of again, after the others, which is all there is to fairness.
//!
//! # Memory
//!
//! A connection has buffers only while something is under way. It reads into a buffer of its
//! thread and answers into another; what is left over, half a request or answers that the client
//! does not fetch, moves to the connection. Rooms, in reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `options`, `error` | how a server is started, and why not |
//! | `service` | what is served |
//! | `listen` | sockets to accept from |
//! | `output`, `input` | bytes of a connection |
//! | `stream` | reading and writing of one socket |
//! | `counters`, `shared` | what threads know of each other |
//! | `acceptor` | the thread that accepts |
//! | `thread` | the threads that serve |
//! | `server` | the handle |

#![deny(unsafe_code)]

mod acceptor;
mod counters;
mod error;
mod input;
mod limits;
mod listen;
mod options;
mod output;
mod poll;
mod server;
mod service;
mod shared;
mod stream;
mod thread;

pub use counters::{Counters, Meter};
pub use error::{Error, Result};
pub use limits::raise_file_limit;
pub use listen::{Address, Listen, from_environment};
pub use options::Options;
pub use output::Output;
pub use server::{Drained, Server};
pub use service::{Next, Peer, Served, Service, Thread, Waker, Worker};
