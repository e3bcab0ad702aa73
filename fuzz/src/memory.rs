//! The file of memory that is damaged.

use rustix::fs::MemfdFlags;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;

/// The file, and its path in this process.
pub(crate) fn file() -> &'static (File, PathBuf) {
    static FILE: OnceLock<(File, PathBuf)> = OnceLock::new();
    FILE.get_or_init(|| {
        let file = rustix::fs::memfd_create("tavola-fuzz", MemfdFlags::CLOEXEC);
        let file = File::from(file.expect("a file of memory"));
        let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
        (file, path)
    })
}
