//! The sockets: bytes in, bytes out. A [`Service`] answers them; nothing here knows a protocol or a
//! table.
//!
//! # Threads
//!
//! One thread accepts and hands each connection to the thread that has the fewest. Sockets that
//! share a port (`SO_REUSEPORT`) would save that step, but the kernel spreads by a hash of the
//! addresses: four connections on two threads are often all on one. Unix sockets do not
//! have this, a limit over all threads would need a common count at each accept anyway, and the
//! connections in the queue of one of many sockets are lost when that one is closed.
//!
//! Each serving thread has its own epoll, level-triggered: a connection with more to read than one
//! turn takes is reported again, after the others, which keeps the loop fair. One type decides when
//! a thread reads, sends and waits; its page says what each decision earns: `thread/strategy`.
//!
//! # Memory
//!
//! A connection has buffers only while something is under way. It reads into a buffer of its
//! thread and answers into another. Bytes left over, half a request or answers that the client does
//! not fetch, move to the connection. Files, in reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `options`, `error` | how a server is started, and why not |
//! | `service` | the traits that a protocol implements |
//! | `listen` | sockets to accept from |
//! | `output`, `input` | bytes of a connection |
//! | `tls` | certificates, and TLS between a socket and its buffers |
//! | `peek` | reading requests that stay in a Unix socket for a while |
//! | `stream` | reading and writing of one socket |
//! | `ring` | sending to several sockets by one call |
//! | `counters`, `shared` | the state that threads share |
//! | `acceptor` | the thread that accepts |
//! | `thread` | the threads that serve; `thread/strategy`: when they read, send and wait |
//! | `server` | the handle |
//! | `split` | two services behind one set of threads |
//! | `inside` | a service that the process itself uses, without sockets |

mod acceptor;
pub(crate) mod counters;
mod error;
mod input;
mod inside;
mod limits;
mod listen;
mod options;
mod output;
mod peek;
mod poll;
mod ring;
mod server;
mod service;
mod shared;
mod split;
mod stream;
mod thread;
mod tls;

pub use counters::{Counters, Meter};
pub use error::{Error, Result};
pub use inside::{Inside, Line};
pub use limits::raise_file_limit;
pub use listen::{Address, Listen, from_environment};
pub use options::{Io, Options, Setup};
pub use output::Output;
pub use server::{Drained, Server};
pub use service::{Gone, Next, Peer, Served, Service, Thread, Waker, Worker};
pub use split::{Split, SplitSession, SplitWorker};
pub(crate) use tls::OUTPUT_BYTES as TLS_OUTPUT_BYTES;
pub use tls::{Tls, TlsFiles};
