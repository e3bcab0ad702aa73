//! Queues and processes that die, leave, are forked or stopped, and files that were damaged: no
//! element is lost or doubled, and what the dead held is reported and can be taken.

#![cfg(not(miri))]

use crate::support::part::{Actor, alone, hear, play, say};
use crate::support::patience::{HANG_S, Prompt};
use crate::support::process::{alarm, fork};
use crate::support::queues::{assert_whole, options, three};
use crate::support::{Dir, Random, assert_clean};
use std::collections::BTreeSet;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tavola::{Error, QueuePool, Table};

const SECOND: Duration = Duration::from_secs(1);

/// An actor: takes elements and keeps them until it is killed.
fn keep(args: &[String]) {
    alarm(HANG_S);
    let [free, ..] = three(&QueuePool::open(&args[0]).unwrap());
    let mut run = [0; 100];
    assert_eq!(free.pop_many(&mut run).unwrap(), 100);
    say("kept");
    hear();
}

#[test]
fn elements_held_by_dead_and_closed_processes_are_reported_and_taken() {
    play(&[("keep", keep)]);
    let dir = Dir::new();
    let path = dir.table("own");
    let pool = options().create(&path).unwrap();
    let mut actors: Vec<_> = (0..2)
        .map(|_| {
            let name = "elements_held_by_dead_and_closed_processes_are_reported_and_taken";
            let mut actor = Actor::start(name, "keep", &[path.to_str().unwrap()]);
            assert_eq!(actor.hear(), "kept");
            actor
        })
        .collect();
    assert!(pool.lost().unwrap().is_empty());
    assert!(pool.reclaim().unwrap().is_empty());
    let leaves = actors.pop().unwrap();
    leaves.kill();
    assert_eq!(pool.lost().unwrap(), (100..200).collect::<Vec<_>>());
    assert_eq!(pool.lost().unwrap().len(), 100);
    {
        // Another handle of this process is another participant.
        let other = QueuePool::open(&path).unwrap();
        assert_eq!(other.reclaim().unwrap(), (100..200).collect::<Vec<_>>());
        assert!(pool.lost().unwrap().is_empty());
    }
    let mut mine = pool.reclaim().unwrap();
    assert_eq!(mine, (100..200).collect::<Vec<_>>());
    actors.pop().unwrap().kill();
    mine.extend(pool.reclaim().unwrap());
    assert_eq!(mine.len(), 200);
    pool.queue("todo").unwrap().push_many(&mine).unwrap();
    assert!(pool.check().unwrap().is_clean());
    assert_whole(&pool, &[]);
}

#[test]
fn a_forked_child_holds_nothing_of_its_parents() {
    alone("a_forked_child_holds_nothing_of_its_parents", &[], || {
        let dir = Dir::new();
        let pool = options().create(dir.table("own")).unwrap();
        let [free, todo, done] = three(&pool);
        let held = free.pop().unwrap().unwrap();
        let watch = done.watch().unwrap();
        let child = fork(|| {
            assert!(matches!(todo.push(held), Err(Error::NotHeld { .. })));
            assert_eq!(free.pass(&todo, 10).unwrap(), 10);
            drop(watch);
            free.pop().unwrap().unwrap();
        });
        child.finish();
        todo.push(held).unwrap();
        assert_eq!(pool.reclaim().unwrap(), [11]);
        assert_eq!(todo.len(), 11);
        assert_whole(&pool, &[11]);
    });
}

/// Moves elements at random between queues, in runs of all lengths, forever.
fn shuffle(path: &Path, seed: u64) {
    let pool = QueuePool::open(path).unwrap();
    let queues = three(&pool);
    let mut random = Random::new(seed);
    let mut held = Vec::new();
    let mut run = [0; 200];
    loop {
        let from = &queues[random.below(3) as usize];
        let most = 1 << random.below(8);
        let count = from.pop_many(&mut run[..most]).unwrap();
        held.extend(&run[..count]);
        let to = &queues[random.below(3) as usize];
        let kept = random.below(held.len().min(50) as u64 + 1) as usize;
        to.push_many(&held.split_off(kept)).unwrap();
        queues[random.below(3) as usize]
            .pass(&queues[random.below(3) as usize], most)
            .unwrap();
    }
}

#[test]
fn no_element_is_lost_or_doubled_by_a_death() {
    alone("no_element_is_lost_or_doubled_by_a_death", &[], || {
        let dir = Dir::new();
        let path = dir.table("own");
        let pool = options().create(&path).unwrap();
        let mut random = Random::new(3);
        let mut children: Vec<_> = (0..4)
            .map(|seed| fork(|| shuffle(&path, seed + 1)))
            .collect();
        let mut reclaimed = 0;
        let prompt = Prompt::new(SECOND);
        for round in 0..3000 {
            if round >= 150 && reclaimed > 0 {
                break;
            }
            std::thread::sleep(Duration::from_micros(random.below(3000)));
            let at = random.below(4) as usize;
            children[at].signal(libc::SIGKILL);
            let dead = std::mem::replace(&mut children[at], fork(|| shuffle(&path, round + 100)));
            assert_eq!(dead.end(), -libc::SIGKILL);
            let begun = Instant::now();
            let mine = pool.reclaim().unwrap();
            reclaimed += mine.len();
            pool.queue("free").unwrap().push_many(&mine).unwrap();
            prompt.done(begun);
        }
        for child in children {
            child.signal(libc::SIGKILL);
            child.end();
        }
        let mine = pool.reclaim().unwrap();
        assert!(pool.check().unwrap().is_clean());
        assert!(reclaimed > 0);
        prompt.assert_late_at_most(5);
        assert_whole(&pool, &mine);
    });
}

#[test]
fn of_many_that_open_a_pool_at_once_one_makes_it() {
    alone("of_many_that_open_a_pool_at_once_one_makes_it", &[], || {
        let dir = Dir::new();
        for round in 0..10 {
            let path = dir.table(&format!("own {round}"));
            let children: Vec<_> = (0..16)
                .map(|_| {
                    fork(|| {
                        let pool = options().open(&path).unwrap();
                        let [free, todo, _] = three(&pool);
                        assert_eq!(free.pass(&todo, 10).unwrap(), 10);
                    })
                })
                .collect();
            children.into_iter().for_each(|child| child.finish());
            let pool = QueuePool::open(&path).unwrap();
            assert_eq!(pool.queue("todo").unwrap().len(), 160);
            assert_whole(&pool, &[]);
        }
    });
}

#[test]
fn a_stopped_process_keeps_only_its_elements() {
    alone("a_stopped_process_keeps_only_its_elements", &[], || {
        let dir = Dir::new();
        let path = dir.table("own");
        let pool = options().create(&path).unwrap();
        let [free, todo, _] = three(&pool);
        let mut random = Random::new(5);
        let moving = AtomicBool::new(true);
        let child = fork(|| shuffle(&path, 9));
        std::thread::scope(|scope| {
            let moves = scope.spawn(|| {
                while moving.load(Relaxed) {
                    free.pass(&todo, 100).unwrap();
                    todo.pass(&free, 100).unwrap();
                }
            });
            for _ in 0..100 {
                child.signal(libc::SIGSTOP);
                std::thread::sleep(Duration::from_micros(random.below(2000)));
                // It lives: what it holds is its own.
                child.signal(libc::SIGCONT);
                std::thread::sleep(Duration::from_micros(random.below(1000)));
                assert!(pool.reclaim().unwrap().is_empty());
            }
            moving.store(false, Relaxed);
            moves.join().unwrap();
        });
        child.signal(libc::SIGKILL);
        child.end();
        let mine = pool.reclaim().unwrap();
        assert_whole(&pool, &mine);
    });
}

#[test]
fn of_many_that_add_a_queue_at_once_one_adds_it() {
    alone("of_many_that_add_a_queue_at_once_one_adds_it", &[], || {
        let dir = Dir::new();
        let path = dir.table("own");
        for round in 0..10 {
            let pool = options().queue_room(20).create(&path).unwrap();
            let children: Vec<_> = (0..16)
                .map(|number| {
                    let path = &path;
                    fork(move || {
                        let pool = QueuePool::open(path).unwrap();
                        let own = pool.add_queue(&format!("{number}")).unwrap();
                        let shared = match pool.add_queue("shared") {
                            Err(Error::AlreadyThere { .. }) => pool.queue("shared"),
                            added => added,
                        };
                        pool.queue("free").unwrap().pass(&own, 3).unwrap();
                        assert_eq!(own.pass(&shared.unwrap(), 2).unwrap(), 2);
                    })
                })
                .collect();
            children.into_iter().for_each(|child| child.finish());
            let names: BTreeSet<String> = pool.queues().into_iter().collect();
            assert_eq!(
                (names.len(), pool.queues().len()),
                (20, 20),
                "round {round}"
            );
            assert_eq!(pool.queue("shared").unwrap().len(), 32);
            assert!(pool.check().unwrap().is_clean());
            assert_whole(&pool, &[]);
            tavola::names::remove(&path).unwrap();
        }
    });
}

/// Writes a word of the pool's head or of what follows it.
fn write_word(path: &Path, at: u64, word: u32) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    let place = place_of_pool(path) + at;
    file.write_all_at(&word.to_le_bytes(), place).unwrap();
}

/// Where the number is of the queues that have names.
const NAMED: u64 = 32;

#[test]
fn a_damaged_count_of_named_queues_is_restored_from_the_names() {
    let dir = Dir::new();
    let path = dir.table("own");
    let pool = options().queue_room(8).create(&path).unwrap();
    let [free, todo, _] = three(&pool);
    free.pass(&todo, 300).unwrap();
    for damaged in [0, 9, u32::MAX] {
        write_word(&path, NAMED, damaged);
        let refused = QueuePool::open(&path);
        assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
        for refused in [pool.queue("todo"), pool.add_queue("more")] {
            assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
        }
        let table = Table::open(&path).unwrap();
        let report = table.check().unwrap();
        assert!(report.problems[0].contains("have names"), "{report:?}");
        table.repair().unwrap();
        assert_clean(&table);
        assert_eq!(QueuePool::open(&path).unwrap().queues().len(), 3);
    }
    assert_eq!((free.len(), todo.len()), (700, 300));
    pool.add_queue("more").unwrap();
    assert_whole(&pool, &[]);
}

#[test]
fn elements_of_a_queue_that_lost_its_name_can_be_reclaimed() {
    let dir = Dir::new();
    let path = dir.table("own");
    let pool = options().create(&path).unwrap();
    let [free, todo, _] = three(&pool);
    free.pass(&todo, 300).unwrap();
    write_word(&path, NAMED, 1);
    let table = Table::open(&path).unwrap();
    let report = table.check().unwrap();
    assert!(report.problems[0].contains("no name"), "{report:?}");
    table.repair().unwrap();
    assert_clean(&table);
    let mine = pool.reclaim().unwrap();
    assert_eq!(mine, (0..300).collect::<Vec<_>>());
    assert!(pool.add_queue("todo").unwrap().is_empty());
    assert_whole(&pool, &mine);
}

fn place_of_pool(path: &Path) -> u64 {
    let bytes = std::fs::read(path).unwrap();
    let place = bytes.windows(8).position(|word| word == b"TavolaQP");
    place.unwrap() as u64
}

/// Of all that is before the elements: the pool's head, three queue heads, owners, rings. Only
/// not of the queues' names.
fn damaged_byte(random: &mut Random) -> u64 {
    const HEAD: u64 = 64;
    const QUEUES: u64 = HEAD + 3 * 256;
    const ALL: u64 = QUEUES + 4 * 1000 + 32 + 3 * 4096;
    loop {
        let until = [36, QUEUES, ALL, ALL][random.below(4) as usize];
        let at = random.below(until);
        if !(HEAD..QUEUES).contains(&at) || (at - HEAD) % 256 < 192 {
            return at;
        }
    }
}

/// Every element is somewhere after a repair, whatever bit was changed.
#[test]
fn damage_is_reported_and_repaired() {
    let dir = Dir::new();
    let path = dir.table("own");
    let mut random = Random::new(11);
    let (mut reported, mut refused) = (0, 0);
    for round in 0..300 {
        let pool = options().create(&path).unwrap();
        let [free, todo, _] = three(&pool);
        free.pass(&todo, 300).unwrap();
        let first = todo.pop().unwrap().unwrap();
        todo.push(first).unwrap();
        drop((pool, free, todo));
        let file = std::fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        let at = place_of_pool(&path) + damaged_byte(&mut random);
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).unwrap();
        file.write_all_at(&[byte[0] ^ (1 << random.below(8))], at)
            .unwrap();
        match QueuePool::open(&path) {
            Err(Error::Corrupt { .. }) => refused += 1,
            Err(error) => panic!("round {round}: {error}"),
            Ok(pool) => {
                let table = Table::open(&path).unwrap();
                reported += u32::from(!table.check().unwrap().is_clean());
                table.repair().unwrap();
                assert_clean(&table);
                let mine = pool.reclaim().unwrap();
                let all: BTreeSet<u32> = mine.iter().copied().collect();
                assert_eq!(all.len(), mine.len());
                assert_whole(&pool, &mine);
            }
        }
        tavola::names::remove(&path).unwrap();
    }
    assert!(
        reported > 40 && refused > 40,
        "{reported} reported, {refused} refused"
    );
}
