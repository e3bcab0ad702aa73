//! Where a worker notes what it does. Its supervisor finds it there if the worker is killed.

use super::history::{Fate, NEVER, Op, Txn};
use super::singles::{Call, Single};
use crate::system::{now_ns, shared_words};
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Words of a seat; a page that is not written takes no memory.
const WORDS: usize = 1 << 20;
/// Room for the largest record.
const SPARE: usize = 4096;
const HEAD: usize = 4;

/// The first word of an operation.
const APPEND: u64 = 1;
const READ: u64 = 2;
/// From here on: calls of one key.
const INCR: u64 = 3;
const COUNT: u64 = 4;
const SET: u64 = 5;
const GET: u64 = 6;
const REMOVE: u64 = 7;

/// Words that are not records.
#[derive(Clone, Copy)]
enum Word {
    /// Where the next record begins.
    End,
    /// Numbers given out.
    Numbers,
    /// Where the record begins that is being written.
    Current,
    Records,
}

/// A worker's seat.
#[derive(Clone, Copy)]
pub(super) struct Seat {
    process: usize,
    words: &'static [AtomicU64],
}

impl Seat {
    pub(super) fn new(process: usize) -> io::Result<Self> {
        let words = shared_words(WORDS)?;
        let seat = Self { process, words };
        seat.clear();
        Ok(seat)
    }

    fn word(&self, word: Word) -> &'static AtomicU64 {
        &self.words[word as usize]
    }

    fn get(&self, at: usize) -> u64 {
        self.words[at].load(Relaxed)
    }

    /// Forgets all records. While no worker uses the seat.
    pub(super) fn clear(&self) {
        self.word(Word::Current)
            .store(Word::Records as u64, Relaxed);
        self.word(Word::End).store(Word::Records as u64, Release);
    }

    pub(super) fn has_room(&self) -> bool {
        (self.word(Word::End).load(Relaxed) as usize) < WORDS - SPARE
    }

    /// Returns a number that no worker had before; never 0.
    pub(super) fn next_number(&self) -> u64 {
        let count = self.word(Word::Numbers).fetch_add(1, Relaxed) + 1;
        (self.process as u64 + 1) << 48 | count
    }

    /// Begins a record: words, from, until, fate. The words of a record are counted when the next
    /// one begins: a worker may be killed while it writes one, and the next worker continues here.
    pub(super) fn begin(&self) {
        let at = self.word(Word::End).load(Relaxed) as usize;
        let last = self.word(Word::Current).load(Relaxed) as usize;
        if last < at {
            self.words[last].store((at - last) as u64, Relaxed);
        }
        self.word(Word::Current).store(at as u64, Relaxed);
        self.words[at + 2].store(NEVER, Relaxed);
        self.words[at + 3].store(Fate::Unknown as u64, Relaxed);
        self.words[at + 1].store(now_ns(), Relaxed);
        self.restart();
    }

    /// Forgets the operations of this record: the transaction runs again.
    pub(super) fn restart(&self) {
        let at = self.word(Word::Current).load(Relaxed) as usize;
        self.word(Word::End).store((at + HEAD) as u64, Release);
    }

    fn push(&self, words: &[u64]) {
        let end = self.word(Word::End).load(Relaxed) as usize;
        for (place, word) in self.words[end..].iter().zip(words) {
            place.store(*word, Relaxed);
        }
        self.word(Word::End)
            .store((end + words.len()) as u64, Release);
    }

    pub(super) fn append(&self, key: u64, element: u64) {
        self.push(&[APPEND, key, element]);
    }

    pub(super) fn read(&self, key: u64, list: &[u64]) {
        let head = [READ, key, list.len() as u64];
        self.push(&[&head[..], list].concat());
    }

    pub(super) fn call(&self, key: u64, call: Call) {
        let words = match call {
            Call::Incr(sum) => [INCR, key, sum],
            Call::Count(sum) => [COUNT, key, sum],
            Call::Set(version) => [SET, key, version],
            Call::Get(version) => [GET, key, version],
            Call::Remove => [REMOVE, key, 0],
        };
        self.push(&words);
    }

    /// Notes that the call has returned.
    pub(super) fn end(&self, fate: Fate) {
        let now = now_ns();
        let at = self.word(Word::Current).load(Relaxed) as usize;
        self.words[at + 3].store(fate as u64, Relaxed);
        // A worker that is killed before this has committed, and does not know when.
        self.words[at + 2].store(now, Release);
    }

    /// Returns all records. While no worker uses the seat.
    pub(super) fn records(&self) -> (Vec<Txn>, Vec<Single>) {
        let end = self.word(Word::End).load(Acquire) as usize;
        let current = self.word(Word::Current).load(Acquire) as usize;
        let (mut txns, mut singles) = (Vec::new(), Vec::new());
        let mut at = Word::Records as usize;
        while at < end {
            let len = match at == current {
                true => end - at,
                false => self.get(at) as usize,
            };
            let (from, until) = (self.get(at + 1), self.get(at + 2));
            let words: Vec<u64> = (at + HEAD..at + len).map(|at| self.get(at)).collect();
            match words.first() {
                Some(&(APPEND | READ)) => txns.push(Txn {
                    process: self.process,
                    from,
                    until,
                    fate: match (self.get(at + 3), until) {
                        (_, NEVER) => Fate::Unknown,
                        (aborted, _) if aborted == Fate::Aborted as u64 => Fate::Aborted,
                        _ => Fate::Committed,
                    },
                    ops: ops_of(&words),
                }),
                Some(_) => {
                    // The end of a call is noted behind its beginning.
                    let last = words.chunks_exact(3).next_back();
                    singles.extend(last.and_then(|words| single_of(words, from, until)));
                }
                None => {}
            }
            at += len.max(HEAD);
        }
        (txns, singles)
    }
}

fn ops_of(words: &[u64]) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut rest = words;
    while let [kind, key, third, tail @ ..] = rest {
        rest = tail;
        match *kind {
            APPEND => ops.push(Op::Append {
                key: *key,
                element: *third,
            }),
            _ => {
                let len = (*third as usize).min(rest.len());
                let (list, tail) = rest.split_at(len);
                ops.push(Op::Read {
                    key: *key,
                    list: list.to_vec(),
                });
                rest = tail;
            }
        }
    }
    ops
}

fn single_of(words: &[u64], from: u64, until: u64) -> Option<Single> {
    let (key, value) = (words[1], words[2]);
    let call = match words[0] {
        INCR => Call::Incr(value),
        COUNT => Call::Count(value),
        SET => Call::Set(value),
        GET => Call::Get(value),
        REMOVE => Call::Remove,
        _ => return None,
    };
    Some(Single {
        key,
        from,
        until,
        call,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_back() {
        let seat = Seat::new(1).unwrap();
        seat.begin();
        seat.read(7, &[9]);
        seat.restart();
        seat.read(7, &[1, 2]);
        seat.append(8, 3);
        seat.end(Fate::Committed);
        seat.begin();
        seat.call(5, Call::Incr(0));
        seat.call(5, Call::Incr(4));
        seat.end(Fate::Committed);
        seat.begin();
        seat.append(8, 4);
        seat.end(Fate::Aborted);
        seat.begin();
        seat.append(8, 5);
        let (txns, singles) = seat.records();
        let fates: Vec<Fate> = txns.iter().map(|txn| txn.fate).collect();
        assert_eq!(fates, [Fate::Committed, Fate::Aborted, Fate::Unknown]);
        let list = vec![1, 2];
        assert_eq!(txns[0].ops[0], Op::Read { key: 7, list });
        assert_eq!(txns[0].ops.len(), 2);
        assert!(txns[0].until > txns[0].from && txns[2].until == NEVER);
        assert_eq!((singles.len(), singles[0].call), (1, Call::Incr(4)));
        seat.clear();
        assert!(seat.records().0.is_empty() && seat.has_room());
        assert_ne!(seat.next_number(), seat.next_number());
    }
}
