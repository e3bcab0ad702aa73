//! Whether another process runs or is stopped, as far as that can be seen from here.

use super::liveness::proc_counts_as_we_do;
use super::stat::{STAT_BYTES, read_stat};
use super::{Identity, identity};

/// What another process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// It runs, or sleeps by its own will.
    Running,
    /// A signal (SIGSTOP) or a debugger has stopped it.
    Stopped,
    /// It cannot be seen from here: it is in another pid namespace, or /proc is hidden.
    Unknown,
}

/// What the process `them` does.
pub(crate) fn activity(them: &Identity) -> Activity {
    let me = identity();
    let Ok(pid) = i32::try_from(them.pid) else {
        return Activity::Unknown;
    };
    if pid == 0 || them.pid_ns != me.pid_ns || !proc_counts_as_we_do() {
        return Activity::Unknown;
    }
    let mut buffer = [0; STAT_BYTES];
    match read_stat(pid, &mut buffer) {
        Some(stat) if them.time_ns == me.time_ns && stat.start_time != them.start_time => {
            Activity::Unknown
        }
        Some(stat) if matches!(stat.state, b'T' | b't') => Activity::Stopped,
        Some(_) => Activity::Running,
        None => Activity::Unknown,
    }
}

/// Whether the number of the process `them` is one of this process's own pid namespace.
pub(crate) fn is_local(them: &Identity) -> bool {
    them.pid_ns == identity().pid_ns
}
