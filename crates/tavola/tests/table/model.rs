//! Random operations against a map of the standard library: the answers are the same.

use crate::support::{Random, over_every_table};
use tavola::Table;
use tavola_model::{Answer, End, Life, Model, Op, Refusal, agree, play};

/// Keys from a small set, so that operations meet; among them an empty and a long one.
fn key(random: &mut Random, keys: u64) -> Vec<u8> {
    match random.below(keys) {
        0 => Vec::new(),
        1 => vec![b'k'; 300],
        2 => vec![b'K'; 17_000],
        n => n.to_le_bytes().to_vec(),
    }
}

fn value(random: &mut Random) -> Vec<u8> {
    let len = match random.below(40) {
        0 => 0,
        1 => random.below(60_000),
        2..=4 => random.below(5_000),
        5..=7 => return random.below(1 << 40).to_string().into_bytes(),
        _ => random.below(40),
    };
    random.bytes(len as usize)
}

fn draw(random: &mut Random, keys: u64) -> Op {
    let key = key(random, keys);
    match random.below(28) {
        0 | 1 => Op::Set(key, value(random)),
        2 => Op::Add(key, value(random)),
        3 => Op::Replace(key, value(random)),
        4 => Op::Append(key, random.bytes(9)),
        5 => Op::Prepend(key, random.bytes(9)),
        6 => Op::Swap(key, value(random)),
        7 | 8 => Op::Turn(key, value(random)),
        9 | 10 => Op::Remove(key),
        11 | 12 => Op::Take(key),
        13 => Op::Incr(key, random.below(1000)),
        14 => Op::Decr(key, random.below(1000)),
        15 => Op::CompareAndSwap(key, value(random), Some(random.bytes(9))),
        16 => Op::CompareAndSwap(key, value(random), None),
        17 => Op::Lease(key, End::Fill(value(random))),
        18 => Op::Contains(key),
        19 | 20 => transaction(random, keys),
        21 => Op::AppendWith(key, random.bytes(9), Life::Hours(2), 7),
        22 => Op::PrependWith(key, random.bytes(9), Life::Forever, 0),
        _ => Op::Get(key),
    }
}

/// Changes of a few keys at once, some of them twice.
fn transaction(random: &mut Random, keys: u64) -> Op {
    let changes = (0..1 + random.below(6)).map(|_| {
        let key = key(random, keys);
        let is_set = random.below(3) > 0;
        (key, is_set.then(|| value(random)))
    });
    Op::Transaction(changes.collect())
}

/// Does random operations to a table and to a model.
fn run(table: &Table, seed: u64, keys: u64, rounds: u64) {
    let mut random = Random::new(seed);
    let mut model = Model::default();
    for _ in 0..rounds {
        let answer = play(table, &mut model, &draw(&mut random, keys)).unwrap();
        assert_ne!(answer, Answer::Refused(Refusal::Full));
    }
    for op in [Op::Check, Op::Compact, Op::Repair, Op::Clear] {
        play(table, &mut model, &op).unwrap();
        agree(table, &model).unwrap();
    }
}

fn rounds(rounds: u64) -> u64 {
    if cfg!(miri) { rounds / 200 } else { rounds }
}

#[test]
fn few_keys_many_changes() {
    over_every_table(Table::options().max_size(32 << 20), |table| {
        run(table, 1, 20, rounds(20_000));
    });
    let versions = Table::options().max_size(32 << 20).versions(true);
    over_every_table(versions, |table| run(table, 3, 20, rounds(10_000)));
}

#[test]
fn many_keys_splits_and_moves() {
    over_every_table(Table::options().max_size(64 << 20), |table| {
        run(table, 2, 20_000, rounds(60_000));
    });
}

#[test]
fn growing_and_shrinking() {
    let keys = rounds(60_000);
    over_every_table(Table::options().max_size(64 << 20), |table| {
        let mut model = Model::default();
        for round in 0..3u64 {
            let pairs =
                (0..keys).map(|n| (n.to_le_bytes().into(), (n ^ round).to_le_bytes().into()));
            play(table, &mut model, &Op::SetMany(pairs.collect())).unwrap();
            agree(table, &model).unwrap();
            for n in 0..keys {
                assert!(table.remove(n.to_le_bytes()).unwrap());
            }
            model.clear();
            agree(table, &model).unwrap();
        }
    });
}
