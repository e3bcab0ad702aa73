//! Source compatibility with two other clients for C: the headers below `include/compat` declare
//! their names, and lead each call to a function of this library.
//!
//! The functions have names of their own, `tavola_compat_*`, so a process that has loaded
//! libmemcached as well never mixes the two. The layout of structs is not that of libmemcached: a
//! program is compiled again.
//!
//! - `libmemcached`: `libmemcached/memcached.h` and `libmemcached/util.h`
//! - `fast`: `client.h` of Cache::Memcached::Fast

mod fast;
mod libmemcached;
