//! Queues of elements: what goes in comes out once, in order, across threads, processes and
//! handles; who waits is woken.

use crate::support::part::{Actor, play, say};
use crate::support::patience::{HANG_S, MINUTE};
use crate::support::process::alarm;
use crate::support::queues::{ELEMENTS, assert_whole, options, over_every_pool, three};
use crate::support::{Dir, Random, assert_clean};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};
use tavola::{Error, QueueOptions, QueuePool, Table};

#[test]
fn what_is_pushed_is_popped_in_order() {
    over_every_pool(|pool| {
        let [free, todo, done] = three(pool);
        assert_eq!((free.len(), todo.len(), done.len()), (1000, 0, 0));
        assert_eq!(free.pop().unwrap(), Some(0));
        let mut run = [0; 10];
        assert_eq!(free.pop_many(&mut run).unwrap(), 10);
        assert_eq!(run, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        todo.push_many(&[5, 1, 9]).unwrap();
        todo.push(0).unwrap();
        assert_eq!(todo.pass(&done, 3).unwrap(), 3);
        assert_eq!((todo.len(), done.len()), (1, 3));
        assert_eq!(done.pop_many(&mut run).unwrap(), 3);
        assert_eq!(run[..3], [5, 1, 9]);
        assert_eq!(done.pop().unwrap(), None);
        assert!(done.is_empty());
        assert_whole(pool, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    });
}

#[test]
fn a_ring_goes_round_and_round() {
    over_every_pool(|pool| {
        let [free, todo, done] = three(pool);
        let mut random = Random::new(7);
        let turns = if cfg!(miri) { 20 } else { 3000 };
        for _ in 0..turns {
            let most = random.below(400) as usize;
            free.pass(&todo, most).unwrap();
            todo.pass(&done, random.below(400) as usize).unwrap();
            done.pass(&free, random.below(400) as usize).unwrap();
            assert_eq!(free.len() + todo.len() + done.len(), 1000);
        }
        assert!(pool.check().unwrap().is_clean());
        assert_whole(pool, &[]);
    });
}

#[test]
fn only_what_is_held_is_pushed_and_once() {
    over_every_pool(|pool| {
        let [free, todo, _] = three(pool);
        let not_held = |elements: &[u32]| match todo.push_many(elements) {
            Err(Error::NotHeld { element }) => element,
            other => panic!("{other:?}"),
        };
        assert_eq!(not_held(&[7]), 7);
        assert_eq!(not_held(&[ELEMENTS]), ELEMENTS);
        assert_eq!(not_held(&[u32::MAX]), u32::MAX);
        let mut run = [0; 3];
        free.pop_many(&mut run).unwrap();
        // All or none.
        assert_eq!(not_held(&[0, 1, 500]), 500);
        assert_eq!(not_held(&[0, 1, 0]), 0);
        assert_eq!(todo.len(), 0);
        todo.push_many(&run).unwrap();
        assert_eq!(not_held(&[1]), 1);
        assert!(pool.check().unwrap().is_clean());
        assert_whole(pool, &[]);
    });
}

#[test]
fn bytes_of_elements_stay_where_they_are() {
    over_every_pool(|pool| {
        let free = pool.queue("free").unwrap();
        let (a, b) = (free.pop().unwrap().unwrap(), free.pop().unwrap().unwrap());
        pool.write(a, 0, &[1; 24]).unwrap();
        pool.write(b, 4, b"hello").unwrap();
        assert_eq!(pool.element_ptr(b).addr() - pool.element_ptr(a).addr(), 24);
        let mut bytes = [9; 5];
        pool.read(b, 4, &mut bytes).unwrap();
        assert_eq!(&bytes, b"hello");
        pool.read(a, 19, &mut bytes).unwrap();
        assert_eq!(bytes, [1; 5]);
        assert!(std::panic::catch_unwind(|| pool.write(a, 20, b"hello")).is_err());
        assert!(std::panic::catch_unwind(|| pool.element_ptr(ELEMENTS)).is_err());
        free.push_many(&[a, b]).unwrap();
        for refused in [pool.read(a, 0, &mut bytes), pool.write(b, 0, &bytes)] {
            assert!(matches!(refused, Err(Error::NotHeld { .. })));
        }
    });
}

#[test]
fn names_and_numbers_out_of_bounds_are_refused() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(4 << 20)
        .create(dir.table("t"))
        .unwrap();
    let bad = |options: QueueOptions| match options.create_in(&table, "p") {
        Err(Error::BadOption { option, .. }) => option,
        other => panic!("{other:?}"),
    };
    assert_eq!(bad(QueueOptions::new(0, 8)), "elements");
    assert_eq!(bad(QueueOptions::new(1 << 31, 8)), "elements");
    assert_eq!(bad(QueueOptions::new(1 << 30, 1 << 20)), "elements");
    assert_eq!(bad(options().queues(Vec::<String>::new())), "queues");
    assert_eq!(bad(options().queues(["a", "b", "a"])), "queues");
    assert_eq!(bad(options().queues(["a".repeat(57)])), "queues");
    assert_eq!(bad(options().queue_room(2)), "queue_room");
    assert_eq!(bad(options().queue_room(65_537)), "queue_room");
    for name in [String::new(), "n".repeat(97)] {
        let refused = options().create_in(&table, &name);
        assert!(matches!(refused, Err(Error::BadName { .. })));
    }
    let too_much = QueueOptions::new(1 << 20, 64).create_in(&table, "p");
    assert!(matches!(too_much, Err(Error::Full { .. })), "{too_much:?}");
    assert!(matches!(table.pool("p"), Err(Error::NotThere { .. })));
    let pool = options().create_in(&table, &"n".repeat(96)).unwrap();
    assert!(matches!(pool.queue("gone"), Err(Error::NotThere { .. })));
    let again = options().create_in(&table, &"n".repeat(96));
    assert!(matches!(again, Err(Error::AlreadyThere { .. })));
    assert_eq!(
        options()
            .open_in(&table, &"n".repeat(96))
            .unwrap()
            .elements(),
        ELEMENTS
    );
    // A table does not become a pool by the way.
    assert!(matches!(
        options().open(dir.table("t")),
        Err(Error::NotThere { .. })
    ));
    let own = dir.table("own");
    options().create(&own).unwrap();
    assert!(matches!(
        options().create(&own),
        Err(Error::AlreadyExists { .. })
    ));
    assert!(matches!(
        QueuePool::open(dir.table("t")),
        Err(Error::NotThere { .. })
    ));
}

#[test]
fn queues_are_added_as_far_as_there_is_room() {
    let table = Table::options()
        .max_size(4 << 20)
        .shards(1)
        .private()
        .unwrap();
    let pool = options().queue_room(5);
    let pool = pool.create_in(&table, "pool").unwrap();
    let other = table.pool("pool").unwrap();
    assert_eq!((pool.queues().len(), pool.queue_room()), (3, 5));
    assert!(matches!(other.queue("urgent"), Err(Error::NotThere { .. })));
    let urgent = pool.add_queue("urgent").unwrap();
    let theirs = other.queue("urgent").unwrap();
    let [free, ..] = three(&pool);
    assert_eq!(free.pass(&urgent, 10).unwrap(), 10);
    assert_eq!(theirs.pop().unwrap(), Some(0));
    theirs.push(0).unwrap();
    for taken in ["free", "urgent"] {
        let refused = other.add_queue(taken);
        assert!(matches!(refused, Err(Error::AlreadyThere { .. })));
    }
    for bad in [String::new(), "n".repeat(57), "a\0b".to_owned()] {
        let refused = pool.add_queue(&bad);
        assert!(matches!(refused, Err(Error::BadName { .. })));
    }
    let long = "n".repeat(56);
    other.add_queue(&long).unwrap();
    let full = pool.add_queue("one more");
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    assert_eq!(pool.queues(), ["free", "todo", "done", "urgent", &long]);
    assert_clean(&table);
    assert_whole(&other, &[]);
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_pool_has_room_for_65536_queues() {
    let dir = Dir::new();
    let names: Vec<String> = (0..65_535)
        .map(|number| format!("queue {number}"))
        .collect();
    let pool = QueueOptions::new(10, 8).queues(&names).queue_room(65_536);
    let pool = pool.create(dir.table("own")).unwrap();
    let (first, last) = (pool.queue("queue 0"), pool.add_queue("last"));
    let (first, last) = (first.unwrap(), last.unwrap());
    assert_eq!(first.pass(&last, 3).unwrap(), 3);
    assert_eq!((first.len(), last.len()), (7, 3));
    assert!(pool.reclaim().unwrap().is_empty());
    assert!(pool.check().unwrap().is_clean());
    assert_eq!(pool.queues().len(), 65_536);
    assert!(matches!(pool.add_queue("more"), Err(Error::Full { .. })));
}

#[test]
fn a_table_has_room_for_sixteen_pools_and_keeps_them() {
    let dir = Dir::new();
    let path = dir.table("t");
    let names: Vec<String> = (0..16).map(|number| format!("pool {number}")).collect();
    {
        let table = Table::options().max_size(8 << 20).create(&path).unwrap();
        for name in &names {
            options().create_in(&table, name).unwrap();
        }
        let full = options().create_in(&table, "one more");
        assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    }
    let table = Table::open(&path).unwrap();
    assert_eq!(table.pools().unwrap(), names);
    assert!(table.stats().unwrap().queue_and_log_bytes >= 16 * 1000 * 24);
    table.clear().unwrap();
    table.compact().unwrap();
    for name in &names {
        assert_whole(&table.pool(name).unwrap(), &[]);
    }
    assert_clean(&table);
}

#[test]
fn a_pool_that_finds_no_room_leaves_nothing() {
    let dir = Dir::new();
    let table = Table::options()
        .max_size(4 << 20)
        .create(dir.table("t"))
        .unwrap();
    table.set(b"k", b"v").unwrap();
    let before = table.stats().unwrap();
    let full = QueueOptions::new(100_000, 100).create_in(&table, "p");
    assert!(matches!(full, Err(Error::Full { .. })));
    let after = table.stats().unwrap();
    assert_eq!(before.queue_and_log_bytes, after.queue_and_log_bytes);
    assert!(after.resident_bytes <= before.resident_bytes + (64 << 10));
    assert_clean(&table);
    let full = QueueOptions::new(1000, 100).create(dir.table("t"));
    assert!(matches!(full, Err(Error::AlreadyExists { .. })));
    assert_eq!(table.get(b"k").unwrap().unwrap(), b"v");
}

#[test]
fn a_read_only_handle_changes_nothing() {
    let dir = Dir::new();
    let path = dir.table("own");
    let writes = options().queue_room(4).create(&path).unwrap();
    let table = Table::open_read_only(&path).unwrap();
    let pool = table.pool("").unwrap();
    let [free, todo, _] = three(&pool);
    let refused = pool.add_queue("urgent");
    assert!(matches!(refused, Err(Error::ReadOnly)));
    writes.add_queue("urgent").unwrap();
    assert!(pool.queue("urgent").unwrap().is_empty());
    assert_eq!((free.len(), todo.len()), (1000, 0));
    for refused in [free.pop().map(drop), free.push(1), pool.reclaim().map(drop)] {
        assert!(matches!(refused, Err(Error::ReadOnly)));
    }
    assert!(table.check().unwrap().is_clean());
}

#[test]
fn many_threads_push_and_pop() {
    over_every_pool(|pool| {
        let rounds = if cfg!(miri) { 10 } else { 2000 };
        std::thread::scope(|scope| {
            for seed in 1..5 {
                let queues = three(pool);
                scope.spawn(move || {
                    let mut random = Random::new(seed);
                    let mut held = Vec::new();
                    let mut run = [0; 64];
                    for _ in 0..rounds {
                        let from = &queues[random.below(3) as usize];
                        let count = from.pop_many(&mut run[..random.below(64) as usize]);
                        held.extend(&run[..count.unwrap()]);
                        let to = &queues[random.below(3) as usize];
                        let split = held.len() - random.below(held.len() as u64 + 1) as usize;
                        to.push_many(&held.split_off(split)).unwrap();
                    }
                    queues[0].push_many(&held).unwrap();
                });
            }
        });
        assert_whole(pool, &[]);
    });
}

#[test]
fn a_wait_ends_when_something_comes_or_the_time_is_up() {
    over_every_pool(|pool| {
        let [free, todo, done] = three(pool);
        let begun = Instant::now();
        let short = Duration::from_millis(30);
        assert_eq!(todo.pop_wait(short).unwrap(), None);
        assert!(begun.elapsed() >= short);
        assert_eq!(todo.pass_wait(&done, 5, short).unwrap(), 0);
        assert_eq!(free.pass_wait(&done, 5, Duration::MAX).unwrap(), 5);
        std::thread::scope(|scope| {
            let waits: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| todo.pop_wait(10 * MINUTE).unwrap()))
                .collect();
            std::thread::sleep(short);
            for _ in 0..2 {
                assert_eq!(free.pass(&todo, 1).unwrap(), 1);
            }
            assert_eq!(free.pass(&todo, 2).unwrap(), 2);
            let mut got: Vec<u32> = waits
                .into_iter()
                .map(|w| w.join().unwrap().unwrap())
                .collect();
            got.sort_unstable();
            assert_eq!(got, [5, 6, 7, 8]);
        });
        assert!(begun.elapsed() < 5 * MINUTE);
    });
}

/// An actor: sends back what comes, until it is asked to end.
fn echo(args: &[String]) {
    alarm(HANG_S);
    let [_, todo, done] = three(&QueuePool::open(&args[0]).unwrap());
    say("ready");
    while todo.pass_wait(&done, 100, MINUTE).unwrap() > 0 {}
}

#[test]
#[cfg_attr(miri, ignore)]
fn another_process_is_woken() {
    play(&[("echo", echo)]);
    let dir = Dir::new();
    let path = dir.table("own");
    let pool = options().create(&path).unwrap();
    let path = path.to_str().unwrap();
    let mut actor = Actor::start("another_process_is_woken", "echo", &[path]);
    assert_eq!(actor.hear(), "ready");
    let [free, todo, done] = three(&pool);
    let (begun, active) = (Instant::now(), active_time(actor.pid()));
    for round in 0..200 {
        assert_eq!(free.pass(&todo, 1 + round % 3).unwrap(), 1 + round % 3);
        let mut left = 1 + round % 3;
        while left > 0 {
            let count = done.pass_wait(&free, left, MINUTE).unwrap();
            assert!(count > 0, "nothing came back in round {round}");
            left -= count;
        }
    }
    let took = begun.elapsed();
    let (Some(before), Some(after)) = (active, active_time(actor.pid())) else {
        println!("the system does not count how long threads wait for a processor");
        return;
    };
    // The time in which neither of the two runs or waits for a processor, which a busy machine does
    // not make longer. If a sleeper is woken there is next to none of it; if naps of 50 ms have to
    // end by themselves, they are most of the time: more than 30 ms a round.
    let idle = took.saturating_sub(after - before);
    println!("{idle:?} of {took:?} idle");
    assert!(idle < Duration::from_secs(2), "{idle:?} of {took:?}");
}

/// Returns how long this thread and those of another process have run or waited for a processor.
fn active_time(pid: i32) -> Option<Duration> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let tasks = tasks.filter_map(|task| Some(task.ok()?.path().join("schedstat")));
    let mut sum_ns = 0;
    for path in tasks.chain(["/proc/thread-self/schedstat".into()]) {
        let text = std::fs::read_to_string(path).ok()?;
        let mut fields = text.split_whitespace().map(str::parse::<u64>);
        sum_ns += fields.next()?.ok()? + fields.next()?.ok()?;
    }
    (sum_ns > 0).then_some(Duration::from_nanos(sum_ns))
}

fn is_readable(fd: &impl AsRawFd, ms: i32) -> bool {
    let mut fd = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    // SAFETY: one place, valid for the call.
    unsafe { libc::poll(&raw mut fd, 1, ms) == 1 }
}

#[test]
#[cfg_attr(miri, ignore)]
fn a_watched_queue_is_readable_while_it_holds_something() {
    over_every_pool(|pool| {
        let [free, todo, _] = three(pool);
        let watch = todo.watch().unwrap();
        assert!(!is_readable(&watch, 20));
        for _ in 0..20 {
            free.pass(&todo, 2).unwrap();
            assert!(is_readable(&watch, 60_000));
            watch.clear();
            // There is still something.
            assert!(is_readable(&watch, 60_000));
            watch.clear();
            assert_eq!(todo.pass(&free, 5).unwrap(), 2);
            // It may have been raised for what is gone now, sooner or later, but not again.
            let mut raised = 0;
            for _ in 0..3 {
                if is_readable(&watch, 20) {
                    watch.clear();
                    raised += 1;
                }
            }
            assert!(raised <= 1, "it was raised {raised} times");
        }
        let begun = Instant::now();
        drop(watch);
        assert!(begun.elapsed() < MINUTE);
    });
}
