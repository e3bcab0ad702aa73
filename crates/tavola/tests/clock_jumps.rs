//! The wall clock is set forth and back while keys live: when they expire does not change.
//!
//! Nobody may set the machine's clock for that. So this program has a `clock_gettime` of its own,
//! which all of it calls, std too: it asks the kernel, and adds the given offset to the wall clock.

mod support;

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};
use support::durable::DurableDir;
use support::patience::let_pass;
use support::{Dir, assert_clean};
use tavola::{Attributes, Durability, Expiry, LeaseOptions, Table};

const HOUR: Duration = Duration::from_secs(3600);
const DAY_S: i64 = 24 * 3600;
/// What a test may take until it looks: a key that had an hour has more than half of it left.
const SOME: Duration = Duration::from_secs(1800);

/// By how much the wall clock is ahead here.
static AHEAD_S: Mutex<i64> = Mutex::new(0);
/// The clock is that of one test at a time.
static TURN: Mutex<()> = Mutex::new(());

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, now: *mut libc::timespec) -> i32 {
    // SAFETY: the caller's promise.
    let done = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, now) };
    if done == 0 && [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE].contains(&clock) {
        // SAFETY: the kernel has just written there.
        unsafe { (*now).tv_sec += *AHEAD_S.lock().unwrap() };
    }
    done as i32
}

fn jump_to(ahead_s: i64) {
    let before = SystemTime::now();
    let was = std::mem::replace(&mut *AHEAD_S.lock().unwrap(), ahead_s);
    let after = SystemTime::now();
    let jumped = match after.duration_since(before) {
        Ok(forth) => forth.as_secs() as i64,
        Err(back) => -(back.duration().as_secs() as i64),
    };
    let off = (jumped - (ahead_s - was)).abs();
    assert!(off < 60, "it jumped by {jumped} s");
}

fn left(table: &Table, key: &[u8]) -> Duration {
    match table.ttl(key).unwrap() {
        Some(Expiry::After(left)) => left,
        other => panic!("{}: {other:?}", key.escape_ascii()),
    }
}

fn assert_an_hour(table: &Table, key: &[u8]) {
    let left = left(table, key);
    assert!(left > SOME && left <= HOUR, "{left:?}");
    assert!(table.contains(key).unwrap());
}

fn set(table: &Table, key: &[u8], expiry: Expiry) {
    let attributes = Attributes { expiry, flags: 0 };
    table.set_with(key, b"value", attributes).unwrap();
}

/// What has been there before the jump, and what is stored after it.
fn check(table: &Table, real: SystemTime) {
    assert_an_hour(table, b"for an hour");
    assert_an_hour(table, b"until in an hour");
    assert_eq!(table.ttl(b"for ever").unwrap(), Some(Expiry::Never));
    set(table, b"ttl", Expiry::After(HOUR));
    set(table, b"at", Expiry::At(SystemTime::now() + HOUR));
    for key in [&b"ttl"[..], b"at"] {
        assert_an_hour(table, key);
    }
    // An end by the clock before the jump.
    set(table, b"old at", Expiry::At(real + HOUR));
    match SystemTime::now() < real {
        true => assert!(left(table, b"old at") > 23 * HOUR),
        false => assert!(!table.contains(b"old at").unwrap()),
    }
    assert!(table.touch(b"touched", Expiry::After(HOUR)).unwrap());
    assert_an_hour(table, b"touched");
    table.remove_expired().unwrap();
    assert_clean(table);
}

#[test]
fn keys_keep_their_time_when_the_wall_clock_is_set() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = Dir::new();
    let path = dir.table("t");
    for ahead_s in [DAY_S, -DAY_S] {
        let options = Table::options().max_size(4 << 20);
        let table = options.create(&path).unwrap();
        let real = SystemTime::now();
        set(&table, b"for an hour", Expiry::After(HOUR));
        set(&table, b"until in an hour", Expiry::At(real + HOUR));
        set(&table, b"for ever", Expiry::Never);
        set(&table, b"touched", Expiry::Never);
        let soon = Duration::from_millis(300);
        set(&table, b"for a moment", Expiry::After(soon));
        set(&table, b"until in a moment", Expiry::At(real + soon));
        let leases = LeaseOptions::new(HOUR).stale(HOUR);
        let compute = |text: &'static [u8]| {
            let made = || Ok(text.to_vec());
            table.get_or_compute(b"computed", leases, made).unwrap()
        };
        assert_eq!(compute(b"before"), b"before");
        let old_reader = Table::open_read_only(&path).unwrap();
        jump_to(ahead_s);
        // A process from before the jump, and one that comes after it.
        check(&table, real);
        check(&Table::open(&path).unwrap(), real);
        for reader in [&old_reader, &Table::open_read_only(&path).unwrap()] {
            assert_an_hour(reader, b"for an hour");
            assert_an_hour(reader, b"until in an hour");
        }
        assert_eq!(compute(b"after"), b"before");
        let_pass(soon);
        for key in [&b"for a moment"[..], b"until in a moment"] {
            assert_eq!(table.get(key).unwrap(), None, "{}", key.escape_ascii());
            assert!(!old_reader.contains(key).unwrap());
        }
        // And back again.
        jump_to(0);
        assert_an_hour(&table, b"for an hour");
        assert_an_hour(&table, b"at");
        drop((table, old_reader));
        std::fs::remove_file(&path).unwrap();
    }
}

/// A rebuilt table knows the time from the machine's clock, which may have been set back below the
/// time of the last record.
#[test]
fn a_rebuilt_table_brings_no_expired_key_back_when_the_clock_was_set_back() {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for with_snapshot in [false, true] {
        let dir = DurableDir::new();
        let options = Table::options().max_size(4 << 20);
        let options = options.durable(Durability::Commit);
        let table = options.create(dir.path()).unwrap();
        let real = SystemTime::now();
        set(&table, b"until in an hour", Expiry::At(real + HOUR));
        set(&table, b"for two days", Expiry::After(48 * HOUR));
        // The machine is off for a day.
        drop(table);
        dir.lose_memory();
        jump_to(DAY_S);
        let table = Table::open(dir.path()).unwrap();
        assert!(!table.contains(b"until in an hour").unwrap());
        let last = left(&table, b"for two days");
        assert!(last > 23 * HOUR && last <= 24 * HOUR, "{last:?}");
        set(&table, b"for an hour", Expiry::After(HOUR));
        match with_snapshot {
            true => assert!(table.snapshot().unwrap()),
            false => table.sync().unwrap(),
        }
        drop(table);
        dir.lose_memory();
        // Its clock is two days behind then.
        jump_to(-DAY_S);
        let table = Table::open(dir.path()).unwrap();
        assert!(!table.contains(b"until in an hour").unwrap());
        assert_an_hour(&table, b"for an hour");
        let now = left(&table, b"for two days");
        assert!(now > 23 * HOUR && now <= last, "{now:?}");
        assert_clean(&table);
        drop(table);
        jump_to(0);
    }
}
