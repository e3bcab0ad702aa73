//! The execution of what was prepared, and calls to all servers.

use super::object::{Results, result_object};
use super::settings::client;
use super::{CLOSED, ERROR, FAILURE, SUCCESS, UNKNOWN};
use crate::entry::entry_or;
use crate::given::given;
use std::ffi::c_int;
use std::mem;
use tavola_client_core::{Batch, Error};

fn status(error: &Error) -> c_int {
    match error {
        Error::Refused(_) => ERROR,
        Error::Unsent { .. } => CLOSED,
        _ => UNKNOWN,
    }
}

/// Executes the requests. `SUCCESS` if the server of each answered it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_execute(
    c: *mut client,
    _key_iov_index: c_int,
) -> c_int {
    entry_or(FAILURE, || {
        let c = given!(exclusive c);
        let mut requests = mem::replace(&mut c.requests, Batch::new());
        let kinds = mem::take(&mut c.kinds);
        if requests.is_empty() {
            return Ok(SUCCESS);
        }
        let object = c.object;
        let object = given!(maybe object).copied();
        // The callbacks may not use the client.
        let fleet = c.made()?.clone();
        let mut results = Results::new(object.unwrap_or_default(), &kinds);
        fleet.execute(&mut requests, &mut results);
        Ok(results.worst)
    })
}

/// Sends what needs no answer and is held, and waits until it is carried out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_nowait_push(c: *mut client) -> c_int {
    entry_or(FAILURE, || {
        let pushed = given!(exclusive c).made()?.flush();
        Ok(pushed.err().map_or(SUCCESS, |error| status(&error)))
    })
}

/// Removes all keys. Each server that has done so stores 1, with its place as the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_flush_all(
    c: *mut client,
    delay_s: u32,
    object: *mut result_object,
    noreply: c_int,
) -> c_int {
    entry_or(FAILURE, || {
        let (c, object) = (given!(exclusive c), given!(maybe object).copied());
        let (object, mut worst) = (object.unwrap_or_default(), SUCCESS);
        let answers = c.made()?.flush_all(delay_s);
        for (server, answer) in answers.iter().enumerate() {
            match answer {
                Ok(()) if noreply != 0 && c.is_quiet(server) => {}
                Ok(()) => object.store_done(true, server as c_int),
                Err(error) => worst = worst.max(status(error)),
            }
        }
        Ok(worst)
    })
}

/// Stores the version of each server, with its place as the index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compat_client_server_versions(
    c: *mut client,
    object: *mut result_object,
) -> c_int {
    entry_or(FAILURE, || {
        let (c, object) = (given!(exclusive c), given!(maybe object).copied());
        let (object, mut worst) = (object.unwrap_or_default(), SUCCESS);
        for (server, answer) in c.made()?.versions().iter().enumerate() {
            match answer {
                Ok(version) => object.store_text(version, server as c_int),
                Err(error) => worst = worst.max(status(error)),
            }
        }
        Ok(worst)
    })
}
