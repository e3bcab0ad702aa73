//! Keys as callers give them, by the rules of pymemcache.

use super::failure::illegal;
use crate::text::key_of;
use pyo3::prelude::*;

/// The longest key of memcached, with the prefix.
const MOST_BYTES: usize = 250;

/// Which keys a client takes.
pub struct KeyRules {
    pub prefix_bytes: usize,
    /// Whether a `str` may have other characters than those of ASCII.
    pub allows_unicode: bool,
}

impl KeyRules {
    /// Returns the bytes of a key, without the prefix.
    pub fn bytes<'a>(&self, key: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
        let bytes = key_of(key)?;
        let is_bytes = || key.is_instance_of::<pyo3::types::PyBytes>();
        let why = if bytes.is_empty() {
            "it is empty"
        } else if bytes.len() + self.prefix_bytes > MOST_BYTES {
            "with its prefix it has more than 250 bytes"
        } else if let Err(why) = check_bytes(bytes) {
            why
        } else if !self.allows_unicode && !bytes.is_ascii() && !is_bytes() {
            "it has characters outside ASCII; give allow_unicode_keys=True or bytes"
        } else {
            return Ok(bytes);
        };
        Err(illegal(
            key.py(),
            format!("the key {} is invalid: {why}", key.repr()?),
        ))
    }

    /// Returns why the prefix cannot be one.
    pub fn check_prefix(&self, prefix: &[u8]) -> Result<(), String> {
        check_bytes(prefix).map_err(|why| format!("the option key_prefix is invalid: {why}"))
    }
}

fn check_bytes(bytes: &[u8]) -> Result<(), &'static str> {
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
    if bytes.iter().any(is_space) {
        return Err("it has white space");
    }
    match bytes.contains(&0) {
        true => Err("it has a zero byte"),
        false => Ok(()),
    }
}
