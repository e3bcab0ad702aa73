//! A writer that is killed at any of its system calls leaves the old file or the new one.
//!
//! A forked child writes the file, traced, and is killed at its first system call, then another one
//! at its second, and so on, until one comes to its end.

use std::fs;
use std::io;
use std::path::Path;

use tavola_cdb::{Cdb, Frozen, FrozenWriter, Put, Writer};

/// Enough to be written by several system calls.
const RECORDS: u32 = 20_000;

#[test]
fn a_killed_writer_leaves_the_old_file_or_the_new_one() {
    let check = |path: &Path| {
        let cdb = Cdb::open(path).unwrap();
        assert!(cdb.get(3u32.to_le_bytes()).unwrap().is_some());
    };
    kill_everywhere(&write, &check);
    // In the same test, as a child that is forked has none of the other threads.
    let check = |path: &Path| {
        let frozen = Frozen::open(path).unwrap();
        assert!(frozen.get(3u32.to_le_bytes()).unwrap().is_some());
    };
    kill_everywhere(&freeze, &check);
}

fn freeze(path: &Path, value: &str, records: u32) {
    // Some records go to a file on the way.
    let mut writer = FrozenWriter::options()
        .memory_bytes(200_000)
        .create(path)
        .unwrap();
    for key in 0..records {
        writer.put(key.to_le_bytes(), value).unwrap();
    }
    writer.finish().unwrap();
}

fn write(path: &Path, value: &str, records: u32) {
    let mut writer = Writer::create(path).unwrap();
    for key in 0..records {
        writer.put(key.to_le_bytes(), value, Put::Add).unwrap();
    }
    // Reads and changes what was written.
    writer.put(3u32.to_le_bytes(), value, Put::Replace).unwrap();
    writer
        .put(4u32.to_le_bytes(), value, Put::ReplaceZero)
        .unwrap();
    writer.finish().unwrap();
}

fn kill_everywhere(write: &dyn Fn(&Path, &str, u32), check: &dyn Fn(&Path)) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file.cdb");
    write(&path, "old", 10);
    let old = fs::read(&path).unwrap();
    write(&path, "new", RECORDS);
    let new = fs::read(&path).unwrap();
    let (mut with_old, mut with_new, mut left_behind) = (0, 0, 0);
    for kill_at in 0.. {
        clear(dir.path());
        fs::write(&path, &old).unwrap();
        let has_ended = run_until(kill_at, &|| write(&path, "new", RECORDS));
        let now = fs::read(&path).unwrap();
        match () {
            () if now == new => with_new += 1,
            () if now == old && with_new == 0 => with_old += 1,
            () => panic!(
                "killed at system call {kill_at}: {} bytes, not a file",
                now.len()
            ),
        }
        left_behind += usize::from(fs::read_dir(dir.path()).unwrap().count() > 1);
        // What a killed writer left behind does not disturb readers and the next writer.
        check(&path);
        if has_ended {
            assert_eq!(now, new, "the writer ended, and the file is the old one");
            break;
        }
    }
    println!("old file: {with_old} kills, new file: {with_new}, temporary file: {left_behind}");
    // Before the rename and after it; and while the temporary file was there.
    assert!(with_old > 8 && with_new > 2 && left_behind > 6);
}

fn clear(dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
}

/// Runs a writer in a child and kills it at a system call. Returns whether it came to its end
/// before.
fn run_until(kill_at: u64, write: &dyn Fn()) -> bool {
    // SAFETY: the child only writes a file and ends. No other thread of this program is in the
    // middle of something: its only test runs in this one.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", io::Error::last_os_error());
    if child == 0 {
        // SAFETY: three system calls, which concern the child alone.
        unsafe {
            libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
            libc::raise(libc::SIGSTOP);
        }
        write();
        // SAFETY: ends the child, without what the test runner does at its end.
        unsafe { libc::_exit(0) };
    }
    assert!(libc::WIFSTOPPED(wait(child)));
    // It stops at each system call's begin and end.
    for _ in 0..=2 * kill_at {
        // SAFETY: the process is traced by this one, and has stopped.
        let stepped = unsafe { libc::ptrace(libc::PTRACE_SYSCALL, child, 0, 0) };
        assert_eq!(stepped, 0, "{}", io::Error::last_os_error());
        let status = wait(child);
        if libc::WIFEXITED(status) {
            assert_eq!(libc::WEXITSTATUS(status), 0);
            return true;
        }
        assert!(libc::WIFSTOPPED(status), "{status:#x}");
    }
    // SAFETY: the child was not waited for, so the number is still its own.
    unsafe { libc::kill(child, libc::SIGKILL) };
    assert!(libc::WIFSIGNALED(wait(child)));
    false
}

fn wait(child: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: the process is a child of this one, and the status is written to a local number.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(waited, child);
    status
}
