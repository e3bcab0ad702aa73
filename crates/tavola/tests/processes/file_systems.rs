//! On file systems that do not share memory, what is to be expected is said beforehand.

use crate::support::part::alone;
use crate::support::process::{c_string, fork, unshare};
use crate::support::{Dir, patience::HANG_S, process::alarm};
use std::ffi::CString;
use std::path::Path;
use tavola::{Table, names};

/// Mounts an overlay of `lower` for this process alone; false: not permitted.
fn mount_overlay(dir: &Path) -> bool {
    let private = libc::MS_REC | libc::MS_PRIVATE;
    let options = format!(
        "lowerdir={0}/lower,upperdir={0}/upper,workdir={0}/work",
        dir.display()
    );
    let (options, at) = (
        CString::new(options).unwrap(),
        c_string(&dir.join("merged")),
    );
    let (overlay, root) = (c"overlay".as_ptr(), c"/".as_ptr());
    let null = std::ptr::null();
    unshare(libc::CLONE_NEWNS)
        // SAFETY: all strings are C strings that outlive the call.
        && unsafe { libc::mount(null, root, null, private, null.cast()) } == 0
        // SAFETY: as above.
        && unsafe { libc::mount(overlay, at.as_ptr(), overlay, 0, options.as_ptr().cast()) } == 0
}

#[test]
fn memory_has_no_warning() {
    let dir = Dir::new();
    assert_eq!(names::warning(dir.table("not-there-yet")).unwrap(), None);
    let _table = Table::open(dir.table("t")).unwrap();
    assert_eq!(names::warning(dir.table("t")).unwrap(), None);
    assert_eq!(names::warning("/dev/shm/not/there/either").unwrap(), None);
    assert!(names::warning("").is_err());
}

/// An overlay is what a container has as its root.
#[test]
fn overlayfs_has_a_warning_that_is_true() {
    alone("overlayfs_has_a_warning_that_is_true", &[], || {
        let dir = Dir::new();
        for part in ["lower", "upper", "work", "merged"] {
            std::fs::create_dir(dir.table(part)).unwrap();
        }
        let below = Table::options()
            .max_size(1 << 20)
            .open(dir.table("lower/t"));
        below.unwrap().set(b"k", b"old").unwrap();
        fork(|| {
            alarm(HANG_S);
            if !mount_overlay(dir.path()) {
                return println!("skipped: no overlay can be mounted here");
            }
            let path = dir.table("merged/t");
            for place in [&path, &dir.table("merged/new")] {
                let warning = names::warning(place).unwrap().unwrap();
                assert!(warning.contains("is on overlayfs"), "{warning}");
                assert!(warning.contains("TAVOLA_DIR"), "{warning}");
            }
            // As the warning says. If this is no longer so, the warning can go.
            let early = Table::open_read_only(&path).unwrap();
            // The first reads go without a mapping.
            for _ in 0..5 {
                assert_eq!(early.get(b"k").unwrap().unwrap(), b"old");
            }
            let writer = Table::open(&path).unwrap();
            writer.set(b"k", b"new").unwrap();
            assert_eq!(early.get(b"k").unwrap().unwrap(), b"old");
            let late = Table::open_read_only(&path).unwrap();
            assert_eq!(late.get(b"k").unwrap().unwrap(), b"new");
        })
        .finish();
    });
}
