//! Tags: keys that are gone together.

use super::tavola_table;
use super::uid::tavola_hint;
use super::write::added;
use crate::attributes::{attributes_of, tavola_attributes};
use crate::batch::tavola_bytes;
use crate::entry::{OK, entry, found};
use crate::given::{SizedStruct, given};
use crate::status::{Failure, tavola_status};
use std::ffi::c_void;
use tavola_core::{Hint, Tags};

/// How many tags a key can have.
pub const TAVOLA_MOST_TAGS: usize = 16;

/// Handles of tags, from `tavola_fetch_tags`. `tavola_tags tags = TAVOLA_INIT(tavola_tags);` means
/// no tags.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_tags {
    /// `sizeof(tavola_tags)`.
    pub size: usize,
    /// How many tags there are.
    pub count: u64,
    /// The handles.
    pub hints: [tavola_hint; TAVOLA_MOST_TAGS],
}

// SAFETY: integers without padding (a `usize`, and 64 bits each), the size first.
unsafe impl SizedStruct for tavola_tags {}

/// The tags that a caller means; NULL: none.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn tags_of(tags: *const tavola_tags) -> Result<Tags, Failure> {
    if tags.is_null() {
        return Ok(Tags::NONE);
    }
    let given = given!(sized tags);
    let count = usize::try_from(given.count).unwrap_or(usize::MAX);
    let hints = given.hints.get(..count).ok_or_else(|| {
        Failure::argument(
            "`count` of tags is more than there may be; use those of tavola_fetch_tags",
        )
    })?;
    let mut tags = Tags::NONE;
    for hint in hints {
        tags.push(Hint::from_bits(*hint));
    }
    Ok(tags)
}

/// The names that a caller gives.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn names_of<'a>(names: &[tavola_bytes]) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: the caller's promise.
    let name = |name: &tavola_bytes| unsafe { name.get() };
    names.iter().map(name).collect()
}

/// Returns the handles of the tags of these names, for `tavola_set_tagged`. A tag that does not
/// exist is created. Fetch the handles *before* you load the source data of a value: if a tag is
/// invalidated while you compute the value, the key is then missing from the beginning. This also
/// happens if a cache evicts the tag meanwhile, which it does if no key was set or read with it for
/// a while; so do not keep handles for long.
///
/// # Examples
/// ```c
/// static void print(void *user, const void *name, size_t len) {
///   (void)user;
///   printf("%.*s\n", (int)len, (const char *)name);
/// }
///
/// const tavola_bytes names[] = {{"home", 4}, {"user:7", 6}};
/// tavola_tags tags = TAVOLA_INIT(tavola_tags);
/// tavola_fetch_tags(table, names, 2, &tags);
/// /* Now load the source data, and compute the value. */
/// tavola_set_tagged(table, TAVOLA_STR("page"), TAVOLA_STR("<p>hello</p>"), NULL, &tags);
/// tavola_tags_of(table, TAVOLA_STR("page"), print, NULL);
/// tavola_invalidate_tag(table, TAVOLA_STR("user:7"));
/// if (tavola_add_tagged(table, TAVOLA_STR("page"), TAVOLA_STR("<p>old</p>"), NULL, &tags) ==
///     TAVOLA_OK) {
///   puts("stored, but missing at once: one of its tags was invalidated");
/// }
/// ```
///
/// # Errors
/// `TAVOLA_ERR_BAD_OPTION`: more than `TAVOLA_MOST_TAGS` names, a name of more than 4096 bytes, or
/// a table of fixed lengths. If a tag is created, also as `tavola_set`.
///
/// # Concurrency
/// Takes no lock if all tags exist.
///
/// # Crash
/// If the process is killed before the call returned, some of the tags may exist.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_fetch_tags(
    table: *const tavola_table,
    names: *const tavola_bytes,
    count: usize,
    tags: *mut tavola_tags,
) -> tavola_status {
    entry(|| {
        let (table, names) = (given!(handle table), given!(items names, count));
        let out = given!(sized_out tags);
        let mut c_tags = tavola_tags::new();
        // SAFETY: the caller's promise.
        let tags = table.inner.fetch_tags(&unsafe { names_of(names)? })?;
        c_tags.count = tags.len() as u64;
        for (place, hint) in c_tags.hints.iter_mut().zip(tags.hints()) {
            *place = hint.to_bits();
        }
        out.put(&c_tags);
        OK
    })
}

/// Sets a key with attributes and tags. The key is missing as soon as one of its tags is
/// invalidated. NULL for `tags` means no tags. The next set without tags takes them from the key,
/// as it does with attributes; changes of the value (`tavola_update`, `tavola_append`,
/// `tavola_incr`) and `tavola_touch` keep them.
///
/// # Errors
/// As `tavola_set_with`.
///
/// # Crash
/// As `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_set_tagged(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(attributes)?, tags_of(tags)?) };
        table.inner.set_tagged(key, value, attributes, &tags)?;
        OK
    })
}

/// Sets a key with attributes and tags if it does not exist; see `tavola_set_tagged`.
///
/// # Errors
/// `TAVOLA_EXISTS`: the key exists, and stays as it is. Otherwise as `tavola_set_tagged`.
///
/// # Crash
/// As `tavola_set`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_add_tagged(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    value: *const c_void,
    value_len: usize,
    attributes: *const tavola_attributes,
    tags: *const tavola_tags,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let value = given!(bytes value, value_len);
        // SAFETY: the caller's promise.
        let (attributes, tags) = unsafe { (attributes_of(attributes)?, tags_of(tags)?) };
        let is_new = table.inner.add_tagged(key, value, attributes, &tags)?;
        added(is_new)
    })
}

/// Invalidates a tag: from this moment all keys that have it are missing, for all processes. This
/// takes the same time for any number of keys. Their memory is reclaimed like that of expired keys.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: there is no such tag, and so no key that has it. Otherwise as
/// `tavola_remove`.
///
/// # Crash
/// If the process is killed before the call returned, all of these keys exist, or none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_invalidate_tag(
    table: *const tavola_table,
    name: *const c_void,
    name_len: usize,
) -> tavola_status {
    entry(|| {
        let (table, name) = (given!(handle table), given!(bytes name, name_len));
        found(table.inner.invalidate_tag(name)?)
    })
}

/// Called with the name of a tag: any bytes, which are lent until it returns.
pub type tavola_each_tag =
    Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_void, name_len: usize)>;

/// Calls `each` with the name of each tag that a key has, as of one moment.
///
/// # Errors
/// `TAVOLA_NOT_FOUND`: the key does not exist. Otherwise as `tavola_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tavola_tags_of(
    table: *const tavola_table,
    key: *const c_void,
    key_len: usize,
    each: tavola_each_tag,
    user: *mut c_void,
) -> tavola_status {
    entry(|| {
        let (table, key) = (given!(handle table), given!(bytes key, key_len));
        let each = each.ok_or_else(|| Failure::null("each"))?;
        let names = table.inner.tags_of(key)?;
        for name in names.iter().flatten() {
            // SAFETY: the caller's function, called as its type says.
            unsafe { each(user, name.as_ptr().cast(), name.len()) };
        }
        found(names.is_some())
    })
}
