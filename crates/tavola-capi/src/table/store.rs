//! Storing a key as options say.

use super::tags::{tags_of, tavola_tags};
use super::tavola_table;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::entry::{OK, entry};
use crate::given::{SizedStruct, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use std::ptr;
use tavola_core::{CasOutcome, CasToken, Condition, StoreOptions, Stored};

/// When `tavola_store` stores.
#[repr(i32)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum tavola_condition {
    /// Always.
    TAVOLA_CONDITION_ALWAYS = 0,
    /// If the key does not exist, as `tavola_add`.
    TAVOLA_CONDITION_ABSENT = 1,
    /// If the key exists, as `tavola_replace`.
    TAVOLA_CONDITION_PRESENT = 2,
    /// If the key exists and has this token, as `tavola_compare_and_swap`.
    TAVOLA_CONDITION_TOKEN = 3,
}

/// How `tavola_store` stores. If all fields except `size` are 0, it does the same as `tavola_set`.
/// Begin with `tavola_store_options how = TAVOLA_INIT(tavola_store_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_store_options {
    /// `sizeof(tavola_store_options)`.
    pub size: usize,
    /// One of `tavola_condition`.
    pub condition: i32,
    /// 1: a key that exists keeps its attributes and its tags. `attributes` must then be NULL, and
    /// only a key that is created gets `tags`.
    pub keep: u32,
    /// For `TAVOLA_CONDITION_TOKEN`: the token that the key must have.
    pub token: u64,
    /// The attributes of the key; those of `tavola_set` if NULL.
    pub attributes: *const tavola_attributes,
    /// The tags of the key, from `tavola_fetch_tags`; no tags if NULL.
    pub tags: *const tavola_tags,
    /// The version that the key gets, in a table made with `versions`; the next one if 0. The table
    /// does not count on from this version: make sure that no version of a key is used twice.
    pub version: u64,
}

// SAFETY: integers and pointers without padding (a `usize`, two of 32 bits, a `u64`, two pointers,
// a `u64`), the size first; zero is a value of each.
unsafe impl SizedStruct for tavola_store_options {}

/// What `tavola_store` stored. Begin with `tavola_stored stored = TAVOLA_INIT(tavola_stored);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_stored {
    /// `sizeof(tavola_stored)`.
    pub size: usize,
    /// The token that the key has now, for `tavola_compare_and_swap`. In a table made with
    /// `versions` this is the key's version.
    pub token: u64,
}

// SAFETY: integers without padding (a `usize`, a `u64`), the size first.
unsafe impl SizedStruct for tavola_stored {}

fn condition_of(how: &tavola_store_options) -> Result<Condition, Failure> {
    use tavola_condition::*;
    let conditions = [
        (TAVOLA_CONDITION_ALWAYS, Condition::Always),
        (TAVOLA_CONDITION_ABSENT, Condition::Absent),
        (TAVOLA_CONDITION_PRESENT, Condition::Present),
        (TAVOLA_CONDITION_TOKEN, Condition::Is(CasToken(how.token))),
    ];
    let mut meant = conditions.into_iter();
    let meant = meant.find(|(condition, _)| *condition as i32 == how.condition);
    let (_, condition) = meant.ok_or_else(|| {
        Failure::argument("the `condition` of store options is not one of tavola_condition")
    })?;
    if how.token != 0 && !matches!(condition, Condition::Is(_)) {
        return Err(Failure::argument(
            "store options have a `token` without TAVOLA_CONDITION_TOKEN; set the condition, too",
        ));
    }
    if how.keep > 1 || (how.keep != 0 && !how.attributes.is_null()) {
        return Err(Failure::argument(
            "`keep` of store options is 0, or 1 without `attributes`",
        ));
    }
    Ok(condition)
}

/// Sets a key as `how` says, and writes the token that the key has then to `stored`. `tavola_set`,
/// `tavola_add`, `tavola_replace`, `tavola_set_tagged` and `tavola_compare_and_swap` are short
/// forms of this function. Both `how` and `stored` may be NULL.
///
/// # Examples
/// ```c
/// tavola_store_options how = TAVOLA_INIT(tavola_store_options);
/// tavola_stored stored = TAVOLA_INIT(tavola_stored);
/// how.condition = TAVOLA_CONDITION_ABSENT;
/// tavola_store(table, TAVOLA_STR("job"), TAVOLA_STR("queued"), &how, &stored);
///
/// how.condition = TAVOLA_CONDITION_TOKEN;
/// how.token = stored.token;
/// if (tavola_store(table, TAVOLA_STR("job"), TAVOLA_STR("running"), &how, &stored) ==
///     TAVOLA_CHANGED) {
///   puts("another process was faster");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_EXISTS`: the key exists, and the condition is `TAVOLA_CONDITION_ABSENT`.
/// `TAVOLA_NOT_FOUND`: the key does not exist, and the condition needs one. `TAVOLA_CHANGED`: the
/// key has another token. Nothing is stored then. `TAVOLA_ERR_ARGUMENT`: an unknown condition, a
/// `token` without `TAVOLA_CONDITION_TOKEN`, or `keep` with attributes. `TAVOLA_ERR_BAD_OPTION`: a
/// version in a table without `versions`. Otherwise as `tavola_set_with`.
///
/// # Concurrency
/// Other processes see the old value with its attributes and tags, or the new one with the new
/// ones.
///
/// # Crash
/// If the process is killed before the call returned, the key has either the old state or the new
/// one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_store(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    how: *const tavola_store_options,
    stored: *mut tavola_stored,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let (value, out) = (
            given!(bytes value, value_len),
            given!(maybe_sized_out stored),
        );
        let how = match how.is_null() {
            true => tavola_store_options::new(),
            false => given!(sized how),
        };
        let condition = condition_of(&how)?;
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(how.attributes)?, tags_of(how.tags)?) };
        let how = StoreOptions {
            condition,
            attributes: (how.keep == 0).then_some(attributes),
            tags: &tags,
            version: (how.version != 0).then_some(how.version),
            marks: None,
        };
        Ok(match (table.inner.store(key, value, &how)?, condition) {
            (Stored::Done(token), _) => {
                if let Some(out) = out {
                    let token = token.0;
                    let size = size_of::<tavola_stored>();
                    out.put(&tavola_stored { size, token });
                }
                tavola_status::TAVOLA_OK
            }
            (Stored::NotFound, _) => tavola_status::TAVOLA_NOT_FOUND,
            (Stored::Exists, Condition::Is(_)) => tavola_status::TAVOLA_CHANGED,
            (Stored::Exists, _) => tavola_status::TAVOLA_EXISTS,
        })
    })
}

/// The status of an operation that compares a token.
fn compared(outcome: CasOutcome) -> tavola_status {
    match outcome {
        CasOutcome::Swapped => tavola_status::TAVOLA_OK,
        CasOutcome::Changed => tavola_status::TAVOLA_CHANGED,
        CasOutcome::NotFound => tavola_status::TAVOLA_NOT_FOUND,
    }
}

/// Returns the token of every key that has this value, for a value that was not read by
/// `tavola_get_with_token`.
///
/// # Examples
/// ```c
/// uint64_t token = 0;
/// tavola_set(table, TAVOLA_STR("state"), TAVOLA_STR("idle"));
/// tavola_token_of(table, TAVOLA_STR("idle"), &token);
///
/// tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);
/// attributes.ttl_ms = 1000;
/// tavola_compare_and_swap_with(table, TAVOLA_STR("state"), token, TAVOLA_STR("busy"),
///                              &attributes);
/// if (tavola_compare_and_remove(table, TAVOLA_STR("state"), token) == TAVOLA_CHANGED) {
///   puts("it is busy now");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION`: the table was made with `versions`, so the token does not follow from
/// the value. At the first use of a table also the errors of mapping it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_token_of(
    table: *const tavola_table,
    value: *const c_void,
    value_len: usize,
    token: *mut u64,
) -> tavola_status {
    entry(|| {
        let (table, value) = (given!(handle table), given!(bytes value, value_len));
        let token = given!(out token);
        token.put(table.inner.token_of(value)?.0);
        OK
    })
}

/// Sets a key if its value is still the one that `token` was read with.
///
/// # Examples
/// ```c
/// char bytes[64];
/// uint64_t token = 0;
/// tavola_set(table, TAVOLA_STR("state"), TAVOLA_STR("idle"));
///
/// tavola_buffer value = TAVOLA_BUFFER(bytes, sizeof bytes);
/// tavola_get_with_token(table, TAVOLA_STR("state"), &value, &token);
/// if (tavola_compare_and_swap(table, TAVOLA_STR("state"), token, TAVOLA_STR("busy")) ==
///     TAVOLA_CHANGED) {
///   puts("another process was faster");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
/// Otherwise as `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compare_and_swap(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    token: u64,
    value: *const c_void,
    value_len: usize,
) -> tavola_status {
    let default = ptr::null();
    // SAFETY: the caller's promise.
    unsafe { tavola_compare_and_swap_with(table, key, key_len, token, value, value_len, default) }
}

/// Does the same as `tavola_compare_and_swap`, and sets the attributes of the key. NULL for
/// `attributes` means those of `tavola_set`.
///
/// # Errors
/// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
/// Otherwise as `tavola_set_with`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compare_and_swap_with(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    token: u64,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let attributes = unsafe { attributes_of(attributes) }?;
        let token = CasToken(token);
        let table = &table.inner;
        Ok(compared(
            table.compare_and_swap_with(key, token, value, attributes)?,
        ))
    })
}

/// Removes a key if its value is still the one that `token` was read with.
///
/// # Errors
/// `TAVOLA_CHANGED`: the key has another value. `TAVOLA_NOT_FOUND`: the key does not exist.
/// Otherwise as `tavola_remove`.
///
/// # Crash
/// If the process is killed before the call returned, the whole key exists, or it does not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_compare_and_remove(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    token: u64,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let outcome = table.inner.compare_and_remove(key, CasToken(token))?;
        Ok(compared(outcome))
    })
}
