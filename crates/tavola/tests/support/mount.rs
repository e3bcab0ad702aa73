//! File systems of a test's own, seen by the thread that mounts them and by processes it starts.

use super::patience::MINUTE;
use super::process::{c_string, unshare};
use std::ffi::CString;
use std::path::{Path, PathBuf};

/// A mounted file system; gone with the drop, or with the thread.
pub struct Mount {
    at: PathBuf,
    _dir: tempfile::TempDir,
}

impl Mount {
    /// Returns a tmpfs of this many bytes, or `None` with a message if mounting is not permitted.
    pub fn tmpfs(bytes: u64) -> Option<Self> {
        if !unshare(libc::CLONE_NEWNS) {
            println!("skipped: this user may not mount");
            return None;
        }
        let dir = tempfile::Builder::new()
            .prefix("tavola-mount-")
            .tempdir()
            .unwrap();
        let private = libc::MS_REC | libc::MS_PRIVATE;
        if !mount(Path::new("/"), None, private, "") {
            println!("skipped: mounts cannot be kept to this test");
            return None;
        }
        let options = format!("size={bytes},mode=0777");
        if !mount(dir.path(), Some("tmpfs"), 0, &options) {
            println!("skipped: no file system can be mounted here");
            return None;
        }
        Some(Self {
            at: dir.path().to_path_buf(),
            _dir: dir,
        })
    }

    pub fn path(&self) -> &Path {
        &self.at
    }

    pub fn table(&self, name: &str) -> PathBuf {
        self.at.join(name)
    }

    /// Makes it read-only, or writable again. A child that another test's thread has just forked
    /// has its files open until it runs its program: while it has, the mount is busy.
    pub fn set_read_only(&self, on: bool) {
        let flags = libc::MS_REMOUNT | if on { libc::MS_RDONLY } else { 0 };
        let begun = std::time::Instant::now();
        while !mount(&self.at, Some("tmpfs"), flags, "") {
            let error = std::io::Error::last_os_error();
            assert!(begun.elapsed() < MINUTE, "{error}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Bytes that may still be written.
    pub fn free_bytes(&self) -> u64 {
        // SAFETY: all zeros is a valid `statvfs`, a struct of integers.
        let mut room: libc::statvfs = unsafe { std::mem::zeroed() };
        let path = c_string(&self.at);
        // SAFETY: `path` is a C string and `room` a valid place for the answer.
        assert_eq!(unsafe { libc::statvfs(path.as_ptr(), &raw mut room) }, 0);
        room.f_bavail * room.f_frsize
    }

    /// Takes all room there is but `spare` bytes into a file, and returns its path.
    pub fn fill(&self, name: &str, spare: u64) -> PathBuf {
        use std::io::Write;
        let path = self.at.join(name);
        let mut file = std::fs::File::create(&path).unwrap();
        let block = [7u8; 4096];
        while self.free_bytes() >= spare + 4096 && file.write_all(&block).is_ok() {}
        path
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let path = c_string(&self.at);
        // SAFETY: `path` is a C string; detaches a mount that only this test sees.
        unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH) };
    }
}

fn mount(at: &Path, kind: Option<&str>, flags: libc::c_ulong, options: &str) -> bool {
    let (at, options) = (c_string(at), CString::new(options).unwrap());
    let kind = kind.map(|kind| CString::new(kind).unwrap());
    let kind = kind.as_ref().map_or(std::ptr::null(), |kind| kind.as_ptr());
    // SAFETY: all strings are C strings that outlive the call; the namespace is this thread's own.
    let done = unsafe {
        libc::mount(
            c"tavola-test".as_ptr(),
            at.as_ptr(),
            kind,
            flags,
            options.as_ptr().cast(),
        )
    };
    done == 0
}
