//! Taking sheets, and beginning them anew.

use super::Ring;
use crate::layout::{DROP_OLDEST, Drained, LEVELS, LineHead, SHEET_WORDS, SheetState};
use crate::lock::{is_alive, wake};
use crate::sync::{Ordering, fence};
use crate::sys::clock::unix_ns;

/// Sheets that a thread looks at for its first line: one that was given up with room, so that
/// processes which write a line and end do not use up a sheet each.
const RECENT: u64 = 8;

/// What became of the wish for a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Sheet(u32),
    /// Those that are nobody's have lines that a drain is to write.
    NotDrained,
    /// Living threads have them all.
    AllInHand,
}

/// Which owners are known to live: asking the system takes microseconds.
struct Owners {
    me: u32,
    /// The last that was found alive.
    alive: u32,
    /// How many more may be asked about.
    asks: u32,
}

impl Owners {
    fn is_gone(&mut self, ring: &Ring<'_>, owner: u32) -> bool {
        if owner == 0 {
            return true;
        }
        if owner == self.me || owner == self.alive || self.asks == 0 {
            return false;
        }
        self.asks -= 1;
        let lives = is_alive(ring.region, owner, self.me);
        if lives {
            self.alive = owner;
        }
        !lives
    }
}

impl Ring<'_> {
    /// Takes a sheet with room for so many words.
    pub(super) fn take(&self, me: u32, words: u32, is_first: bool) -> Taken {
        let next = self.head.next.load(Ordering::Relaxed);
        let mut owners = Owners {
            me,
            alive: 0,
            asks: 2,
        };
        if is_first && let Some(sheet) = self.go_on(me, words, next, &mut owners) {
            return Taken::Sheet(sheet);
        }
        // In the first round the dead are asked about in passing, in the second all of them.
        let mut is_any_free = false;
        for asks in [2, u32::MAX] {
            owners.asks = asks;
            let first = self.head.next.fetch_add(1, Ordering::Relaxed);
            for turn in 0..u64::from(self.geometry.sheets) {
                let turn = first.wrapping_add(turn);
                let sheet = self.number(turn);
                // A look before it is owned: others are not to find it in a hand meanwhile.
                if !self.is_dealt_with(sheet) {
                    is_any_free |= self.sheet(sheet).owner.load(Ordering::Relaxed) == 0;
                } else if self.own(sheet, &mut owners) {
                    if self.begin_anew(sheet) {
                        self.go_on_behind(turn);
                        return Taken::Sheet(sheet);
                    }
                    is_any_free = true;
                    self.release(me, sheet);
                }
            }
        }
        match is_any_free {
            true => Taken::NotDrained,
            false => Taken::AllInHand,
        }
    }

    /// A sheet among those that were begun last, with room, in no living thread's hand.
    fn go_on(&self, me: u32, words: u32, next: u64, owners: &mut Owners) -> Option<u32> {
        let recent = RECENT.min(u64::from(self.geometry.sheets) / 2).min(next);
        for back in 1..=recent {
            let sheet = self.number(next - back);
            if !self.own(sheet, owners) {
                continue;
            }
            let (head, state) = (self.sheet(sheet), self.state_of(sheet));
            if state.used + words <= SHEET_WORDS && self.is_whole(sheet, state.used) {
                // What a dead owner left half-written is not under way.
                let idle = SheetState {
                    is_writing: false,
                    ..state
                };
                head.state.store(idle.encode(), Ordering::Relaxed);
                head.time.store(unix_ns(), Ordering::Relaxed);
                return Some(sheet);
            }
            self.release(me, sheet);
        }
        None
    }

    /// Whether a sheet that this thread owns is lines, up to that word.
    fn is_whole(&self, sheet: u32, until: u32) -> bool {
        let mut at = 0;
        while at < until {
            match self.line_at(sheet, at) {
                Some(line) => at += line.words(),
                None => return false,
            }
        }
        at == until
    }

    fn line_at(&self, sheet: u32, at: u32) -> Option<LineHead> {
        let word = self.region.word(self.place(sheet, at));
        let line = LineHead::decode([word.load(Ordering::Relaxed), 0, 0]);
        LEVELS.contains(&line.level).then_some(line)
    }

    /// Whether a sheet may be begun anew, as far as its lines are concerned.
    fn is_dealt_with(&self, sheet: u32) -> bool {
        let (head, state) = (self.sheet(sheet), self.state_of(sheet));
        let drained = Drained::decode(head.drained.load(Ordering::Relaxed), state);
        self.geometry.policy == DROP_OLDEST || drained.words >= state.awaited
    }

    /// The next to take a sheet begins there; where threads race it is some other.
    fn go_on_behind(&self, turn: u64) {
        let next = turn.wrapping_add(1);
        if self.head.next.load(Ordering::Relaxed) < next {
            self.head.next.store(next, Ordering::Relaxed);
        }
    }

    fn number(&self, turn: u64) -> u32 {
        (turn % u64::from(self.geometry.sheets)) as u32
    }

    fn state_of(&self, sheet: u32) -> SheetState {
        SheetState::decode(self.sheet(sheet).state.load(Ordering::Relaxed))
    }

    /// G1: makes a sheet this thread's, if nobody has it who lives.
    fn own(&self, sheet: u32, owners: &mut Owners) -> bool {
        let word = &self.sheet(sheet).owner;
        let owner = word.load(Ordering::Relaxed);
        // Pairs with the release in `release`: what the last owner wrote is ours to go on with.
        owners.is_gone(self, owner) && word.cas(owner, owners.me, Ordering::Acquire).is_ok()
    }

    /// Lets others have a sheet.
    pub(super) fn release(&self, me: u32, sheet: u32) {
        let word = &self.sheet(sheet).owner;
        // It is another's if a panic or a fork left us with a hand that is not ours.
        if word.load(Ordering::Relaxed) == me {
            word.store(0, Ordering::Release);
        }
    }

    /// Clears a sheet that this thread owns; false: its lines await a drain (G4).
    fn begin_anew(&self, sheet: u32) -> bool {
        let head = self.sheet(sheet);
        let state = self.state_of(sheet);
        loop {
            let word = head.drained.load(Ordering::Relaxed);
            let drained = Drained::decode(word, state);
            if drained.words >= state.awaited {
                break;
            }
            if self.geometry.policy != DROP_OLDEST {
                return false;
            }
            let lines = self.awaiting(sheet, drained.words, state.used);
            self.head.dropped.fetch_add(lines, Ordering::Relaxed);
            let behind = Drained {
                words: state.used,
                ..drained
            };
            // Pairs with the drain's: one of us deals with these lines.
            match head.drained.cas(word, behind.encode(), Ordering::AcqRel) {
                Ok(_) => break,
                Err(_) => self.take_back(lines),
            }
        }
        let new = SheetState {
            sequence: state.sequence.wrapping_add(1),
            ..SheetState::default()
        };
        head.time.store(unix_ns(), Ordering::Relaxed);
        head.state.store(new.encode(), Ordering::Release);
        // G3. Pairs with the acquire fence in `collect`: who sees a word that is written from now
        // on sees the new sequence.
        fence(Ordering::Release);
        true
    }

    /// These lines were not dropped after all.
    pub(super) fn take_back(&self, lines: u64) {
        self.head
            .dropped
            .fetch_add(lines.wrapping_neg(), Ordering::Relaxed);
    }

    /// Lines between two words of a sheet that a drain is to write. Nobody changes them now.
    fn awaiting(&self, sheet: u32, from: u32, until: u32) -> u64 {
        let (mut at, mut lines) = (from, 0);
        while at < until
            && let Some(line) = self.line_at(sheet, at)
        {
            lines += u64::from(!line.is_shown);
            at += line.words();
        }
        lines
    }

    /// Wakes the drain if it sleeps.
    pub(super) fn call_drain(&self) {
        if self.head.is_idle.load(Ordering::Relaxed) != 0 {
            self.head.is_idle.store(0, Ordering::Relaxed);
            self.head.calls.fetch_add(1, Ordering::Relaxed);
            wake(&self.head.calls, 1);
        }
    }
}
