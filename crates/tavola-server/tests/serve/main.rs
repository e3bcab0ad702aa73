//! What a server promises, over loopback and Unix sockets. One test a behaviour.

mod echo;
mod ends;
mod hostile;
mod limits;
mod lines;
mod local;
mod sockets;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "tls")]
#[path = "../tls_peer/mod.rs"]
mod tls_peer;
mod together;
mod values;
