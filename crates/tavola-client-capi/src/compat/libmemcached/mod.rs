//! The calls of libmemcached, from its documentation.
//!
//! - `codes`, `types`: return codes, structs
//! - `memory`: memory that the caller frees
//! - `fault`: why a call failed, as a code and a sentence
//! - `settings`: behaviours, and what they mean for a client
//! - `handle`: what is behind a `memcached_st`; `fleet`: its clients
//! - `entry`: the frame of each call
//! - `life`, `servers`, `behaviors`, `callbacks`, `sasl`, `errors`: calls that configure and ask
//! - `parse`, `options`: the texts of servers, and of options
//! - `store`, `count`, `get`, `fetch`, `result`: calls about keys
//! - `about`, `stats`: calls about servers
//! - `pool`, `ping`: the calls of libmemcachedutil

mod about;
mod behaviors;
mod callbacks;
mod codes;
mod count;
mod entry;
mod errors;
mod fault;
mod fetch;
mod fleet;
mod get;
mod handle;
mod life;
mod memory;
mod options;
mod parse;
mod ping;
mod pool;
mod result;
mod sasl;
mod servers;
mod settings;
mod stats;
mod store;
mod types;
