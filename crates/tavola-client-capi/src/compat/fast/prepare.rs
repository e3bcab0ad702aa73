//! Requests that are prepared one by one.

use super::object::{Kind, Wants, result_object};
use super::settings::client;
use super::{FAILURE, SUCCESS};
use crate::entry::entry_or;
use crate::given::given;
use crate::status::Failure;
use std::ffi::{c_int, c_void};
use tavola_client_core::{Batch, CountOptions, GetOptions, Reply, StoreOptions};

impl client {
    /// Whether a request with a key is answered.
    fn reply(&mut self, key: &[u8]) -> Result<Reply, Failure> {
        let server = self.made()?.server_of(key);
        Ok(match self.is_silent(server) {
            true => Reply::None,
            false => Reply::Wait,
        })
    }

    /// Adds a request.
    fn push(
        &mut self,
        key_index: c_int,
        key: &'static [u8],
        wants: Wants,
        push: impl FnOnce(&mut Batch<'static>, Reply) -> usize,
    ) -> Result<c_int, Failure> {
        let reply = self.reply(key)?;
        push(&mut self.requests, reply);
        self.kinds.push(Kind { key_index, wants });
        Ok(SUCCESS)
    }
}

/// Begins again. `object` may be NULL: then nothing is stored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_reset(
    c: *mut client,
    object: *mut result_object,
    noreply: c_int,
) {
    entry_or((), || {
        let c = given!(exclusive c);
        c.requests.clear();
        c.kinds.clear();
        (c.object, c.noreply) = (object, noreply != 0);
        Ok(())
    });
}

fn options(flags: u32, exptime: i32, reply: Reply) -> StoreOptions {
    let mut options = StoreOptions::ttl(exptime);
    (options.flags, options.reply) = (flags, reply);
    options
}

/// `cmd` is one of `set_cmd_e`; a cas has a call of its own.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_set(
    c: *mut client,
    cmd: c_int,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
    flags: u32,
    exptime: i32,
    value: *const c_void,
    value_size: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let (key, value) = (given!(bytes key, key_len), given!(bytes value, value_size));
        if !(0..=4).contains(&cmd) {
            return Err(Failure::argument("the command is not one of set_cmd_e"));
        }
        given!(exclusive c).push(key_index, key, Wants::Done, |batch, reply| {
            let how = options(flags, exptime, reply);
            match cmd {
                0 => batch.set(key, value, how),
                1 => batch.add(key, value, how),
                2 => batch.replace(key, value, how),
                3 => batch.append(key, value, reply),
                _ => batch.prepend(key, value, reply),
            }
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_cas(
    c: *mut client,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
    cas: u64,
    flags: u32,
    exptime: i32,
    value: *const c_void,
    value_size: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let (key, value) = (given!(bytes key, key_len), given!(bytes value, value_size));
        given!(exclusive c).push(key_index, key, Wants::Done, |batch, reply| {
            batch.cas(key, value, cas, options(flags, exptime, reply))
        })
    })
}

fn get_options(with_cas: bool) -> GetOptions {
    match with_cas {
        true => GetOptions::with_cas(),
        false => GetOptions::default(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_get(
    c: *mut client,
    cmd: c_int,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let (key, with_cas) = (given!(bytes key, key_len), cmd != 0);
        let wants = Wants::Value { with_cas };
        given!(exclusive c).push(key_index, key, wants, |batch, _| {
            batch.get(key, get_options(with_cas))
        })
    })
}

/// `exptime` is a text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_gat(
    c: *mut client,
    cmd: c_int,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
    exptime: *const c_void,
    exptime_len: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let (key, with_cas) = (given!(bytes key, key_len), cmd != 0);
        let text = std::str::from_utf8(given!(bytes exptime, exptime_len));
        let time = text.ok().and_then(|text| text.trim().parse::<i32>().ok());
        let time = time.ok_or_else(|| Failure::argument("the expiry time is not a number"))?;
        let wants = Wants::Value { with_cas };
        given!(exclusive c).push(key_index, key, wants, |batch, _| {
            batch.get_and_touch(key, time, get_options(with_cas))
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_incr(
    c: *mut client,
    cmd: c_int,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
    delta: u64,
) -> c_int {
    entry_or(FAILURE, || {
        let key = given!(bytes key, key_len);
        given!(exclusive c).push(key_index, key, Wants::Number, |batch, reply| {
            let mut how = CountOptions::by(delta);
            how.reply = reply;
            match cmd {
                0 => batch.incr(key, how),
                _ => batch.decr(key, how),
            }
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_delete(
    c: *mut client,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
) -> c_int {
    entry_or(FAILURE, || {
        let key = given!(bytes key, key_len);
        given!(exclusive c).push(key_index, key, Wants::Done, |batch, reply| {
            batch.delete(key, reply)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_prepare_touch(
    c: *mut client,
    key_index: c_int,
    key: *const c_void,
    key_len: usize,
    exptime: i32,
) -> c_int {
    entry_or(FAILURE, || {
        let key = given!(bytes key, key_len);
        given!(exclusive c).push(key_index, key, Wants::Done, |batch, reply| {
            batch.touch(key, exptime, reply)
        })
    })
}
