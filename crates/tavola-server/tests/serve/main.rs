//! What a server promises, over loopback and Unix sockets. One test a behaviour.

mod echo;
mod ends;
mod hostile;
mod limits;
mod lines;
mod sockets;
mod values;
