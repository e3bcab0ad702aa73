//! Whether another process still lives, as far as that is known without its help.

use super::stat::{STAT_BYTES, read_stat, read_whole, words};
use super::{Identity, last_error_is};

/// What is known about another process from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Liveness {
    Alive,
    Dead,
    /// Unknown from here: ask the record lock.
    Unknown,
}

/// Whether the process `them` still lives, as seen from `me`.
///
/// `Dead` is certain. `Alive` says that the process exists, not that it still has the table: exec
/// ends every mapping and thread, but keeps pid and start time. The record lock shows that.
pub(crate) fn liveness(them: &Identity, me: &Identity) -> Liveness {
    // 0 and numbers above i32 would make kill() mean something else than a process.
    let pid = match i32::try_from(them.pid) {
        Ok(pid) if pid > 0 => pid,
        _ => return Liveness::Unknown,
    };
    if them.pid_ns == 0 || them.pid_ns != me.pid_ns {
        return Liveness::Unknown;
    }
    if them == me {
        return Liveness::Alive;
    }
    if !pid_exists(pid) {
        return Liveness::Dead;
    }
    if them.start_time == 0 || them.time_ns == 0 || them.time_ns != me.time_ns {
        return Liveness::Unknown;
    }
    let mut buffer = [0; STAT_BYTES];
    let Some(stat) = read_stat(pid, &mut buffer) else {
        // It may have ended since; if not, /proc is hidden or not there.
        return if pid_exists(pid) {
            Liveness::Unknown
        } else {
            Liveness::Dead
        };
    };
    let ended = matches!(stat.state, b'Z' | b'X' | b'x') && stat.threads <= 1;
    if stat.start_time == them.start_time && !ended {
        Liveness::Alive
    } else if proc_counts_as_we_do() {
        Liveness::Dead
    } else {
        Liveness::Unknown
    }
}

/// Whether the process has this number in our namespace; one that has ended but that its parent
/// has not collected does too.
fn pid_exists(pid: i32) -> bool {
    // SAFETY: signal 0 is not sent, only checked for; no memory is passed.
    unsafe { libc::kill(pid, 0) == 0 || !last_error_is(libc::ESRCH) }
}

/// Whether the pids of the mounted /proc are those of this process's own pid namespace. Not so
/// after `unshare --pid` without a new mount: the same number then names another process there.
/// `NStgid` lists our number in each namespace from the mount's down to our own.
#[cold]
pub(super) fn proc_counts_as_we_do() -> bool {
    let mut buffer = [0; 4096];
    let Some(status) = read_whole(c"/proc/self/status", &mut buffer) else {
        return false;
    };
    let mut lines = status.split(|&byte| byte == b'\n');
    let numbers = lines.find_map(|line| line.strip_prefix(b"NStgid:"));
    numbers.is_some_and(|list| words(list).count() == 1)
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::super::super::testing::{Child, NOT_ALLOWED, SharedWords, start_thread, unshare};
    use super::super::identity;
    use super::*;
    use std::ptr;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

    fn wait_for(mut condition: impl FnMut() -> bool) {
        let start = std::time::Instant::now();
        while !condition() {
            assert!(start.elapsed().as_secs() < 20, "waited in vain");
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    /// A child's identity as the parent can make it out, without the child's help.
    fn identity_of(child: &Child, me: &Identity) -> Identity {
        let mut buffer = [0; STAT_BYTES];
        let start_time = read_stat(child.0, &mut buffer).unwrap().start_time;
        Identity {
            pid: child.0 as u32,
            start_time,
            ..*me
        }
    }

    fn pause() -> i32 {
        // SAFETY: sleeps until a signal comes.
        unsafe { libc::pause() }
    }

    #[test]
    fn alive_while_running_or_stopped_then_dead_as_a_zombie_and_after() {
        let me = identity();
        let child = Child::fork(pause);
        let them = identity_of(&child, &me);
        assert_eq!(liveness(&them, &me), Liveness::Alive);
        child.send(libc::SIGSTOP);
        assert!(libc::WIFSTOPPED(child.wait(libc::WUNTRACED)));
        assert_eq!(liveness(&them, &me), Liveness::Alive);
        child.send(libc::SIGKILL);
        wait_for(|| liveness(&them, &me) == Liveness::Dead);
        assert!(
            pid_exists(child.0),
            "not collected yet: this was the verdict on a zombie"
        );
        assert_eq!(child.exit_code(), -1);
        assert!(!pid_exists(them.pid as i32));
        assert_eq!(liveness(&them, &me), Liveness::Dead);
    }

    #[test]
    fn a_reused_pid_is_dead_and_a_foreign_namespace_unknown() {
        let me = identity();
        let child = Child::fork(pause);
        let them = identity_of(&child, &me);
        let verdict = |changed: Identity| liveness(&changed, &me);
        assert_eq!(
            verdict(Identity {
                start_time: them.start_time - 1,
                ..them
            }),
            Liveness::Dead
        );
        assert_eq!(
            verdict(Identity {
                start_time: me.start_time + 1,
                ..me
            }),
            Liveness::Dead
        );
        assert_eq!(verdict(me), Liveness::Alive);
        assert_eq!(verdict(Identity { pid_ns: 7, ..them }), Liveness::Unknown);
        assert_eq!(verdict(Identity { time_ns: 7, ..them }), Liveness::Unknown);
        assert_eq!(
            verdict(Identity {
                start_time: 0,
                ..them
            }),
            Liveness::Unknown
        );
        for pid in [0, u32::MAX, 1 << 31] {
            assert_eq!(verdict(Identity { pid, ..them }), Liveness::Unknown);
        }
        let nowhere = Identity::default();
        assert_eq!(liveness(&nowhere, &nowhere), Liveness::Unknown);
    }

    /// Says by the first word that it runs, then waits for the second.
    extern "C" fn outlive_the_leader(words: *mut libc::c_void) -> *mut libc::c_void {
        let words: *const AtomicU32 = words.cast_const().cast();
        // SAFETY: the caller passes a page of words that outlives the thread.
        let word = |index: usize| unsafe { &*words.add(index) };
        word(0).store(1, SeqCst);
        while word(1).load(SeqCst) == 0 {
            std::thread::yield_now();
        }
        ptr::null_mut()
    }

    #[test]
    fn a_process_whose_first_thread_ended_lives_until_the_others_end() {
        let me = identity();
        let words = SharedWords::new();
        let page = words.word(0).as_ptr().cast::<u8>();
        let child = Child::fork(|| {
            if !start_thread(outlive_the_leader, page) {
                return 2;
            }
            // SAFETY: ends this thread only; the other one needs nothing of its stack.
            unsafe { libc::syscall(libc::SYS_exit, 0) };
            1
        });
        let them = identity_of(&child, &me);
        let mut buffer = [0; STAT_BYTES];
        wait_for(|| words.word(0).load(SeqCst) == 1);
        wait_for(|| read_stat(child.0, &mut buffer).is_some_and(|stat| stat.state == b'Z'));
        assert_eq!(liveness(&them, &me), Liveness::Alive);
        words.word(1).store(1, SeqCst);
        wait_for(|| liveness(&them, &me) == Liveness::Dead);
        assert!(pid_exists(child.0));
    }

    #[test]
    fn a_proc_of_another_namespace_is_not_believed() {
        // The child's first child starts a pid namespace, and still sees the /proc of the outer.
        let child = Child::fork(|| {
            if !unshare(libc::CLONE_NEWPID) {
                return NOT_ALLOWED;
            }
            Child::fork(|| {
                let me = identity();
                let sibling = Child::fork(pause);
                let them = Identity {
                    pid: sibling.0 as u32,
                    ..me
                };
                let running = liveness(&them, &me);
                sibling.send(libc::SIGKILL);
                sibling.exit_code();
                let gone = liveness(&them, &me);
                let right = (running, gone) == (Liveness::Unknown, Liveness::Dead);
                i32::from(!right || proc_counts_as_we_do())
            })
            .exit_code()
        });
        child.expect_success_where_allowed();
    }
}
