//! User and password, by SASL's PLAIN; and encryption, which there is not.

use super::codes::{self, Code};
use super::entry::{code, inner};
use super::fault::Fault;
use super::types::memcached_st;
use crate::given::given;
use std::ffi::c_char;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_set_sasl_auth_data(
    ptr: *mut memcached_st,
    username: *const c_char,
    password: *const c_char,
) -> Code {
    code(inner!(ptr), |inner| {
        let login = [given!(text username), given!(text password)];
        inner.settings.login = Some(login.map(|text| text.as_bytes().to_vec()));
        inner.disconnect();
        Ok(codes::SUCCESS)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_destroy_sasl_auth_data(
    ptr: *mut memcached_st,
) -> Code {
    code(inner!(ptr), |inner| {
        if inner.settings.login.take().is_some() {
            inner.disconnect();
        }
        Ok(codes::SUCCESS)
    })
}

/// There is no encryption of values: it hides them from the server, and TLS from others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_memcached_set_encoding_key(
    ptr: *mut memcached_st,
    _key: *const c_char,
    _length: usize,
) -> Code {
    code(inner!(ptr), |_| {
        let why = "values are not encrypted; encrypt them before they are stored";
        Err(Fault::new(codes::NOT_SUPPORTED, why))
    })
}
