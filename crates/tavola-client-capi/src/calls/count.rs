//! Counters.

use super::ask;
use crate::client::tavola_mc_client;
use crate::entry::{Answer, entry};
use crate::given::given;
use crate::outcome::status_of_outcome;
use crate::request::{count_options, tavola_mc_count_options};
use crate::status::tavola_mc_status;
use std::ffi::c_void;
use tavola_client_core::{Batch, Outcome};

fn counted<'a>(
    client: &tavola_mc_client,
    number: Option<&mut u64>,
    prepare: impl FnOnce(&mut Batch<'a>) -> usize,
) -> Answer {
    let outcome = ask(client, prepare)?;
    if let (Outcome::Count(now), Some(number)) = (&outcome, number) {
        *number = *now;
    }
    Ok(status_of_outcome(&outcome))
}

/// Adds `delta` to a number, which wraps around at 2^64, and writes the new one to `number`, which
/// may be NULL: `TAVOLA_MC_COUNT`. `TAVOLA_MC_MISS` if the key is missing and `how`, which may be
/// NULL, has no initial number.
///
/// # Examples
/// ```c
/// tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);
/// uint64_t visits = 0;
/// how.has_initial = 1;
/// how.initial = 1;
/// tavola_mc_incr(client, TAVOLA_MC_STR("visits"), 1, &how, &visits);
/// tavola_mc_incr(client, TAVOLA_MC_STR("visits"), 1, &how, &visits);
/// printf("%llu visits\n", (unsigned long long)visits);
/// tavola_mc_decr(client, TAVOLA_MC_STR("visits"), 1, NULL, NULL);
/// ```
///
/// # Errors
/// As `tavola_mc_set`. `TAVOLA_MC_ERR_REFUSED`: the value is no number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_incr(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    delta: u64,
    how: *const tavola_mc_count_options,
    number: *mut u64,
) -> tavola_mc_status {
    entry(|| {
        let (client, key) = (given!(handle client), given!(bytes key, key_len));
        let how = count_options(delta, how)?;
        counted(client, given!(maybe number), |batch| batch.incr(key, how))
    })
}

/// Subtracts `delta` from a number, down to 0, as `tavola_mc_incr` adds.
///
/// # Errors
/// As `tavola_mc_incr`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_mc_decr(
    client: *const tavola_mc_client,
    key: *const c_void,
    key_len: usize,
    delta: u64,
    how: *const tavola_mc_count_options,
    number: *mut u64,
) -> tavola_mc_status {
    entry(|| {
        let (client, key) = (given!(handle client), given!(bytes key, key_len));
        let how = count_options(delta, how)?;
        counted(client, given!(maybe number), |batch| batch.decr(key, how))
    })
}
