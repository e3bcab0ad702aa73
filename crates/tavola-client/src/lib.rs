//! A client for fleets of memcached servers, and of `tavola serve`.
//!
//! [`Client`] sends each key to its server, many requests at once if they are prepared in a
//! [`Batch`], and says of each request what became of it. It never returns the value of another
//! key: an answer that is not certain to be that of a request ends the connection. It never says
//! that a key is missing unless its server did: a request that failed is unsent, so that nothing
//! changed, or unknown. A get that was not sent, or whose connection the server closed, is repeated
//! once, as it changes nothing.
//!
//! ```
//! use tavola_client::{Client, CountOptions, StoreOptions};
//! # use std::sync::Arc;
//! # let table = Arc::new(tavola::Table::options().max_size(16 << 20).versions(true).private()?);
//! # let listen = tavola_server::Listen::Tcp("127.0.0.1:0".parse()?);
//! # let service = tavola_server::memcached::Memcached::new(table);
//! # let server = tavola_server::Options::new().listen(listen).threads(1).start(service)?;
//! # let tavola_server::Address::Tcp(address) = server.addresses()[0] else { panic!() };
//! # let address = address.to_string();
//!
//! let client = Client::builder().server(&address, 1.0).namespace("app:").build()?;
//! client.set(b"fruit", b"apple", StoreOptions::ttl(60))?;
//! assert_eq!(client.get(b"fruit")?.expect("it is there").data, b"apple");
//! assert_eq!(client.get(b"other")?, None);
//! assert_eq!(client.incr(b"visits", CountOptions::by(1).from(1, 0))?, Some(1));
//!
//! // Without an answer: it leaves together with the next request.
//! client.set(b"fruit", b"peach", StoreOptions::ttl(60).without_reply())?;
//! assert_eq!(client.get(b"fruit")?.expect("it is there").data, b"peach");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Ring`] alone says which server has a key, as other clients say it: programs that share a fleet
//! must agree about that.
//!
//! | room | what it holds |
//! |---|---|
//! | `server`, `options`, `batch`, `cause`, `error` | what callers give and get |
//! | `ring` | which server has a key |
//! | `client` | the client and its calls |
//! | `fleet` | what its handles share |
//! | `exec`, `control`, `crawl` | the execution of batches; calls about servers; their keys |
//! | `replica` | copies of keys on further servers |
//! | `pool`, `held` | for each server: its connections, and requests that need no answer |
//! | `failure`, `spin` | the same: whether it is down, and whether asking it often pays |
//! | `conn` | one connection |
//! | `near` | a local table in front of the fleet |
//! | `table` | tables of this machine in the place of servers |
//! | `sync` | the locks of `pool` and `held`, or those of a model checker |
//! | `fork` | finds out that the process was forked |

#![deny(unsafe_code)]

mod batch;
mod cause;
mod client;
mod conn;
mod control;
mod crawl;
mod error;
mod exec;
mod failure;
mod fleet;
mod fork;
mod held;
#[cfg(all(test, feature = "shuttle"))]
mod models;
#[cfg(feature = "table")]
mod near;
mod options;
mod pool;
mod replica;
mod ring;
mod server;
mod spin;
mod sync;
#[cfg(feature = "table")]
mod table;
mod waiting;

/// The programs of the page are compiled.
#[cfg(all(doctest, feature = "table"))]
#[doc = include_str!("../../../docs/guide/client.md")]
struct Guide;

pub use batch::{Batch, CountOptions, GetOptions, Initial, Outcome, Reply, Sink, StoreOptions};
pub use cause::{FailureCause, ServerFailure};
pub use client::{CasOutcome, Client, Stat, Value};
pub use conn::SocketOptions;
#[cfg(feature = "tls")]
pub use conn::{Tls, TlsError};
pub use error::{BuildError, Error};
pub use options::{Builder, OnDown, Protocol};
pub use ring::{Hash, Node, Placement, PlacementError, Ring, RingError};
pub use server::{Server, ServerError};
