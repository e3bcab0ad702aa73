//! Conditional writes of a transaction with attributes.

use super::tavola_txn;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{OK, entry, found};
use crate::given::given;
use crate::status::tavola_status;
use crate::table::number::{options_of, tavola_number_options};
use crate::table::tags::{tags_of, tavola_tags};
use std::ffi::c_void;

/// Sets a key with attributes and tags only if it does not exist. Each of the two may be NULL.
///
/// # Examples
/// ```c
/// tavola_attributes json = TAVOLA_INIT(tavola_attributes);
/// tavola_number_options counter = TAVOLA_INIT(tavola_number_options);
/// tavola_txn *txn = NULL;
/// int64_t edits = 0;
/// json.flags = 0x54040000;
/// counter.attributes = &json;
/// tavola_txn_begin(table, TAVOLA_BEGIN_OPTIMISTIC, &txn);
/// if (tavola_txn_add_with(txn, TAVOLA_STR("page"), TAVOLA_STR("[]"), &json, NULL) ==
///     TAVOLA_EXISTS) {
///   tavola_txn_replace_with(txn, TAVOLA_STR("page"), TAVOLA_STR("[1]"), &json, NULL);
/// }
/// tavola_txn_add_number_with(txn, TAVOLA_STR("edits"), 1, &counter, &edits);
/// tavola_txn_commit(txn);
/// ```
///
/// # Errors
/// `TAVOLA_EXISTS`: it exists. Otherwise as `tavola_txn_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_add_with(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(attributes)?, tags_of(tags)?) };
        match txn.inner().add_tagged(key, value, attributes, &tags)? {
            true => OK,
            false => Ok(tavola_status::TAVOLA_EXISTS),
        }
    })
}

/// Sets a key with attributes and tags only if it exists. Each of the two may be NULL.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: it does not. Otherwise as `tavola_txn_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_replace_with(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(attributes)?, tags_of(tags)?) };
        found(txn.inner().replace_tagged(key, value, attributes, &tags)?)
    })
}

/// Adds `by` to a signed number, as `tavola_add_number_with` does. `options` and `now` may be NULL.
///
/// # Errors
/// As `tavola_add_number_with` and `tavola_txn_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_txn_add_number_with(
    txn: *mut tavola_txn,
    key: *const c_void,
    key_len: usize,
    by: i64,
    options: *const tavola_number_options,
    now: *mut i64,
) -> tavola_status {
    entry(|| {
        let (txn, key) = (given!(buffer txn), given!(bytes key, key_len));
        let now = given!(maybe now);
        // SAFETY: the caller's promise.
        let options = unsafe { options_of(options) }?;
        now.put(txn.inner().add_number_with(key, by, options)?);
        OK
    })
}
