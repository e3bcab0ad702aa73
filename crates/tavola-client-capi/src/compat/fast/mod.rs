//! The calls of `client.h`, the client in C of Cache::Memcached::Fast.
//!
//! - `settings`: a client, its servers and options
//! - `object`: where results go
//! - `prepare`: requests that are prepared one by one
//! - `execute`: their execution, and calls to all servers

mod execute;
mod object;
mod prepare;
mod settings;

use std::ffi::c_int;

/// It was carried out.
const SUCCESS: c_int = 0;
/// An argument is invalid, or the server of a key cannot be reached.
const FAILURE: c_int = 1;
/// A server refused a request.
const ERROR: c_int = 3;
/// It is not known what became of a request.
const UNKNOWN: c_int = 4;
/// A server could not be reached.
const CLOSED: c_int = 5;
