//! Named locks and semaphores: one thread alone or several that share, no wake that is lost, and
//! what the dead held passes on.
//!
//! Each thread is a participant of its own, which leaves its slot when it dies.

use super::queue_deaths::{attach, leave, played};
use super::{Table, explore, quietly, region, table, thread, writer};
use crate::layout::LockRecord;
use crate::lock::wake;
use crate::locks::{Held, Holder, open};
use crate::sync::model::{outlives, with_exchanges};
use crate::sync::{Ordering, W32, spin_hint};
use std::sync::Arc;
use std::time::Duration;

/// The slot of the first thread, which may die.
const FIRST: u32 = 7;
const THREADS: u32 = 3;
const LAST: u32 = FIRST + THREADS;
const NOW: Option<Duration> = Some(Duration::ZERO);

/// A table with a lock or semaphore, and a slot for each thread.
struct Meeting {
    table: Arc<Table>,
    place: u64,
    /// Threads that have not ended.
    left: W32,
    /// After how many stores the first thread dies.
    stores: Option<u64>,
}

impl Meeting {
    fn new(permits: u32, stores: Option<u64>) -> Arc<Self> {
        let table = table(|_| ());
        let place = quietly(|| {
            (FIRST..=LAST).for_each(|slot| attach(&table, slot));
            open(region(&table), writer(&table), b"name", permits).expect("room")
        });
        Arc::new(Self {
            table,
            place,
            left: W32::new(THREADS),
            stores,
        })
    }

    fn record(&self) -> &LockRecord {
        region(&self.table).lock_record(self.place)
    }

    fn holder(&self, slot: u32) -> Holder<'_> {
        Holder {
            region: region(&self.table),
            record: self.record(),
            me: played(slot),
        }
    }

    /// Lets each thread do its work twice.
    fn play(self: &Arc<Self>, work: impl Fn(u32, &Holder<'_>) + Send + Sync + 'static) {
        let work = Arc::new(work);
        let threads = (FIRST..LAST).map(|slot| {
            let (meeting, work) = (Arc::clone(self), Arc::clone(&work));
            thread::spawn(move || {
                let most = meeting.stores.filter(|_| slot == FIRST).unwrap_or(u64::MAX);
                let twice = || (0..2).for_each(|_| work(slot, &meeting.holder(slot)));
                if outlives(most, twice).is_none() {
                    meeting.bury(slot);
                }
                meeting.left.fetch_add(u32::MAX, Ordering::Relaxed);
            })
        });
        for thread in threads.collect::<Vec<_>>() {
            thread
                .join()
                .expect("a thread that panicked has ended the test");
        }
    }

    /// The participant is dead from now on. As no time passes here, the patience of the others ends
    /// until they are through: one of them may just have asked whether it lives.
    fn bury(&self, slot: u32) {
        leave(&self.table, slot);
        self.record().leaves.fetch_add(1, Ordering::Relaxed);
        while self.left.load(Ordering::Relaxed) > 1 {
            wake(&self.record().word, u32::MAX >> 1);
            wake(&self.record().leaves, u32::MAX >> 1);
            spin_hint();
        }
    }
}

/// What two words say while nobody is between them.
struct Guarded([W32; 2]);

impl Guarded {
    /// Looks at what the lock guards, and changes it if it is held alone.
    fn visit(&self, held: Held) {
        let [one, other] = self.0.each_ref();
        let (seen, same) = (one.load(Ordering::Relaxed), other.load(Ordering::Relaxed));
        assert!(
            held == Held::FROM_DEAD || seen == same,
            "a change that is not complete"
        );
        if held.place().is_none() {
            one.store(seen + 1, Ordering::Relaxed);
            other.store(seen + 1, Ordering::Relaxed);
        }
    }
}

/// Lets threads take a lock, alone or shared.
fn lock_and_share(shares: [bool; THREADS as usize], stores: Option<u64>) {
    let meeting = Meeting::new(0, stores);
    let guarded = Arc::new(Guarded([const { W32::new(0) }; 2]));
    let seen = Arc::clone(&guarded);
    meeting.play(move |slot, holder| {
        let held = match shares[(slot - FIRST) as usize] {
            true => holder.share(None),
            false => holder.take(None),
        };
        let held = held.expect("a wait without a limit");
        guarded.visit(held);
        match held.place() {
            Some(place) => holder.leave(place),
            None => holder.release(),
        }
    });
    // Whatever happened, the lock can be had.
    seen.visit(meeting.holder(LAST).take(NOW).expect("nobody has it"));
}

#[test]
fn some_share_a_lock_or_one_has_it_and_nobody_sleeps_for_ever() {
    for shares in [
        [false, false, false],
        [false, false, true],
        [false, true, true],
    ] {
        explore(700, move || lock_and_share(shares, None));
    }
}

#[test]
fn what_the_dead_held_passes_on_and_one_learns_of_it() {
    for stores in (1..=16).map(Some) {
        for shares in [[false, false, true], [true, false, true]] {
            explore(100, move || {
                with_exchanges(|| lock_and_share(shares, stores))
            });
        }
    }
}

/// Lets threads take permits.
fn take_permits(stores: Option<u64>) {
    const PERMITS: u32 = 2;
    let meeting = Meeting::new(PERMITS, stores);
    let users = [const { W32::new(0) }; PERMITS as usize];
    meeting.play(move |slot, holder| {
        let (place, died) = holder.take_permit(PERMITS, None).expect("no limit");
        let user = &users[place as usize];
        let before = user.swap(slot, Ordering::Relaxed);
        assert!(
            before == 0 || died && before == FIRST,
            "{before} has it, too"
        );
        user.store(0, Ordering::Relaxed);
        holder.leave(place);
    });
    let last = meeting.holder(LAST);
    let all = (0..PERMITS).map(|_| last.take_permit(PERMITS, NOW));
    assert!(
        all.into_iter().all(|taken| taken.is_some()),
        "a permit is lost"
    );
}

#[test]
fn permits_are_never_more_and_never_fewer() {
    explore(1000, || take_permits(None));
    for stores in (1..=10).map(Some) {
        explore(100, move || with_exchanges(|| take_permits(stores)));
    }
}
