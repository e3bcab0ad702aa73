//! Signed numbers.

use super::tavola_table;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::ptr;
use tavola_core::NumberOptions;

/// How `tavola_add_number_with` treats a key that does not exist, and a sum of 0. Begin with
/// `tavola_number_options options = TAVOLA_INIT(tavola_number_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_number_options {
    /// `sizeof(tavola_number_options)`.
    pub size: usize,
    /// The attributes of a key that is created; those of `tavola_set` if NULL. A key that exists
    /// keeps its own.
    pub attributes: *const tavola_attributes,
    /// 1: removes the key if the sum is 0.
    pub remove_zero: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers and a pointer without padding (a `usize`, a pointer, two `u32`), the size first;
// zero is a value of each.
unsafe impl SizedStruct for tavola_number_options {}

/// Adds `by` to a signed number, and writes the sum to `now`, which may be NULL. A key that does
/// not exist counts as 0 and is created. The value is decimal text, such as `-3`; in a table of
/// fixed lengths whose values have 8 bytes, it is an `int64_t`.
///
/// # Examples
/// ```c
/// int64_t balance = 0;
/// tavola_add_number(table, TAVOLA_STR("balance"), -3, &balance);
/// tavola_add_number(table, TAVOLA_STR("balance"), 10, &balance);
///
/// tavola_number_options options = TAVOLA_INIT(tavola_number_options);
/// options.remove_zero = 1;
/// tavola_add_number_with(table, TAVOLA_STR("balance"), -balance, &options, NULL);
/// ```
///
/// # Errors
/// `TAVOLA_ERR_NOT_A_COUNTER`: the value is not a decimal number of 64 bits with sign.
/// `TAVOLA_ERR_BAD_OPTION`: the sum is not. Otherwise as `tavola_set`.
///
/// # Crash
/// If the process is killed before the call returned, the number was added once or not at all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_add_number(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: i64,
    now: *mut i64,
) -> tavola_status {
    // SAFETY: the caller's promise.
    unsafe { tavola_add_number_with(table, key, key_len, by, ptr::null(), now) }
}

/// Does the same as `tavola_add_number`, with attributes for a key that is created, and the choice
/// to remove a key whose number becomes 0. `options` and `now` may be NULL.
///
/// # Errors
/// As `tavola_add_number` and `tavola_set_with`.
///
/// # Crash
/// As `tavola_add_number`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_add_number_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    by: i64,
    options: *const tavola_number_options,
    now: *mut i64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let now = given!(maybe now);
        // SAFETY: the caller's promise.
        let options = unsafe { options_of(options) }?;
        now.put(table.inner.add_number_with(key, by, options)?);
        OK
    })
}

/// Returns the options of a number; the defaults if `options` is NULL.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(super) unsafe fn options_of(
    options: *const tavola_number_options,
) -> Result<NumberOptions, Failure> {
    let options = match options.is_null() {
        true => tavola_number_options::new(),
        false => given!(sized options),
    };
    if options.remove_zero > 1 || options.reserved != 0 {
        return Err(Failure::argument(
            "`remove_zero` of number options is 0 or 1, and `reserved` is 0",
        ));
    }
    Ok(NumberOptions {
        // SAFETY: the caller's promise.
        attributes: unsafe { attributes_of(options.attributes) }?,
        remove_zero: options.remove_zero != 0,
    })
}
