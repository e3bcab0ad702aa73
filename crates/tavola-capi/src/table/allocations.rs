//! What is called often asks for no memory of the process, once its thread has called it before.

use super::expiry::{tavola_get_and_touch, tavola_get_entry};
use super::open::{tavola_close, tavola_open_private};
use super::read::tavola_get;
use super::tavola_table;
use super::uid::{
    tavola_get_by_uid, tavola_get_entry_by_uid, tavola_hint, tavola_key_of_uid, tavola_set_uid,
};
use super::update::{tavola_get_with_token, tavola_swap, tavola_take};
use super::write::tavola_set;
use crate::attributes::tavola_attributes;
use crate::batch::tavola_bytes;
use crate::buffer::{tavola_alloc_fn, tavola_buffer, tavola_write_fn};
use crate::given::SizedStruct;
use crate::options::tavola_options;
use crate::status::tavola_status;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

/// The system's, counted.
struct Counted;

#[global_allocator]
static ALLOCATOR: Counted = Counted;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: all is the system's.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, size) }
    }
}

const KEY: &[u8] = b"the key";

type Handle = *const tavola_table;

/// A table in which the key has a value that is longer than short ones, a time and a uid.
fn a_table() -> (*mut tavola_table, tavola_hint) {
    let mut options = tavola_options::new();
    options.max_size = 4 << 20;
    let (mut table, mut hint) = (ptr::null_mut(), 0);
    // SAFETY: room for a handle.
    let status = unsafe { tavola_open_private(&raw const options, &raw mut table) };
    assert_eq!(status, tavola_status::TAVOLA_OK);
    // SAFETY: a key, a value, room for a hint.
    let status = unsafe {
        let (key, len) = (KEY.as_ptr().cast(), KEY.len());
        tavola_set_uid(
            table,
            key,
            len,
            [7u8; 200].as_ptr().cast(),
            200,
            &raw mut hint,
        )
    };
    assert_eq!(status, tavola_status::TAVOLA_OK);
    (table, hint)
}

unsafe extern "C" fn room(user: *mut c_void, len: usize) -> *mut c_void {
    match len {
        ..=256 => user,
        _ => ptr::null_mut(),
    }
}

unsafe extern "C" fn take(_: *mut c_void, _: *const c_void, _: usize) -> i32 {
    0
}

/// Calls it with each kind of buffer: no call asks for memory but the first two.
fn assert_none(name: &str, call: impl Fn(*mut tavola_buffer) -> tavola_status) {
    let mut bytes = [0u8; 256];
    let place = bytes.as_mut_ptr().cast();
    let plain = |alloc: tavola_alloc_fn, store: tavola_write_fn| tavola_buffer {
        data: place,
        capacity: 256,
        len: 0,
        alloc,
        write: store,
        user: place,
    };
    for mut buffer in [
        plain(None, None),
        plain(Some(room), None),
        plain(None, Some(take)),
    ] {
        for turn in 0..4 {
            let before = ALLOCATIONS.get();
            assert_eq!(call(&raw mut buffer), tavola_status::TAVOLA_OK, "{name}");
            assert!(turn < 2 || ALLOCATIONS.get() == before, "{name}");
        }
    }
}

#[test]
fn reads_ask_for_no_memory() {
    let (table, hint) = a_table();
    let table: Handle = table;
    let (key, len) = (KEY.as_ptr().cast::<c_void>(), KEY.len());
    let mut facts = (tavola_attributes::new(), 0u64);
    let (has, token) = (&raw mut facts.0, &raw mut facts.1);
    let none = ptr::null_mut();
    // SAFETY: a table, a key, a buffer, room for attributes and token, in all calls.
    unsafe {
        assert_none("get", |value| tavola_get(table, key, len, value));
        assert_none("get_by_uid", |value| tavola_get_by_uid(table, hint, value));
        assert_none("get_entry", |value| {
            tavola_get_entry(table, key, len, value, has, token)
        });
        assert_none("attributes alone", |_| {
            tavola_get_entry(table, key, len, none, has, ptr::null_mut())
        });
        assert_none("token alone", |_| {
            tavola_get_entry(table, key, len, none, ptr::null_mut(), token)
        });
        assert_none("get_entry_by_uid", |value| {
            tavola_get_entry_by_uid(table, hint, value, has, token)
        });
        assert_none("get_with_token", |value| {
            tavola_get_with_token(table, key, len, value, token)
        });
        assert_none("key_of_uid", |value| tavola_key_of_uid(table, hint, value));
        tavola_close(table.cast_mut());
    }
}

/// Fewer writes than there are between two steps of housekeeping, which may.
#[test]
fn changes_ask_for_no_memory() {
    let (table, _) = a_table();
    let table: Handle = table;
    let (key, len) = (KEY.as_ptr().cast::<c_void>(), KEY.len());
    let other = tavola_bytes::of(&[8u8; 200]);
    let (had, token) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: as in the reads.
    unsafe {
        assert_none("get_and_touch", |value| {
            tavola_get_and_touch(table, key, len, ptr::null(), value, had, token)
        });
        assert_none("swap", |value| {
            tavola_swap(table, key, len, other.data, other.len, value)
        });
        assert_none("take", |value| {
            tavola_set(table, key, len, other.data, other.len);
            tavola_take(table, key, len, value)
        });
        tavola_close(table.cast_mut());
    }
}
