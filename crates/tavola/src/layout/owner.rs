//! Whom a table lives with: three words of the superblock.

use crate::sys::process::Identity;

/// With whom a table goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A process.
    Process(Identity),
    /// The participant that is the last one.
    LastUser,
}

const PROCESS: u64 = 1 << 32;
const LAST_USER: u64 = 2 << 32;

impl Owner {
    /// Returns the words of an owner: `kind << 32 | pid`, the start of the process in clock ticks
    /// since boot, and the inodes of its time and pid namespaces, of 32 bits each.
    pub(super) fn encode(self) -> [u64; 3] {
        match self {
            Self::Process(of) => {
                let namespaces = of.pid_ns & LOW | of.time_ns << 32;
                [PROCESS | u64::from(of.pid), of.start_time, namespaces]
            }
            Self::LastUser => [LAST_USER, 0, 0],
        }
    }

    /// Returns the owner of these words, or `None` if they are damaged.
    pub(super) fn decode(words: [u64; 3]) -> Option<Self> {
        let [kind_and_pid, start_time, namespaces] = words;
        match kind_and_pid & !LOW {
            PROCESS => Some(Self::Process(Identity {
                pid: kind_and_pid as u32,
                start_time,
                pid_ns: namespaces & LOW,
                time_ns: namespaces >> 32,
            })),
            LAST_USER if words == [LAST_USER, 0, 0] => Some(Self::LastUser),
            _ => None,
        }
    }
}

const LOW: u64 = u32::MAX as u64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_survive_their_words() {
        let process = Identity {
            pid: u32::MAX,
            start_time: 987_654,
            pid_ns: 4_026_531_836,
            time_ns: 4_026_531_834,
        };
        for owner in [Owner::Process(process), Owner::LastUser] {
            assert_eq!(Owner::decode(owner.encode()), Some(owner));
        }
        for damaged in [
            [0; 3],
            [3 << 32, 0, 0],
            [LAST_USER, 1, 0],
            [LAST_USER | 1, 0, 0],
        ] {
            assert_eq!(Owner::decode(damaged), None);
        }
    }
}
