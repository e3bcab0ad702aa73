//! Every error is a sentence that says what to do.

use super::{Error, Holder, Lock};
use std::io;
use std::time::Duration;

/// Names the variants of [`Error`]: a new one does not compile before it is in the list, and then
/// [`every_error_says_what_to_do`] asks for an example.
macro_rules! kinds {
    ($($kind:ident),* $(,)?) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        fn kind_of(error: &Error) -> &'static str {
            match error {
                $(Error::$kind { .. } => stringify!($kind),)*
            }
        }
    };
}

kinds!(
    NotFound,
    AlreadyExists,
    Full,
    Corrupt,
    NotATable,
    Version,
    Endianness,
    Permission,
    ReadOnly,
    BadName,
    BadOption,
    TooManyParticipants,
    TooLarge,
    KeyTooLong,
    NotDurable,
    DamagedJournal,
    NotRestorable,
    InUseElsewhere,
    Lengths,
    NoUids,
    NotThere,
    AlreadyThere,
    NotHeld,
    AlreadyDrained,
    Sink,
    Compute,
    Codec,
    NotComputed,
    Conflict,
    Aborted,
    TransactionTooLarge,
    NotACounter,
    Reentrant,
    Busy,
    Io,
);

/// The beginnings of an advice, which follows a semicolon or a colon.
const VERBS: [&str; 20] = [
    "ask", "begin", "check", "choose", "close", "correct", "create", "dump", "end", "free", "move",
    "open", "push", "read", "repair", "restore", "run", "set", "shorten", "split",
];
/// The same, of two words, of which the first alone may begin a report.
const PHRASES: [&str; 4] = [
    "to keep its keys run",
    "try again",
    "use several",
    "use these",
];

/// Returns whether a sentence says what to do, after what has failed.
fn has_advice(text: &str) -> bool {
    text.split([';', ':']).skip(1).any(|part| {
        let part = part.trim_start();
        let first = part.split([' ', ',']).next().unwrap_or_default();
        VERBS.contains(&first) || PHRASES.iter().any(|phrase| part.starts_with(phrase))
    })
}

fn system(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

fn io_of(number: i32) -> Error {
    Error::Io {
        op: "opening the table",
        path: "/some/where".into(),
        source: system(number),
    }
}

/// Returns errors of the system, which have an advice for each cause, and of other causes.
fn errors_of_causes() -> Vec<Error> {
    let numbers = [
        libc::ENOENT,
        libc::EACCES,
        libc::ENOSPC,
        libc::EDQUOT,
        libc::EROFS,
        libc::ENOMEM,
        libc::EBUSY,
        libc::EMFILE,
        libc::ENFILE,
        libc::EIO,
        libc::EPROTO,
    ];
    let mut errors: Vec<Error> = numbers.into_iter().map(io_of).collect();
    errors.extend([1, 9].map(|found| Error::Version {
        path: "/some/where".into(),
        found,
        expected: 8,
    }));
    errors
}

/// Returns errors about files.
fn errors_of_files() -> Vec<Error> {
    let path = || "/some/where".into();
    let why = || "it is empty".to_string();
    vec![
        Error::NotFound { path: path() },
        Error::AlreadyExists { path: path() },
        Error::Corrupt { what: "an item" },
        Error::NotATable {
            path: path(),
            why: why(),
        },
        Error::Endianness { path: path() },
        Error::Permission {
            path: path(),
            source: system(libc::EACCES),
        },
        Error::ReadOnly,
        Error::BadName {
            name: ".hidden".to_string(),
            why: "it begins with a dot",
        },
        Error::NotDurable {
            path: path(),
            source: system(libc::EIO),
        },
        Error::DamagedJournal {
            path: path(),
            why: why(),
        },
        Error::NotRestorable {
            path: path(),
            why: why(),
        },
        Error::InUseElsewhere { path: path() },
        Error::TooManyParticipants { limit: 1023 },
    ]
}

/// Returns errors about what is in a table.
fn errors_of_use() -> Vec<Error> {
    let (what, name) = ("log", || "events".to_string());
    vec![
        Error::TooLarge { bytes: 1 << 33 },
        Error::KeyTooLong { bytes: 9000 },
        Error::Lengths { key: 4, value: 8 },
        Error::NoUids,
        Error::NotThere { what, name: name() },
        Error::AlreadyThere { what, name: name() },
        Error::NotHeld { element: 7 },
        Error::AlreadyDrained,
        Error::Sink {
            source: system(libc::ENOSPC),
        },
        Error::Compute {
            source: "no such page".into(),
        },
        Error::Codec {
            source: "3 bytes".into(),
        },
        Error::NotComputed {
            why: "no such page".to_string(),
            retry: Duration::from_secs(3),
        },
        Error::Conflict,
        Error::Aborted,
        Error::TransactionTooLarge { limit: 65_536 },
        Error::NotACounter,
        Error::Reentrant,
        Error::Busy {
            holder: Holder::new(Lock::Shard(3), 4711),
            waited: Duration::from_secs(5),
        },
    ]
}

#[test]
fn every_error_says_what_to_do() {
    let mut errors = errors_of_causes();
    errors.extend(errors_of_files());
    errors.extend(errors_of_use());
    for error in &errors {
        let text = error.to_string();
        assert!(has_advice(&text), "{text}");
        let debug = format!("{error:?}");
        assert!(!text.contains(&debug), "{text}");
    }
    // The caller hands the advice over: a test of calls that fail reads it.
    errors.push(Error::Full { reason: "" });
    errors.push(Error::BadOption {
        option: "shards",
        why: String::new(),
    });
    for kind in KINDS {
        let is_built = errors.iter().any(|error| kind_of(error) == *kind);
        assert!(is_built, "no example of {kind}");
    }
}

#[test]
fn a_report_alone_is_no_advice() {
    for text in [
        "the log already has a drain",
        "opening the table failed for /t: Permission denied (os error 13)",
        "the table accepts only keys of 4 bytes; no others",
    ] {
        assert!(!has_advice(text), "{text}");
    }
}
