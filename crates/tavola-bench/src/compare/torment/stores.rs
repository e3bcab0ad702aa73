//! The stores of the table, and what they promise.

use super::Trial;

/// Who may have a store open at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Company {
    /// Readers and writers, any number.
    Many,
    /// One writer and any number of readers.
    OneWriter,
    /// A writer keeps all others out.
    Alone,
}

/// Where its processes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// This program.
    Own,
    /// `torment.c` with the adapter of the peer of that name, or the torment's script in the peer's
    /// language.
    Peer,
}

/// A store of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    pub(super) name: &'static str,
    pub(super) maker: Maker,
    pub(super) company: Company,
    /// It may throw out what was written.
    pub(super) cache: bool,
    /// It is made once from all its keys, and made anew to change any.
    pub(super) built: bool,
    /// It is kept by a server.
    pub(super) served: bool,
    /// Smallest value; the longer, the longer a writer is at it.
    pub(super) value_bytes: u64,
    /// Each put writes all anew: of many puts only so manieth part is done.
    pub(super) slowness: u64,
    /// The trials in which its documentation promises that it holds.
    pub(super) promises: &'static [Trial],
    /// Documented limits that are too dear to try.
    pub(super) limits: &'static str,
    /// Of a server: where it keeps what it is told.
    pub(super) as_run: &'static str,
    /// What has to be known of the small file system, if not all its data is on it.
    pub(super) room: &'static str,
}

const STORE: Subject = Subject {
    name: "",
    maker: Maker::Peer,
    company: Company::Many,
    cache: false,
    built: false,
    served: false,
    value_bytes: 16_000,
    slowness: 1,
    promises: &[],
    limits: "",
    as_run: "",
    room: "",
};

const CLIENT: Subject = Subject {
    served: true,
    promises: &[Trial::Kill, Trial::OldReader, Trial::Counters],
    ..STORE
};

/// In the order of the table.
pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "tavola",
        maker: Maker::Own,
        promises: &Trial::ALL,
        ..STORE
    },
    Subject {
        name: "tavola-cache",
        maker: Maker::Own,
        cache: true,
        promises: &Trial::ALL,
        ..STORE
    },
    Subject {
        name: "lmdb",
        // A snapshot that is held makes the file grow, says its documentation.
        promises: &[Trial::Kill, Trial::Limits, Trial::Counters],
        ..STORE
    },
    Subject {
        name: "tinycdb",
        company: Company::OneWriter,
        built: true,
        promises: &[Trial::Kill, Trial::Full, Trial::OldReader],
        limits: "documented: 4 GiB a file",
        ..STORE
    },
    Subject {
        name: "qdbm-depot",
        company: Company::Alone,
        promises: &[Trial::Counters],
        limits: "documented: 2 GiB a file",
        ..STORE
    },
    Subject {
        name: "tkrzw",
        company: Company::Alone,
        promises: &[Trial::Counters],
        ..STORE
    },
    Subject {
        name: "kyoto",
        company: Company::Alone,
        // It repairs itself when it is opened after a death.
        promises: &[Trial::Kill, Trial::Counters],
        ..STORE
    },
    Subject {
        name: "bdb",
        ..STORE
    },
    Subject {
        name: "gdbm",
        company: Company::Alone,
        promises: &[Trial::Counters],
        ..STORE
    },
    Subject {
        name: "sqlite",
        promises: &[Trial::Kill, Trial::Full, Trial::Limits, Trial::Counters],
        limits: "documented: 1 GB a value by default",
        ..STORE
    },
    Subject {
        name: "files-shm",
        promises: &[Trial::Kill],
        ..STORE
    },
    Subject {
        name: "files-plain",
        maker: Maker::Own,
        ..STORE
    },
    Subject {
        name: "pstore",
        value_bytes: 900,
        slowness: 8,
        promises: &[Trial::Counters],
        ..STORE
    },
    Subject {
        name: "apcu",
        cache: true,
        promises: &[Trial::OldReader, Trial::Counters],
        ..STORE
    },
    Subject {
        name: "memcached",
        cache: true,
        as_run: "in its own memory",
        ..CLIENT
    },
    Subject {
        name: "redis",
        limits: "documented: 512 MB a key or value",
        as_run: "in its own memory, without snapshots and without a log of commands",
        ..CLIENT
    },
    Subject {
        name: "postgres-unix",
        // Old versions of a row are gone at once where they fit its page and nobody reads them.
        value_bytes: 900,
        // A snapshot that is held makes the files grow, says its documentation.
        promises: &[
            Trial::Kill,
            Trial::Full,
            Trial::Limits,
            Trial::Counters,
            Trial::ServerKill,
        ],
        limits: "documented: 1 GB a value, some 2,700 bytes of a key once it is compressed",
        as_run: "files in memory, with fsync and synchronous_commit on",
        room: "that is the room of its table, its log has another",
        ..CLIENT
    },
    Subject {
        name: "tavola-serve",
        cache: true,
        promises: &Trial::ALL,
        as_run: "a table in shared memory, which stays",
        ..CLIENT
    },
];

/// The store of that name.
pub(super) fn named(name: &str) -> Option<Subject> {
    #[cfg(test)]
    if let Some(toy) = super::tests::TOYS.iter().find(|toy| toy.name == name) {
        return Some(*toy);
    }
    SUBJECTS
        .iter()
        .find(|subject| subject.name == name)
        .copied()
}

impl Subject {
    /// A store of this program for tests, kept by a server or not.
    #[cfg(test)]
    pub(super) const fn toy(name: &'static str, served: bool) -> Self {
        Self {
            name,
            maker: Maker::Own,
            served,
            ..STORE
        }
    }
}
