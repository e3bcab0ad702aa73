//! A small store that makes mistakes, to test the check: each mistake must be found.
//!
//! Clients take turns at random. A transaction reads list after list, compares what it has read,
//! makes its changes and waits for the disk, each in a step of its own. Then memory is lost, and
//! the lists are made again from the records.

use super::check::check;
use super::history::{Fate, History, Lists, NEVER, Op, Txn};
use crate::value::Numbers;

const CLIENTS: usize = 4;
const LISTS: u64 = 5;
const STEPS: u64 = 120;
/// Histories in which a mistake must show.
const SEEDS: u64 = 600;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mistake {
    None,
    ComparesNothing,
    ComparesFirstReadOnly,
    /// It compares, gives up its locks, and makes the changes later.
    ChangesLater,
    /// A change is seen before the others of its transaction.
    ChangesOneByOne,
    /// Changes are seen before the comparison, and taken back after it.
    ChangesBeforeComparison,
    /// A transaction that only reads is not compared.
    ViewsNotCompared,
    /// A transaction that only reads sees all lists as they were some steps before it began.
    ViewsThePast,
    AcknowledgesBeforeSync,
    /// Each change is a record of its own.
    RecordsEachChange,
    /// A rebuild leaves out a record that others follow.
    LeavesOutRecord,
}

use Mistake::*;

#[derive(Clone, Debug)]
enum Step {
    Idle,
    Reads(usize),
    Commits,
    Changes(usize),
    Syncs,
}

struct Client {
    step: Step,
    txn: Txn,
    /// The lists that it reads, and the elements that it appends.
    reads: Vec<u64>,
    appends: Vec<(u64, u64)>,
}

struct Store {
    mistake: Mistake,
    lists: Lists,
    past: Vec<Lists>,
    /// Records: elements that are appended together.
    records: Vec<Vec<(u64, u64)>>,
    synced: usize,
    clock: u64,
    elements: u64,
    done: Vec<Txn>,
    numbers: Numbers,
}

fn apply(lists: &mut Lists, changes: &[(u64, u64)]) {
    for (key, element) in changes {
        lists.entry(*key).or_default().push(*element);
    }
}

fn list(lists: &Lists, key: u64) -> Vec<u64> {
    lists.get(&key).cloned().unwrap_or_default()
}

impl Store {
    fn new(mistake: Mistake, seed: u64) -> Self {
        Self {
            mistake,
            lists: Lists::new(),
            past: Vec::new(),
            records: Vec::new(),
            synced: 0,
            clock: 0,
            elements: 0,
            done: Vec::new(),
            numbers: Numbers::new(seed),
        }
    }

    fn now(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn begin(&mut self, process: usize) -> Client {
        let read_count = self.numbers.below(3) as usize + 1;
        let reads: Vec<u64> = (0..read_count).map(|_| self.numbers.below(LISTS)).collect();
        let append_count = self.numbers.below(3) as usize;
        let mut appends = Vec::new();
        for _ in 0..append_count {
            self.elements += 1;
            appends.push((self.numbers.below(LISTS), self.elements));
        }
        let txn = Txn {
            process,
            from: self.now(),
            until: NEVER,
            fate: Fate::Unknown,
            ops: Vec::new(),
        };
        let step = Step::Reads(0);
        Client {
            step,
            txn,
            reads,
            appends,
        }
    }

    /// Reads all lists at once, as they were some steps ago.
    fn read_past(&mut self, client: &mut Client) {
        let back = self.numbers.below(16) as usize;
        let past = &self.past[self.past.len().saturating_sub(back + 1)];
        for key in &client.reads {
            let list = list(past, *key);
            client.txn.ops.push(Op::Read { key: *key, list });
        }
        client.step = Step::Reads(client.reads.len());
    }

    /// Returns whether what a transaction has read still holds.
    fn holds(&self, client: &Client) -> bool {
        let is_view = client.appends.is_empty();
        let compared = match self.mistake {
            ComparesNothing => 0,
            ComparesFirstReadOnly => 1,
            ViewsNotCompared | ViewsThePast if is_view => 0,
            _ => usize::MAX,
        };
        let holds = |op: &Op| match op {
            Op::Read { key, list: seen } => *seen == list(&self.lists, *key),
            Op::Append { .. } => true,
        };
        client.txn.ops.iter().take(compared).all(holds)
    }

    fn record(&mut self, changes: &[(u64, u64)]) {
        match self.mistake {
            RecordsEachChange => self.records.extend(changes.iter().map(|one| vec![*one])),
            _ => self.records.push(changes.to_vec()),
        }
    }

    fn advance(&mut self, client: &mut Client) {
        let appends = client.appends.clone();
        self.past.push(self.lists.clone());
        match client.step {
            Step::Reads(0) if self.mistake == ViewsThePast && appends.is_empty() => {
                self.read_past(client);
            }
            Step::Idle => *client = self.begin(client.txn.process),
            Step::Reads(at) if at < client.reads.len() => {
                let key = client.reads[at];
                let list = list(&self.lists, key);
                client.txn.ops.push(Op::Read { key, list });
                client.step = Step::Reads(at + 1);
            }
            Step::Reads(_) => {
                let op = |(key, element)| Op::Append { key, element };
                client.txn.ops.extend(appends.iter().copied().map(op));
                if self.mistake == ChangesBeforeComparison {
                    apply(&mut self.lists, &appends);
                }
                client.step = Step::Commits;
            }
            Step::Commits => self.commit(client),
            Step::Changes(at) if at < appends.len() => {
                apply(&mut self.lists, &appends[at..=at]);
                client.step = Step::Changes(at + 1);
            }
            Step::Changes(_) => {
                self.record(&appends);
                client.step = Step::Syncs;
            }
            // The disk is slow.
            Step::Syncs if self.numbers.below(3) > 0 => {}
            Step::Syncs => {
                if self.mistake != AcknowledgesBeforeSync {
                    self.synced = self.records.len();
                }
                self.finish(client, Fate::Committed);
            }
        }
    }

    fn commit(&mut self, client: &mut Client) {
        let appends = client.appends.clone();
        if self.mistake == ChangesBeforeComparison {
            for (key, element) in &appends {
                let list = self.lists.entry(*key).or_default();
                list.retain(|other| other != element);
            }
        }
        if !self.holds(client) {
            self.finish(client, Fate::Aborted);
            return;
        }
        match self.mistake {
            ChangesLater if !appends.is_empty() => {
                // All at once, in the next step but one.
                client.step = Step::Changes(0);
            }
            ChangesOneByOne => client.step = Step::Changes(0),
            _ => {
                apply(&mut self.lists, &appends);
                self.record(&appends);
                client.step = Step::Syncs;
            }
        }
    }

    fn finish(&mut self, client: &mut Client, fate: Fate) {
        client.txn.until = self.now();
        client.txn.fate = fate;
        self.done.push(client.txn.clone());
        client.step = Step::Idle;
    }

    /// Loses memory and what is not synced, or a part of it, and makes the lists again.
    fn rebuild(&mut self) -> Lists {
        let unsynced = (self.records.len() - self.synced) as u64;
        let kept = self.synced + self.numbers.below(unsynced + 1) as usize;
        let left_out = match self.mistake {
            LeavesOutRecord if kept > self.synced + 1 => self.synced,
            _ => usize::MAX,
        };
        let mut lists = Lists::new();
        for (at, record) in self.records[..kept].iter().enumerate() {
            if at != left_out {
                apply(&mut lists, record);
            }
        }
        lists
    }
}

/// Runs a store until it is killed, and checks its history.
fn judge(mistake: Mistake, seed: u64, is_lost: bool) -> Result<(), String> {
    let mut store = Store::new(mistake, seed);
    let mut clients: Vec<Client> = (0..CLIENTS).map(|process| store.begin(process)).collect();
    for _ in 0..STEPS {
        let at = store.numbers.below(CLIENTS as u64) as usize;
        store.advance(&mut clients[at]);
    }
    let unfinished = clients.iter().filter(|c| !matches!(c.step, Step::Idle));
    store
        .done
        .extend(unfinished.map(|client| client.txn.clone()));
    let after = match is_lost {
        true => store.rebuild(),
        false => store.lists.clone(),
    };
    let checked = check(&History {
        before: Lists::new(),
        txns: store.done,
        after,
        is_lost,
        keeps_acknowledged: true,
    });
    checked.map(drop)
}

/// Returns the names of what is found in all histories with a mistake, and how often.
fn found_with(mistake: Mistake, is_lost: bool) -> Vec<String> {
    let found = (0..SEEDS).filter_map(|seed| judge(mistake, seed, is_lost).err());
    let name = |why: String| why.split(':').next().unwrap_or_default().to_string();
    found.map(name).collect()
}

#[test]
fn a_store_without_a_mistake_passes() {
    for is_lost in [false, true] {
        assert_eq!(found_with(None, is_lost), Vec::<String>::new());
    }
}

#[test]
fn each_mistake_is_found() {
    // The mistake, whether it needs a loss of memory, and the anomaly that must be among those
    // found.
    let all = [
        (ComparesNothing, false, "G2"),
        (ComparesNothing, false, "G-single"),
        (ComparesFirstReadOnly, false, "G2"),
        (ChangesLater, false, "G2"),
        (ChangesOneByOne, false, "G1b"),
        (ChangesBeforeComparison, false, "G1a"),
        (ViewsNotCompared, false, "G-single"),
        (ViewsThePast, false, "G-single with time"),
        (AcknowledgesBeforeSync, true, "lost"),
        (RecordsEachChange, true, "torn"),
        (LeavesOutRecord, true, "not a prefix"),
    ];
    for (mistake, is_lost, anomaly) in all {
        let found = found_with(mistake, is_lost);
        let count = found.iter().filter(|name| *name == anomaly).count();
        println!("{mistake:?}: {} found, {count} {anomaly}", found.len());
        assert!(count > 0, "{mistake:?}: {found:?}");
    }
}
