//! What clients of memcached are answered: our service over a table, and memcached itself where
//! it is installed.

mod binary;
mod bytes;
mod figures;
mod meta;
mod script;
mod sharing;
mod text;
