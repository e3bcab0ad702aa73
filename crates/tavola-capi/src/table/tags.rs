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

/// The most tags of a key.
pub const TAVOLA_MOST_TAGS: usize = 16;

/// Tags as they were at one moment; from `tavola_fetch_tags`. Begin with
/// `tavola_tags tags = TAVOLA_INIT(tavola_tags);`, which is no tags.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_tags {
    /// `sizeof(tavola_tags)`.
    pub size: usize,
    /// How many there are.
    pub count: u64,
    /// What the table knows them by.
    pub hints: [tavola_hint; TAVOLA_MOST_TAGS],
}

// SAFETY: integers without padding (a `usize`, and 64 bits each), the size first.
unsafe impl SizedStruct for tavola_tags {}

/// The tags that a caller means; NULL: none.
///
/// # Safety
/// I1 of `given.rs`.
pub(crate) unsafe fn tags_of(tags: *const tavola_tags) -> Result<Tags, Failure> {
    if tags.is_null() {
        return Ok(Tags::NONE);
    }
    let given = given!(sized tags);
    let count = usize::try_from(given.count).unwrap_or(usize::MAX);
    let hints = given.hints.get(..count).ok_or_else(|| {
        Failure::argument("`count` of tags is more than there may be; take tavola_fetch_tags's")
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
/// I1 of `given.rs`.
pub(crate) unsafe fn names_of<'a>(names: &[tavola_bytes]) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: the caller's promise.
    let name = |name: &tavola_bytes| unsafe { name.get() };
    names.iter().map(name).collect()
}

/// Tells tags of these names as they are at this moment, for `tavola_set_tagged`; one that is not
/// there yet is made. Take them *before* reading what the value is made of: should a tag be
/// invalidated while the value is made, the key is missing from the beginning. So it is if a cache
/// evicted the tag meanwhile, which it does when no key was set or read with it for a while: do not
/// keep them for long.
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
/// `TAVOLA_ERR_BAD_OPTION`: more than `TAVOLA_MOST_TAGS`, a name of more than 4096 bytes, a table
/// of fixed lengths. Where a tag is made: as `tavola_set`.
///
/// # Concurrency
/// Takes no lock where all tags are there.
///
/// # Crash
/// Killed before it returned: some of the tags may have been made.
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
        let mut told = tavola_tags::new();
        // SAFETY: the caller's promise.
        let tags = table.inner.fetch_tags(&unsafe { names_of(names)? })?;
        told.count = tags.len() as u64;
        for (place, hint) in told.hints.iter_mut().zip(tags.hints()) {
            *place = hint.to_bits();
        }
        out.put(&told);
        OK
    })
}

/// As `tavola_set_with`, with tags: the key is missing as soon as one of them is invalidated. NULL
/// for `tags`: none. Like attributes, each set without them takes them from the key; changes of a
/// value (`tavola_update`, `tavola_append`, `tavola_incr`) and `tavola_touch` keep them.
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

/// Invalidates a tag: all keys that have it are missing from this moment on, for all processes, and
/// in the same time however many they are. Their memory comes back as that of keys that have
/// expired. `TAVOLA_NOT_FOUND`: there was no such tag, and so no such key.
///
/// # Errors
/// As `tavola_remove`.
///
/// # Crash
/// Killed before it returned: all the keys are there, or none is.
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

/// Is told the name of a tag: any bytes, lent until it returns.
pub type tavola_each_tag =
    Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_void, name_len: usize)>;

/// Tells the names of the tags that a key has, as it was at one moment. `TAVOLA_NOT_FOUND`: there
/// is no such key.
///
/// # Errors
/// As `tavola_get`.
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
