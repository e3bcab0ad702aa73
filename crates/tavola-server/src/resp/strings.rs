//! GET, SET and what else reads and writes strings.

use std::borrow::Cow;

use tavola::{Attributes, Condition, Details, Expiry, StoreOptions, Stored};
use tavola_proto::resp::{Args, read_i64};

use super::call::{Call, Done, is};
use super::change::{Change, NEVER, change};
use super::refusal::{NOT_AN_INTEGER, OFFSET, Refusal, SYNTAX, TOO_LONG};
use super::time::{self, Origin, Unit};

/// A time of EX, PX, EXAT or PXAT.
#[derive(Clone, Copy, Debug)]
struct Time<'a> {
    text: &'a [u8],
    unit: Unit,
    from: Origin,
}

/// The options behind the key and the value of SET, or the key of GETEX.
#[derive(Debug, Default)]
struct Options<'a> {
    is_absent: bool,
    is_present: bool,
    keeps_ttl: bool,
    persists: bool,
    gets: bool,
    time: Option<Time<'a>>,
}

/// The command whose options are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    Set,
    Getex,
}

impl<'a> Options<'a> {
    fn read(args: &Args<'a>, first: usize, of: Of) -> Result<Self, Refusal> {
        let (mut options, mut words) = (Self::default(), args.after(first));
        while let Some(word) = words.next() {
            let has_time = options.time.is_some() || options.keeps_ttl || options.persists;
            let time = [
                ("ex", Unit::Seconds, Origin::Now),
                ("px", Unit::Millis, Origin::Now),
                ("exat", Unit::Seconds, Origin::Epoch),
                ("pxat", Unit::Millis, Origin::Epoch),
            ];
            let time = time.into_iter().find(|(name, ..)| is(word, name));
            match time {
                Some((_, unit, from)) if !has_time => {
                    let text = words.next().ok_or(SYNTAX)?;
                    options.time = Some(Time { text, unit, from });
                }
                Some(_) => return Err(SYNTAX),
                None if of == Of::Getex && is(word, "persist") && options.time.is_none() => {
                    options.persists = true;
                }
                None if of == Of::Getex => return Err(SYNTAX),
                None if is(word, "nx") && !options.is_present => options.is_absent = true,
                None if is(word, "xx") && !options.is_absent => options.is_present = true,
                None if is(word, "get") => options.gets = true,
                None if is(word, "keepttl") && options.time.is_none() => options.keeps_ttl = true,
                None => return Err(SYNTAX),
            }
        }
        Ok(options)
    }
}

impl Time<'_> {
    /// Returns when a value expires that gets this time.
    fn expiry(&self, command: &str) -> Result<Expiry, Refusal> {
        let number = read_i64(self.text).ok_or(NOT_AN_INTEGER)?;
        time::expiry(number, self.unit, self.from)
            .filter(|_| number > 0)
            .ok_or_else(|| Refusal::expire_time(command))
    }
}

pub(super) fn get(call: &mut Call<'_>) -> Done {
    let mut value = call.work.borrow_value();
    let found = call.work.table().get_into(&call.args[1], &mut value);
    let done = found.map_err(Refusal::from).and_then(|has_found| {
        call.work.count_read(has_found);
        call.bulk_or_null(has_found.then_some(&value))
    });
    call.work.give_back(value);
    done
}

pub(super) fn set(call: &mut Call<'_>) -> Done {
    let options = Options::read(&call.args, 3, Of::Set)?;
    let expiry = options.time.map(|time| time.expiry("set")).transpose()?;
    let attributes = Attributes::from(expiry.unwrap_or(Expiry::Never));
    if options.gets || options.keeps_ttl {
        return set_from_old(call, &options, attributes);
    }
    let condition = match (options.is_absent, options.is_present) {
        (true, _) => Condition::Absent,
        (_, true) => Condition::Present,
        _ => Condition::Always,
    };
    match store(call, 2, condition, attributes)? {
        true => call.ok(),
        false => call.null(),
    }
}

/// Stores a word of the command. Returns whether the condition held.
fn store(
    call: &Call<'_>,
    value: usize,
    condition: Condition,
    attributes: Attributes,
) -> Result<bool, Refusal> {
    let how = StoreOptions {
        condition,
        attributes: Some(attributes),
        ..StoreOptions::default()
    };
    let table = call.work.table();
    let stored = table.store(&call.args[1], &call.args[value], &how)?;
    Ok(matches!(stored, Stored::Done(_)))
}

/// Carries out a SET that needs the old value, or its time to expire.
fn set_from_old(call: &mut Call<'_>, options: &Options<'_>, attributes: Attributes) -> Done {
    let new = call.args.get(2).unwrap_or_default();
    let key = &call.args[1];
    let (old, is_set) = change(call.work, key, |old| {
        let is_refused = match old {
            None => options.is_present,
            Some(_) => options.is_absent,
        };
        let had = old
            .filter(|_| options.gets)
            .map(|(value, _)| value.to_vec());
        if is_refused {
            return Ok((Change::Leave, (had, false)));
        }
        let kept = old.filter(|_| options.keeps_ttl);
        let change = Change::Store {
            value: Cow::Borrowed(new),
            attributes: match kept {
                // All that the key has stays, as its flags are those of a client of Redis.
                Some((_, details)) if details.attributes.flags == 0 => None,
                Some((_, details)) => Some(Attributes::from(details.attributes.expiry)),
                None => Some(attributes),
            },
        };
        Ok((change, (had, true)))
    })?;
    if options.gets {
        call.work.count_read(old.is_some());
        return call.bulk_or_null(old.as_deref());
    }
    match is_set {
        true => call.ok(),
        false => call.null(),
    }
}

pub(super) fn setnx(call: &mut Call<'_>) -> Done {
    let is_set = store(call, 2, Condition::Absent, NEVER)?;
    call.truth(is_set)
}

pub(super) fn setex(call: &mut Call<'_>) -> Done {
    set_for(call, Unit::Seconds)
}

pub(super) fn psetex(call: &mut Call<'_>) -> Done {
    set_for(call, Unit::Millis)
}

fn set_for(call: &mut Call<'_>, unit: Unit) -> Done {
    let time = Time {
        text: call.args.get(2).unwrap_or_default(),
        unit,
        from: Origin::Now,
    };
    let expiry = time.expiry(call.command.name)?;
    store(call, 3, Condition::Always, Attributes::from(expiry))?;
    call.ok()
}

pub(super) fn getset(call: &mut Call<'_>) -> Done {
    let options = Options {
        gets: true,
        ..Options::default()
    };
    set_from_old(call, &options, NEVER)
}

pub(super) fn getdel(call: &mut Call<'_>) -> Done {
    let taken = call.work.table().take(&call.args[1])?;
    call.work.count_read(taken.is_some());
    call.bulk_or_null(taken.as_deref())
}

pub(super) fn getex(call: &mut Call<'_>) -> Done {
    let options = Options::read(&call.args, 2, Of::Getex)?;
    let expiry = match (options.time, options.persists) {
        (Some(time), _) => match time.expiry("getex") {
            // As in Redis, the key is looked for first.
            Err(refusal) if call.work.table().contains(&call.args[1])? => return Err(refusal),
            Err(_) => return call.null(),
            Ok(expiry) => expiry,
        },
        (None, true) => Expiry::Never,
        (None, false) => return get(call),
    };
    let mut value = call.work.borrow_value();
    let table = call.work.table();
    let found = table.get_and_touch_into(&call.args[1], expiry, &mut value);
    let done = found.map_err(Refusal::from).and_then(|found| {
        call.work.count_read(found.is_some());
        call.bulk_or_null(found.map(|_| &value[..]))
    });
    call.work.give_back(value);
    done
}

pub(super) fn append(call: &mut Call<'_>) -> Done {
    let more = call.args.get(2).unwrap_or_default();
    let length = change(call.work, &call.args[1], |old| {
        let joined = [old.map_or(&[][..], |(value, _)| value), more].concat();
        let length = joined.len();
        Ok((Change::keeping(joined), length))
    })?;
    call.count(length)
}

pub(super) fn strlen(call: &mut Call<'_>) -> Done {
    let length = call.work.table().value_len(&call.args[1])?;
    call.work.count_read(length.is_some());
    call.count(length.unwrap_or(0))
}

pub(super) fn getrange(call: &mut Call<'_>) -> Done {
    let (start, end) = (call.number(2)?, call.number(3)?);
    let mut value = call.work.borrow_value();
    let found = call.work.table().get_into(&call.args[1], &mut value);
    let done = found.map_err(Refusal::from).and_then(|has_found| {
        call.work.count_read(has_found);
        let part = match has_found {
            true => part_of(&value, start, end),
            false => &[],
        };
        call.bulk(part)
    });
    call.work.give_back(value);
    done
}

/// Returns the bytes of a value from `start` to `end`, which is one of them. Negative numbers count
/// from its end.
fn part_of(value: &[u8], start: i64, end: i64) -> &[u8] {
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let length = value.len() as i64;
    let place = |at: i64| match at {
        0.. => at,
        _ => at.saturating_add(length).max(0),
    };
    let (start, end) = (place(start), place(end).min(length - 1));
    match usize::try_from(start) {
        Ok(start) if (start as i64) <= end => &value[start..=end as usize],
        _ => &[],
    }
}

pub(super) fn setrange(call: &mut Call<'_>) -> Done {
    let offset = usize::try_from(call.number(2)?).map_err(|_| OFFSET)?;
    let part = call.args.get(3).unwrap_or_default();
    let most = call.work.shared.rules.value_bytes;
    let length = change(call.work, &call.args[1], |old| {
        let old = old.map_or(&[][..], |(value, _): (&[u8], &Details)| value);
        if part.is_empty() {
            return Ok((Change::Leave, old.len()));
        }
        // Before a value of that length is made.
        let end = offset.checked_add(part.len()).filter(|end| *end <= most);
        let end = end.ok_or(TOO_LONG)?;
        let mut new = old.to_vec();
        new.resize(new.len().max(end), 0);
        new[offset..end].copy_from_slice(part);
        let length = new.len();
        Ok((Change::keeping(new), length))
    })?;
    call.count(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_from_either_end() {
        for (start, end, part) in [
            (0, -1, "hello"),
            (0, 0, "h"),
            (1, 3, "ell"),
            (-3, -1, "llo"),
            (-1, -3, ""),
            (3, 1, ""),
            (-100, 1, "he"),
            (-100, -50, "h"),
            (4, 100, "o"),
            (5, 100, ""),
            (i64::MIN, i64::MAX, "hello"),
            (i64::MAX, i64::MIN, ""),
        ] {
            assert_eq!(
                part_of(b"hello", start, end),
                part.as_bytes(),
                "{start} {end}"
            );
        }
        assert_eq!(part_of(b"", 0, -1), b"");
        assert_eq!(part_of(b"", -1, 0), b"");
    }
}
