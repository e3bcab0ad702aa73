//! Each status and error has its number, its name and its message.

use super::*;

#[test]
fn numbers_and_names_are_there_once() {
    let mut numbers: Vec<i32> = NAMES.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), NAMES.len());
    // Results are counted from 0, without a gap.
    let results: Vec<i32> = numbers.into_iter().filter(|number| *number >= 0).collect();
    assert!(results.iter().copied().eq(0..results.len() as i32));
}

/// The lines of the header's list of statuses.
fn statuses_of_header() -> impl Iterator<Item = &'static str> {
    let header = include_str!("../../include/tavola_table.h");
    let (_, list) = header.split_once("enum tavola_status\n").unwrap();
    let (list, _) = list.split_once("};").unwrap();
    list.lines().map(str::trim)
}

#[test]
fn every_status_of_the_header_has_its_name_and_says_what_it_is() {
    let lines: Vec<&str> = statuses_of_header().collect();
    let mut count = 0;
    for pair in lines.windows(2) {
        let Some((name, number)) = pair[1].split_once(" = ") else {
            continue;
        };
        let number = number.trim_end_matches(',').parse().unwrap();
        // SAFETY: names are there forever.
        let found = unsafe { CStr::from_ptr(tavola_status_name(number)) };
        assert_eq!(found.to_str(), Ok(name));
        assert!(
            pair[0].starts_with("// ") && pair[0].ends_with('.'),
            "{name}"
        );
        count += 1;
    }
    assert_eq!(count, NAMES.len());
}

/// One failure of each kind, except panics and kinds that are not known here.
fn failures() -> Vec<Failure> {
    let path = || "/a/path".into();
    let source = || std::io::Error::from_raw_os_error(5);
    let (name, why, what, reason) = (|| "a name".to_owned(), "a reason", "a log", "no room");
    let errors = [
        Error::NotFound { path: path() },
        Error::AlreadyExists { path: path() },
        Error::Full { reason },
        Error::Corrupt { what },
        Error::NotATable {
            path: path(),
            why: why.to_owned(),
        },
        Error::Version {
            path: path(),
            found: 1,
            expected: 2,
        },
        Error::Endianness { path: path() },
        Error::Permission {
            path: path(),
            source: source(),
        },
        Error::ReadOnly,
        Error::BadName { name: name(), why },
        Error::BadOption {
            option: "shards",
            why: why.to_owned(),
        },
        Error::TooManyParticipants { limit: 3 },
        Error::TooLarge { bytes: 1 << 33 },
        Error::Lengths { key: 8, value: 8 },
        Error::NoUids,
        Error::NotThere { what, name: name() },
        Error::AlreadyThere { what, name: name() },
        Error::NotHeld { element: 5 },
        Error::AlreadyDrained,
        Error::Sink { source: source() },
        Error::NotACounter,
        Error::Reentrant,
        Error::Busy {
            holder: tavola_core::Holder::default(),
            waited: std::time::Duration::from_secs(1),
        },
        Error::TransactionTooLarge { limit: 65_536 },
        Error::Io {
            op: "open",
            path: path(),
            source: source(),
        },
    ];
    let errors = errors.into_iter().chain(failures_of_durable());
    let mut failures: Vec<Failure> = errors.map(Failure::from).collect();
    failures.extend([
        Failure::null("key"),
        Failure::too_small(9),
        Failure::stopped(),
        Failure::not_computed("no luck".to_owned()),
    ]);
    failures.push(Failure::argument("a length is larger than any memory"));
    failures.extend(failures_of_constant());
    failures
}

fn failures_of_constant() -> [Failure; 3] {
    use tavola_constant::Error;
    let (path, why) = (|| "/a/path".into(), "a reason".to_owned());
    [
        Error::NotConstant { path: path(), why },
        Error::Lost { path: path() },
        Error::Failed { path: path() },
    ]
    .map(Failure::from)
}

fn failures_of_durable() -> [Error; 5] {
    let path = || "/a/path".into();
    [
        Error::NotDurable {
            path: path(),
            source: std::io::Error::from_raw_os_error(5),
        },
        Error::KeyTooLong { bytes: 9000 },
        Error::DamagedJournal {
            path: path(),
            why: "a reason".to_owned(),
        },
        Error::InUseElsewhere { path: path() },
        Error::NotRestorable {
            path: path(),
            why: "a reason".to_owned(),
        },
    ]
}

#[test]
fn every_error_has_a_number_of_its_own_and_a_message() {
    use tavola_status::{TAVOLA_ERR_OTHER, TAVOLA_ERR_PANIC};
    let number = |failure: &Failure| failure.status() as i32;
    let mut numbers: Vec<i32> = failures().iter().map(number).collect();
    numbers.extend([TAVOLA_ERR_PANIC as i32, TAVOLA_ERR_OTHER as i32]);
    numbers.sort_unstable();
    let mut known: Vec<i32> = NAMES.iter().map(|(number, _)| *number).collect();
    known.retain(|number| *number < 0);
    known.sort_unstable();
    assert_eq!(numbers, known);
    let mut messages: Vec<String> = failures().iter().map(Failure::to_string).collect();
    assert!(
        messages.iter().all(|message| message.contains(' ')),
        "{messages:?}"
    );
    messages.sort_unstable();
    messages.dedup();
    assert_eq!(messages.len(), failures().len());
}

#[test]
fn a_message_has_no_nul_in_the_middle() {
    set_last_error("a\0b".to_owned(), Some(2));
    // SAFETY: the message stays until the next error of this thread.
    assert_eq!(unsafe { CStr::from_ptr(tavola_last_error()) }, c"ab");
    assert_eq!(tavola_last_os_error(), 2);
}
