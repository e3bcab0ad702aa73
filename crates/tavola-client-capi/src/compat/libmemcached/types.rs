//! The structs of the header, and the callbacks of the caller.

use super::codes::Code;
use super::handle::Handle;
use super::memory::Buffer;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// What the caller has, in its own memory or in ours. Its contents are behind a pointer.
#[repr(C)]
pub struct memcached_st {
    pub(super) handle: *mut Handle,
    /// 1 if the struct itself is ours.
    pub(super) is_allocated: usize,
    reserved: [usize; 6],
}

impl memcached_st {
    pub(super) fn empty() -> Self {
        Self {
            handle: ptr::null_mut(),
            is_allocated: 0,
            reserved: [0; 6],
        }
    }
}

/// The size of a host's name, with its NUL.
pub(super) const HOST_BYTES: usize = 1025;

/// A server: an element of a list, and what callbacks get.
#[repr(C)]
#[derive(Clone)]
pub struct memcached_server_st {
    pub(super) hostname: [c_char; HOST_BYTES],
    pub(super) major_version: u8,
    pub(super) minor_version: u8,
    pub(super) micro_version: u8,
    pub(super) port: u16,
    /// One of `TCP` and `UNIX`.
    pub(super) kind: c_int,
    pub(super) weight: u32,
    /// In the first element of a list: how many there are.
    pub(super) count: u32,
    /// Of its last failure.
    pub(super) error: Code,
    pub(super) reserved: [usize; 4],
}

/// A connection by TCP.
pub(super) const TCP: c_int = 0;
/// A Unix socket.
pub(super) const UNIX: c_int = 2;
/// A version that is not known.
pub(super) const UNKNOWN_VERSION: u8 = 255;

/// A value that was found.
#[repr(C)]
pub struct memcached_result_st {
    pub(super) root: *mut memcached_st,
    /// The value; not NULL if there is one.
    pub(super) value: *mut c_char,
    pub(super) value_length: usize,
    pub(super) key_length: usize,
    pub(super) cas: u64,
    pub(super) expiration: i64,
    pub(super) flags: u32,
    /// 1 if the struct itself is ours.
    pub(super) is_allocated: u32,
    /// With a NUL.
    pub(super) key: [c_char; 256],
    reserved: [usize; 4],
}

impl memcached_result_st {
    pub(super) fn of(root: *mut memcached_st) -> Self {
        Self {
            root,
            value: ptr::null_mut(),
            value_length: 0,
            key_length: 0,
            cas: 0,
            expiration: 0,
            flags: 0,
            is_allocated: 0,
            key: [0; 256],
            reserved: [0; 4],
        }
    }
}

/// A value that was found, before the caller fetches it.
pub(super) struct Found {
    pub(super) key: Vec<u8>,
    pub(super) value: Buffer,
    pub(super) flags: u32,
    pub(super) cas: u64,
}

pub(super) type MallocFn =
    Option<unsafe extern "C-unwind" fn(*const memcached_st, usize, *mut c_void) -> *mut c_void>;
pub(super) type FreeFn =
    Option<unsafe extern "C-unwind" fn(*const memcached_st, *mut c_void, *mut c_void)>;
pub(super) type ReallocFn = Option<
    unsafe extern "C-unwind" fn(
        *const memcached_st,
        *mut c_void,
        usize,
        *mut c_void,
    ) -> *mut c_void,
>;
pub(super) type CallocFn = Option<
    unsafe extern "C-unwind" fn(*const memcached_st, usize, usize, *mut c_void) -> *mut c_void,
>;
pub(super) type ServerFn = Option<
    unsafe extern "C-unwind" fn(
        *const memcached_st,
        *const memcached_server_st,
        *mut c_void,
    ) -> Code,
>;
pub(super) type ExecuteFn = Option<
    unsafe extern "C-unwind" fn(*const memcached_st, *mut memcached_result_st, *mut c_void) -> Code,
>;
pub(super) type DumpFn = Option<
    unsafe extern "C-unwind" fn(*const memcached_st, *const c_char, usize, *mut c_void) -> Code,
>;
pub(super) type StatFn = Option<
    unsafe extern "C-unwind" fn(
        *const memcached_server_st,
        *const c_char,
        usize,
        *const c_char,
        usize,
        *mut c_void,
    ) -> Code,
>;
pub(super) type CleanupFn = Option<unsafe extern "C-unwind" fn(*const memcached_st) -> Code>;
pub(super) type CloneFn =
    Option<unsafe extern "C-unwind" fn(*mut memcached_st, *const memcached_st) -> Code>;
pub(super) type TriggerKeyFn = Option<
    unsafe extern "C-unwind" fn(
        *mut memcached_st,
        *const c_char,
        usize,
        *mut memcached_result_st,
    ) -> Code,
>;
pub(super) type DeleteTriggerFn =
    Option<unsafe extern "C-unwind" fn(*mut memcached_st, *const c_char, usize) -> Code>;
