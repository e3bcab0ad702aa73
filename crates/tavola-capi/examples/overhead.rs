//! What a call through the C interface costs beside the same call in Rust, in nanoseconds.
//!
//! Loads the library as a program of C does: `make bench-c`, or
//! `cargo run --release --package tavola-capi --example overhead -- target/release/libtavola.so`.
//! Runs of both take turns, on one table in which everything fits in the processor's caches; each
//! takes about a millisecond, and the report has the mean of the fastest tenth: others use the
//! machine as well.

use libloading::{Library, Symbol};
use std::error::Error;
use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::path::Path;
use std::ptr;
use std::time::Instant;
use tavola_core::{Hint, Table};

const KEYS: u64 = 1000;
const CALLS: u64 = 10_000;
const RUNS: usize = 500;

/// As in `tavola.h`.
#[repr(C)]
struct Buffer {
    data: *mut c_void,
    capacity: usize,
    len: usize,
    alloc: Option<unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void>,
    store: Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> c_int>,
    user: *mut c_void,
}

impl Buffer {
    fn of(bytes: &mut [u8]) -> Self {
        Self {
            data: bytes.as_mut_ptr().cast(),
            capacity: bytes.len(),
            len: 0,
            alloc: None,
            store: None,
            user: ptr::null_mut(),
        }
    }

    /// Asks a callback, which always gives these bytes.
    fn of_bytes(bytes: &mut [u8]) -> Self {
        Self {
            data: ptr::null_mut(),
            capacity: 0,
            len: 0,
            alloc: Some(same),
            store: None,
            user: bytes.as_mut_ptr().cast(),
        }
    }
}

unsafe extern "C" fn same(user: *mut c_void, _: usize) -> *mut c_void {
    user
}

type Handle = *const c_void;
type Open = unsafe extern "C" fn(*const c_char, *const c_void, *mut Handle) -> c_int;
type Get = unsafe extern "C" fn(Handle, *const c_void, usize, *mut Buffer) -> c_int;
type Contains = unsafe extern "C" fn(Handle, *const c_void, usize) -> c_int;
type Set = unsafe extern "C" fn(Handle, *const c_void, usize, *const c_void, usize) -> c_int;
type GetByUid = unsafe extern "C" fn(Handle, u64, *mut Buffer) -> c_int;

/// Tells nanoseconds a call, of Rust's runs and of C's.
fn compare(name: &str, mut rust: impl FnMut(u64), mut c: impl FnMut(u64)) {
    let runs = (0..RUNS).map(|_| (time(&mut rust), time(&mut c)));
    let (all_rust, all_c): (Vec<f64>, Vec<f64>) = runs.unzip();
    let (rust, c) = (quick(all_rust), quick(all_c));
    println!("{name:<28} {rust:>7.1} {c:>7.1} {:>7.1}", c - rust);
}

fn time(call: &mut impl FnMut(u64)) -> f64 {
    let begun = Instant::now();
    for i in 0..CALLS {
        call(i % KEYS);
    }
    begun.elapsed().as_secs_f64() * 1e9 / CALLS as f64
}

fn quick(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 10]
}

fn key(number: u64) -> [u8; 8] {
    number.to_le_bytes()
}

/// A table with keys of 8 bytes and values of this length, and its handle in C.
struct Bed<'l> {
    table: Table,
    handle: Handle,
    library: &'l Library,
    value: Vec<u8>,
}

impl<'l> Bed<'l> {
    fn new(library: &'l Library, path: &Path, value_len: usize) -> Result<Self, Box<dyn Error>> {
        let table = Table::options().max_size(64 << 20).open(path)?;
        let value = vec![b'v'; value_len];
        for number in 0..KEYS {
            table.set(key(number), &value)?;
        }
        let name = CString::new(path.as_os_str().as_encoded_bytes())?;
        let mut handle = ptr::null();
        // SAFETY: the function of the header.
        let open: Symbol<'_, Open> = unsafe { library.get(b"tavola_open")? };
        // SAFETY: a path, no options, and room for the handle.
        let status = unsafe { open(name.as_ptr(), ptr::null(), &raw mut handle) };
        assert_eq!(status, 0);
        Ok(Self {
            table,
            handle,
            library,
            value,
        })
    }

    fn name(&self, call: &str) -> String {
        format!("{call}, {} bytes", self.value.len())
    }

    /// A function of the header, which has the type.
    fn function<F>(&self, name: &str) -> Result<Symbol<'_, F>, libloading::Error> {
        // SAFETY: the types above are those of the header.
        unsafe { self.library.get(name.as_bytes()) }
    }

    fn reads(&self) -> Result<(), Box<dyn Error>> {
        let get = self.function::<Get>("tavola_get")?;
        let contains = self.function::<Contains>("tavola_contains")?;
        let (table, handle) = (&self.table, self.handle);
        let len = self.value.len();
        let (mut bytes, mut out) = (vec![0u8; len], vec![0u8; len]);
        let mut buffer = Buffer::of(&mut bytes);
        let call = |i, buffer: &mut Buffer| {
            // SAFETY: a key, and room for its value.
            let status = unsafe { get(handle, any(&key(i)).as_ptr().cast(), 8, buffer) };
            assert_eq!(status, 0);
        };
        compare(
            &self.name("get"),
            |i| {
                let found = table.get_to_slice(any(&key(i)), &mut out);
                assert!(found.is_ok_and(|found| found == Some(len)));
            },
            |i| call(i, &mut buffer),
        );
        let mut buffer = Buffer::of_bytes(&mut bytes);
        compare(
            &self.name("get by callback"),
            |i| {
                let found = table.get_into(any(&key(i)), &mut out);
                assert!(found.is_ok_and(|found| found));
            },
            |i| call(i, &mut buffer),
        );
        compare(
            &self.name("contains"),
            |i| assert!(table.contains(any(&key(i))).is_ok_and(|found| found)),
            |i| {
                // SAFETY: a key.
                let status = unsafe { contains(handle, any(&key(i)).as_ptr().cast(), 8) };
                assert_eq!(status, 0);
            },
        );
        Ok(())
    }

    fn reads_by_uid(&self) -> Result<(), Box<dyn Error>> {
        let get = self.function::<GetByUid>("tavola_get_by_uid")?;
        let (table, handle) = (&self.table, self.handle);
        let len = self.value.len();
        let (mut bytes, mut out) = (vec![0u8; len], vec![0u8; len]);
        let mut buffer = Buffer::of(&mut bytes);
        let give = |number| Ok(table.set_uid(key(KEYS + number), &self.value)?.to_bits());
        let uids = (0..KEYS).map(give);
        let uids = uids.collect::<tavola_core::Result<Vec<u64>>>()?;
        compare(
            &self.name("get by uid"),
            |i| {
                let hint = Hint::from_bits(uids[i as usize]);
                let found = table.get_by_uid_to_slice(hint, &mut out);
                assert!(found.is_ok_and(|found| found == Some(len)));
            },
            |i| {
                // SAFETY: room for the value.
                let status = unsafe { get(handle, uids[i as usize], &raw mut buffer) };
                assert_eq!(status, 0);
            },
        );
        Ok(())
    }

    fn writes(&self) -> Result<(), Box<dyn Error>> {
        let set = self.function::<Set>("tavola_set")?;
        let (table, handle, value) = (&self.table, self.handle, &self.value);
        compare(
            &self.name("set"),
            |i| assert!(table.set(any(&key(i)), any(value)).is_ok()),
            |i| {
                let (data, len) = (value.as_ptr().cast(), value.len());
                // SAFETY: a key and a value.
                let status = unsafe { set(handle, any(&key(i)).as_ptr().cast(), 8, data, len) };
                assert_eq!(status, 0);
            },
        );
        Ok(())
    }
}

/// Bytes of a length that the compiler does not know: it is not known to the library either.
fn any(bytes: &[u8]) -> &[u8] {
    black_box(bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which libtavola.so?")?;
    // SAFETY: loading the library runs nothing.
    let library = unsafe { Library::new(path)? };
    let directory = tempfile::tempdir_in("/dev/shm")?;
    println!("{:<28} {:>7} {:>7} {:>7}", "ns a call", "Rust", "C", "more");
    for value_len in [8, 100, 1000] {
        let path = directory.path().join(value_len.to_string());
        let bed = Bed::new(&library, &path, value_len)?;
        bed.reads()?;
        bed.reads_by_uid()?;
        bed.writes()?;
    }
    Ok(())
}
