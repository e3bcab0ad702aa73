//! What the workloads are, for people.

/// A workload: its letter, its title and what is done in it.
pub(super) struct Workload {
    pub(super) letter: &'static str,
    pub(super) title: &'static str,
    pub(super) what: &'static str,
    /// What is drawn over what, where a row is a point of a curve.
    pub(super) curve: Option<Curve>,
}

/// The number of a case that grows from row to row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    Keys,
    ValueBytes,
    Processes,
}

impl Curve {
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Keys => "keys in the store",
            Self::ValueBytes => "bytes a value",
            Self::Processes => "processes",
        }
    }
}

pub(super) const ALL: [Workload; 9] = [
    Workload {
        letter: "e",
        title: "Many keys, one or more processes",
        what: "Small keys and values: put all, then 98 % get and 2 % remove and put, get at \
               random, and ask for what is not there.",
        curve: None,
    },
    Workload {
        letter: "g",
        title: "As the number of keys grows",
        what: "The same work over more and more keys. Whoever fits a cache falls when it no \
               longer does.",
        curve: Some(Curve::Keys),
    },
    Workload {
        letter: "h",
        title: "As values grow",
        what: "From 16 bytes to a megabyte.",
        curve: Some(Curve::ValueBytes),
    },
    Workload {
        letter: "i",
        title: "As processes join",
        what: "All processes together, over one store. More processes than CPUs show what a \
               lock costs whose holder is not running.",
        curve: Some(Curve::Processes),
    },
    Workload {
        letter: "f",
        title: "How long single calls take",
        what: "Each call is timed by itself. The curve tells what share of the calls took no \
               longer.",
        curve: None,
    },
    Workload {
        letter: "a",
        title: "A file of companies, in a script",
        what: "Some 2,300 records of a text file: write all, read all, open and read one.",
        curve: None,
    },
    Workload {
        letter: "b",
        title: "Values of 8 KB, in a script",
        what: "10, 100 and 1,000 records, put and got again and again.",
        curve: None,
    },
    Workload {
        letter: "c",
        title: "1 byte and 4 KB, in a script",
        what: "10,000 keys written, then read.",
        curve: None,
    },
    Workload {
        letter: "d",
        title: "Through a client of a server",
        what: "30,000 pairs of set and get. Where client and server run, and whether a set \
               waits for its answer, decides more than the store does; each is a case of its own, \
               and so is a table in shared memory, which has no server.",
        curve: None,
    },
];

/// What is known about a letter; nothing about a new one.
pub(super) fn workload(letter: &str) -> Option<&'static Workload> {
    ALL.iter().find(|workload| workload.letter == letter)
}

/// Where a letter stands on the page; new ones come last.
pub(super) fn place(letter: &str) -> usize {
    ALL.iter()
        .position(|workload| workload.letter == letter)
        .unwrap_or(ALL.len())
}
