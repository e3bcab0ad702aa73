//! What clients of memcached are answered: our service over a table, and memcached itself where
//! it is installed.

mod admin;
mod binary;
mod bytes;
mod differential;
mod dumps;
mod edges;
mod figures;
mod hostile;
mod meta;
mod script;
mod sharing;
mod text;
mod watch;
mod winners;
