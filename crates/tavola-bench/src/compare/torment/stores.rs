//! The stores of the table, and what they promise.

use std::sync::LazyLock;

use crate::compare::facts;

/// Which processes may have a store open at once.
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
    /// It is made once from all its keys, and made again to change any.
    pub(super) built: bool,
    /// It is kept by a server.
    pub(super) served: bool,
    /// It is on a disk: power is cut, and no other trial is done.
    pub(super) durable: bool,
    /// Smallest value; the longer, the longer a writer is at it.
    pub(super) value_bytes: u64,
    /// Each put writes all again: of many puts only so manieth part is done.
    pub(super) slowness: u64,
    /// The trials in which its documentation promises that it holds, with commas between.
    promises: &'static str,
    /// Documented limits that are too dear to try.
    pub(super) limits: &'static str,
    /// Of a server: where it keeps its data.
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
    durable: false,
    value_bytes: 16_000,
    slowness: 1,
    promises: "",
    limits: "",
    as_run: "",
    room: "",
};

/// In the order of the table.
pub(super) static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let entries = facts::entries(include_str!("stores.txt"));
    entries
        .map(|(name, facts)| parse(name, &facts).expect(name))
        .collect()
});

/// Reads an entry; `None` if a fact of it is unknown.
fn parse(name: &'static str, facts: &[facts::Fact]) -> Option<Subject> {
    let mut subject = Subject { name, ..STORE };
    for &(fact, value) in facts {
        match (fact, value) {
            ("maker", "own") => subject.maker = Maker::Own,
            ("company", "one writer") => subject.company = Company::OneWriter,
            ("company", "alone") => subject.company = Company::Alone,
            ("is", "cache") => subject.cache = true,
            ("is", "built") => subject.built = true,
            ("is", "served") => subject.served = true,
            ("is", "durable") => subject.durable = true,
            ("value_bytes", bytes) => subject.value_bytes = bytes.parse().ok()?,
            ("slowness", times) => subject.slowness = times.parse().ok()?,
            ("promises", trials) => subject.promises = trials,
            ("limits", limits) => subject.limits = limits,
            ("as_run", as_run) => subject.as_run = as_run,
            ("room", room) => subject.room = room,
            _ => return None,
        }
    }
    Some(subject)
}

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
    pub(super) fn promises(&self, trial: &str) -> bool {
        self.promises.split(", ").any(|promised| promised == trial)
    }

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
