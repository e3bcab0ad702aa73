//! Keys and values of lengths that stores have their limits at: taken, refused, or worse?

use super::Verdict;
use crate::Result;
use crate::compare::torment::Outcome;
use crate::compare::torment::ground::Ground;
use crate::compare::torment::job::{Job, Role};

const KEY_BYTES: [u64; 11] = [
    1,
    0,
    100,
    250,
    251,
    511,
    512,
    1 << 10,
    65_535,
    65_536,
    1 << 20,
];
const VALUE_BYTES: [u64; 8] = [
    1,
    0,
    1 << 16,
    1 << 20,
    (1 << 20) + 1,
    1 << 24,
    (1 << 24) + 1,
    1 << 26,
];

/// What became of one length.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Same,
    Refused(String),
    Missing,
    Other,
    Died(String),
    Hung,
}

pub(in crate::compare::torment) fn run(ground: &mut Ground<'_>) -> Result<Verdict> {
    let keys = tried(ground, &KEY_BYTES, |bytes| (bytes, 8))?;
    let values = tried(ground, &VALUE_BYTES, |bytes| (8, bytes))?;
    Ok(judge(&keys, &values, ground.subject.limits))
}

fn tried(
    ground: &mut Ground<'_>,
    lengths: &[u64],
    sizes: impl Fn(u64) -> (u64, u64),
) -> Result<Vec<(u64, Seen)>> {
    let mut tried = Vec::new();
    for &length in lengths {
        let (key_bytes, value_bytes) = sizes(length);
        let (_board, job) = ground.round()?;
        let job = Job {
            role: Role::Probe,
            key_bytes,
            value_bytes,
            ..job
        };
        let bound = ground.extent.bound * 2;
        let ended = ground.starter.run(&job, bound)?;
        let seen = match ended {
            None => Seen::Hung,
            Some(ended) => match (&ended.answer, ended.fault()) {
                (Some(answer), None) => match answer.seen.as_str() {
                    "same" => Seen::Same,
                    "refused" => Seen::Refused(answer.means.clone()),
                    "missing" => Seen::Missing,
                    _ => Seen::Other,
                },
                (Some(answer), Some(why)) if answer.opened => Seen::Refused(why),
                (_, why) => Seen::Died(why.unwrap_or_default()),
            },
        };
        let broken = !matches!(seen, Seen::Same | Seen::Refused(_));
        tried.push((length, seen));
        if broken {
            ground.renew()?;
        }
    }
    // The next trial begins with an empty store.
    ground.renew()?;
    Ok(tried)
}

fn judge(keys: &[(u64, Seen)], values: &[(u64, Seen)], documented: &str) -> Verdict {
    let all = || keys.iter().chain(values);
    let outcome = match () {
        () if all().any(|(_, seen)| matches!(seen, Seen::Hung)) => Outcome::Hangs,
        () if all().any(|(_, seen)| matches!(seen, Seen::Died(_))) => Outcome::Dies,
        () if all().any(|(_, seen)| matches!(seen, Seen::Missing | Seen::Other)) => Outcome::Loses,
        () if all().any(|(_, seen)| matches!(seen, Seen::Refused(_))) => Outcome::Refuses,
        () => Outcome::Holds,
    };
    let mut said = vec![told("key", keys), told("value", values)];
    if !documented.is_empty() {
        said.push(documented.to_owned());
    }
    Verdict::new(outcome, said.join("; "), (keys.len() + values.len()) as u32)
}

/// "keys up to 511 bytes taken, 0 and 512 to 1048576 bytes refused (too long)".
fn told(what: &str, tried: &[(u64, Seen)]) -> String {
    let taken = tried
        .iter()
        .filter(|(_, seen)| *seen == Seen::Same)
        .map(|(bytes, _)| *bytes)
        .max();
    let mut said = vec![match taken {
        Some(bytes) => format!("{what}s up to {bytes} bytes taken"),
        None => format!("no {what} taken"),
    }];
    let mut lengths: Vec<_> = tried
        .iter()
        .filter(|(_, seen)| *seen != Seen::Same)
        .collect();
    lengths.sort_by_key(|(bytes, _)| *bytes);
    let mut groups: Vec<(String, Vec<u64>)> = Vec::new();
    for (bytes, seen) in lengths {
        let word = match seen {
            Seen::Refused(why) if why.is_empty() => "refused".to_owned(),
            Seen::Refused(why) => format!("refused ({why})"),
            Seen::Missing => "taken and not there".to_owned(),
            Seen::Other => "come back as others".to_owned(),
            Seen::Died(why) => format!("end the process ({why})"),
            Seen::Hung | Seen::Same => "never answered".to_owned(),
        };
        match groups.iter_mut().find(|(known, _)| *known == word) {
            Some((_, group)) => group.push(*bytes),
            None => groups.push((word, vec![*bytes])),
        }
    }
    for (word, group) in groups {
        let group: Vec<String> = group.iter().map(u64::to_string).collect();
        said.push(format!("of {} bytes {word}", group.join(", ")));
    }
    said.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_counts_and_all_is_told() {
        let long = || Seen::Refused("too long".to_owned());
        let keys = [(1, Seen::Same), (512, long()), (1024, long())];
        let verdict = judge(&keys, &[(1, Seen::Same)], "");
        assert_eq!(verdict.outcome, Outcome::Refuses);
        let words = "keys up to 1 bytes taken, of 512, 1024 bytes refused (too long)";
        assert!(verdict.detail.starts_with(words), "{}", verdict.detail);
        let lost = judge(&keys, &[(1, Seen::Missing)], "").outcome;
        assert_eq!(lost, Outcome::Loses);
        assert_eq!(
            judge(&[(1, Seen::Same)], &[(1, Seen::Same)], "").outcome,
            Outcome::Holds
        );
        assert_eq!(
            judge(&[(1, Seen::Died(String::new()))], &[], "").outcome,
            Outcome::Dies
        );
    }
}
