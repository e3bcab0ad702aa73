//! Several processes change the same keys: no change is lost, none is made twice.

use crate::support::part::{Actor, hear, play, say};
use crate::support::{Dir, Random, assert_clean};
use tavola::{Attributes, CasOutcome, Expiry, Table};

const PROCESSES: u64 = 6;
const COUNTERS: u64 = 4;
const ROUNDS: u64 = 20_000;

fn counter(number: u64) -> Vec<u8> {
    format!("counter {number}").into_bytes()
}

fn number_in(value: &[u8]) -> u64 {
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

/// Starts the same part in several processes, lets them go at once, and returns what each reports.
fn together(test: &str, part: &str, path: &str) -> Vec<String> {
    let mut actors: Vec<Actor> = (0..PROCESSES)
        .map(|seed| Actor::start(test, part, &[path, &seed.to_string()]))
        .collect();
    actors.iter_mut().for_each(|actor| actor.send("go"));
    let answers = actors.iter_mut().map(Actor::hear).collect();
    actors.into_iter().for_each(Actor::finish);
    answers
}

/// The table, a source of chance of one's own, once the test says go.
fn begin(args: &[String]) -> (Table, Random) {
    let table = Table::open(&args[0]).unwrap();
    let seed = args[1].parse::<u64>().unwrap() + 1;
    hear().unwrap();
    (table, Random::new(seed))
}

fn create(dir: &Dir) -> (Table, String) {
    let path = dir.table("t");
    let table = Table::options().max_size(16 << 20).create(&path).unwrap();
    (table, path.into_os_string().into_string().unwrap())
}

fn sum_of(answers: &[String]) -> u64 {
    answers
        .iter()
        .map(|answers| answers.parse::<u64>().unwrap())
        .sum()
}

/// Counts up by `incr`, by `update` and by cas, all on the same keys; reports its sum.
fn count(args: &[String]) {
    let (table, mut random) = begin(args);
    let mut sum = 0;
    for _ in 0..ROUNDS {
        let key = counter(random.below(COUNTERS));
        let by = random.below(100);
        match random.below(4) {
            0 | 1 => drop(table.incr(&key, by).unwrap()),
            2 => {
                let added = |old: Option<&[u8]>| {
                    let old = old.map_or(0, number_in);
                    Some((old + by).to_string().into_bytes())
                };
                table.update(&key, added).unwrap();
            }
            _ => loop {
                let Some((old, token)) = table.get_with_token(&key).unwrap() else {
                    table.add(&key, b"0").unwrap();
                    continue;
                };
                let new = (number_in(&old) + by).to_string();
                let outcome = table.compare_and_swap(&key, token, new.as_bytes()).unwrap();
                if outcome == CasOutcome::Swapped {
                    break;
                }
            },
        }
        sum += by;
    }
    say(sum);
}

#[test]
fn sums_are_exact_for_every_kind_of_counting() {
    play(&[("count", count)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let answers = together("sums_are_exact_for_every_kind_of_counting", "count", &path);
    let found: u64 = (0..COUNTERS)
        .map(|number| number_in(&table.get(counter(number)).unwrap().unwrap()))
        .sum();
    assert_eq!(found, sum_of(&answers));
    assert_clean(&table);
}

/// Puts jobs and takes jobs; reports how many it took and their sum.
fn work(args: &[String]) {
    let (table, mut random) = begin(args);
    let mine = args[1].parse::<u64>().unwrap() * ROUNDS;
    let (mut count, mut sum) = (0, 0);
    for job in mine..mine + ROUNDS {
        table
            .set(format!("job {job}").as_bytes(), job.to_string().as_bytes())
            .unwrap();
        // Somebody's, most likely taken or not there yet.
        let near = random.below(PROCESSES) * ROUNDS + job % ROUNDS;
        let wanted = near.saturating_sub(random.below(4));
        if let Some(taken) = table.take(format!("job {wanted}").as_bytes()).unwrap() {
            assert_eq!(number_in(&taken), wanted);
            (count, sum) = (count + 1, sum + wanted);
        }
    }
    say(format!("{count} {sum}"));
}

#[test]
fn each_job_is_taken_once() {
    play(&[("work", work)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let answers = together("each_job_is_taken_once", "work", &path);
    let (mut count, mut sum) = (0, 0);
    for answers in answers {
        let (taken, of) = answers.split_once(' ').unwrap();
        count += taken.parse::<u64>().unwrap();
        sum += of.parse::<u64>().unwrap();
    }
    assert!(count > ROUNDS / 4, "only {count} jobs were taken");
    for entry in table.iter() {
        let (_, value) = entry.unwrap();
        (count, sum) = (count + 1, sum + number_in(&value));
    }
    let jobs = PROCESSES * ROUNDS;
    assert_eq!((count, sum), (jobs, jobs * (jobs - 1) / 2));
    assert_clean(&table);
}

/// Adds keys that others add too; reports how many were its own.
fn claim(args: &[String]) {
    let (table, _) = begin(args);
    let mut won = 0;
    for number in 0..ROUNDS {
        won += u64::from(table.add(number.to_le_bytes(), args[1].as_bytes()).unwrap());
    }
    say(won);
}

#[test]
fn of_many_that_add_a_key_one_succeeds() {
    play(&[("claim", claim)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let answers = together("of_many_that_add_a_key_one_succeeds", "claim", &path);
    assert_eq!(sum_of(&answers), ROUNDS);
    let mut owned = vec![0; PROCESSES as usize];
    for number in 0..ROUNDS {
        let owner = table.get(number.to_le_bytes()).unwrap().unwrap();
        owned[number_in(&owner) as usize] += 1;
    }
    let answers: Vec<u64> = answers
        .iter()
        .map(|answers| answers.parse().unwrap())
        .collect();
    assert_eq!(owned, answers);
    assert_clean(&table);
}

/// Appends to one line; every word of everybody is in it once, in the order of its writer.
fn append(args: &[String]) {
    let (table, _) = begin(args);
    for number in 0..300 {
        assert!(
            table
                .append(b"line", format!("{} {number};", args[1]).as_bytes())
                .unwrap()
        );
    }
    say("done");
}

#[test]
fn appended_words_are_all_there_in_order() {
    play(&[("append", append)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    table.set(b"line", b"").unwrap();
    together("appended_words_are_all_there_in_order", "append", &path);
    let line = String::from_utf8(table.get(b"line").unwrap().unwrap()).unwrap();
    let mut next = vec![0; PROCESSES as usize];
    for word in line.split_terminator(';') {
        let (process, number) = word.split_once(' ').unwrap();
        let process: usize = process.parse().unwrap();
        assert_eq!(number.parse::<u64>().unwrap(), next[process]);
        next[process] += 1;
    }
    assert_eq!(next, vec![300; PROCESSES as usize]);
}

const NEW_KEYS: u64 = 3_000;

/// Appends to keys that are missing, or prepends; reports the sum of the lengths that it was told.
fn join(args: &[String]) {
    let (table, _) = begin(args);
    let (seed, mut sum) = (args[1].parse::<u32>().unwrap(), 0);
    let attributes = Attributes {
        expiry: Expiry::Never,
        flags: seed + 1,
    };
    for number in 0..NEW_KEYS {
        let (key, word) = (number.to_le_bytes(), [b'a' + seed as u8; 3]);
        sum += match seed % 2 {
            0 => table.append_with(key, word, attributes),
            _ => table.prepend_with(key, word, attributes),
        }
        .unwrap();
    }
    say(sum);
}

/// The first creates a key, in which the words of all others are, too.
#[test]
fn keys_that_are_made_by_appending_have_all_words() {
    play(&[("join", join)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let test = "keys_that_are_made_by_appending_have_all_words";
    let answers = together(test, "join", &path);
    // Each was told another length: of one word, of two, and so on.
    let lengths = (1..=PROCESSES).map(|words| 3 * words).sum::<u64>();
    assert_eq!(sum_of(&answers), NEW_KEYS * lengths);
    for number in 0..NEW_KEYS {
        let entry = table.get_entry(number.to_le_bytes()).unwrap().unwrap();
        let words: Vec<u8> = entry.value.chunks(3).map(|word| word[0]).collect();
        assert!(entry.value.chunks(3).all(|word| *word == [word[0]; 3]));
        // The one that created it gave it its flags.
        let creator = entry.attributes.flags as usize - 1;
        let at = words.iter().position(|word| *word == b'a' + creator as u8);
        let (before, after) = words.split_at(at.expect("its word"));
        assert!(before.iter().all(|word| (word - b'a') % 2 == 1));
        assert!(
            after[1..]
                .iter()
                .all(|word| (word - b'a').is_multiple_of(2))
        );
        let all: std::collections::BTreeSet<_> = words.iter().collect();
        let count = PROCESSES as usize;
        assert_eq!((words.len(), all.len()), (count, count), "{words:?}");
    }
    assert_clean(&table);
}

/// Writes one's own versions and reads others': no process sees a key's version go back.
fn observe(args: &[String]) {
    let (table, mut random) = begin(args);
    let me: u64 = args[1].parse().unwrap();
    let mut last = vec![0u64; PROCESSES as usize];
    for version in 1..=ROUNDS {
        table
            .set(
                me.to_le_bytes(),
                crate::support::value_of(b"v", version, 64),
            )
            .unwrap();
        last[me as usize] = version;
        let other = random.below(PROCESSES);
        if let Some(value) = table.get(other.to_le_bytes()).unwrap() {
            let seen = crate::support::version_of(b"v", &value).unwrap();
            assert!(
                seen >= last[other as usize],
                "{seen} after {}",
                last[other as usize]
            );
            last[other as usize] = seen;
        } else {
            assert_eq!(last[other as usize], 0, "a key that was there is gone");
        }
    }
    say(last.iter().sum::<u64>());
}

#[test]
fn no_process_sees_a_key_go_back() {
    play(&[("observe", observe)]);
    let dir = Dir::new();
    let (table, path) = create(&dir);
    let answers = together("no_process_sees_a_key_go_back", "observe", &path);
    assert!(sum_of(&answers) > PROCESSES * ROUNDS);
    assert_clean(&table);
}
