//! The client with real servers: this project's own and memcached, if it is installed.

mod auth;
mod batches;
mod calls;
mod causes;
mod down;
mod fallback;
mod lists;
#[cfg(feature = "table")]
mod near;
mod process;
mod proxy;
mod replicas;
mod servers;
#[cfg(feature = "table")]
mod tables;
#[cfg(feature = "tls")]
mod tls;
