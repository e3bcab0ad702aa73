//! The operating system as the rest of the crate sees it: every system call is made in this room.
//!
//! Nothing here knows what a table is. Errors are plain `io::Error`; the layers above give them a
//! meaning. What another process may rely on (futex words, record locks, files) is the same for
//! glibc and musl, because it goes to the kernel and not through either library's own structures.

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("tavola runs on 64-bit Linux only");

pub(crate) mod clock;
#[allow(dead_code, unused_imports)]
pub(crate) mod disk;
pub(crate) mod event;
pub(crate) mod file;
pub(crate) mod futex;
pub(crate) mod map;
pub(crate) mod notice;
pub(crate) mod process;

use std::io;

/// Turns the C convention (−1 and `errno`) into a result.
fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned == -1 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// Makes the call again for as long as a signal cuts it short.
fn retry(mut call: impl FnMut() -> libc::c_int) -> io::Result<libc::c_int> {
    loop {
        match check(interruptible(&mut call)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Makes a system call. In tests a signal may come first.
#[inline]
fn interruptible<T: From<i8>>(call: impl FnOnce() -> T) -> T {
    #[cfg(all(test, not(miri)))]
    if interrupt::is_interrupted() {
        return T::from(-1);
    }
    call()
}

/// Returns how many of some bytes the next read or write is asked for: all of them. In tests it may
/// be fewer.
#[inline]
fn portion(len: usize) -> usize {
    #[cfg(all(test, not(miri)))]
    return interrupt::shorten(len);
    #[cfg(not(all(test, not(miri))))]
    len
}

#[cfg(all(test, not(miri)))]
pub(crate) mod interrupt;
#[cfg(all(test, not(miri)))]
mod testing;
