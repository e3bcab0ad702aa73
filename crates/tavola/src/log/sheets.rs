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

/// Sheets among which the one with the oldest lines is begun anew.
const CHOICE: u32 = 8;
/// Sheets that are looked at for one without lines that await a drain, where such may be dropped.
const LOOKS: u32 = 64;

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

/// One way of looking for a sheet.
#[derive(Clone, Copy)]
struct Look {
    /// Owners that may be asked about.
    asks: u32,
    may_drop: bool,
    sheets: u32,
}

/// A sheet as a look found it.
#[derive(Clone, Copy)]
struct Choice {
    turn: u64,
    owner: u32,
    state: SheetState,
    /// Of its last line.
    time: u64,
}

/// What a look came to.
enum Seen {
    /// This thread's now, and still as it was found.
    Owned(Choice),
    /// Another was faster.
    Outrun,
    /// None; some of those in no living hand await a drain.
    Waiting,
    None,
}

impl Ring<'_> {
    /// Takes a sheet with room for so many words.
    pub(super) fn take(&self, me: u32, words: u32, is_first: bool) -> Taken {
        if is_first && let Some(sheet) = self.go_on(me, words) {
            return Taken::Sheet(sheet);
        }
        let all = self.geometry.sheets;
        let may_drop = self.geometry.policy == DROP_OLDEST;
        let look = |asks, may_drop, sheets| Look {
            asks,
            may_drop,
            sheets,
        };
        // Without dropping lines, if it can be; the dead are asked about in passing. Then at last
        // about each.
        let looks = [
            look(2, false, if may_drop { all.min(LOOKS) } else { all }),
            look(2, may_drop, all),
            look(u32::MAX, may_drop, all),
        ];
        let mut is_any_waiting = false;
        for look in looks {
            loop {
                match self.look(me, look) {
                    Seen::Owned(Choice { turn, state, .. }) => {
                        let sheet = self.number(turn);
                        self.begin_anew(sheet, state);
                        self.go_on_behind(turn);
                        return Taken::Sheet(sheet);
                    }
                    Seen::Outrun => {}
                    Seen::Waiting => {
                        is_any_waiting = true;
                        break;
                    }
                    Seen::None => break,
                }
            }
        }
        match is_any_waiting {
            true => Taken::NotDrained,
            false => Taken::AllInHand,
        }
    }

    /// Looks for sheets in no living hand, from the next on, and owns the one whose last line is
    /// oldest of the first few; those before it have their turn when all others have had theirs.
    fn look(&self, me: u32, look: Look) -> Seen {
        let mut owners = Owners {
            me,
            alive: 0,
            asks: look.asks,
        };
        let next = self.head.next.load(Ordering::Relaxed);
        let (mut choices, mut is_any_waiting) = (0, false);
        let mut best: Option<Choice> = None;
        for turn in (0..u64::from(look.sheets)).map(|more| next.wrapping_add(more)) {
            let sheet = self.number(turn);
            let head = self.sheet(sheet);
            let owner = head.owner.load(Ordering::Relaxed);
            if !owners.is_gone(self, owner) {
                continue;
            }
            let state = self.state_of(sheet);
            if !look.may_drop && !self.is_dealt_with(sheet, state) {
                is_any_waiting = true;
                continue;
            }
            let time = head.time.load(Ordering::Relaxed);
            if best.is_none_or(|oldest| time < oldest.time) {
                best = Some(Choice {
                    turn,
                    owner,
                    state,
                    time,
                });
            }
            choices += 1;
            if choices == CHOICE {
                break;
            }
        }
        match best {
            None if is_any_waiting => Seen::Waiting,
            None => Seen::None,
            Some(choice) if self.own_as_found(me, choice) => Seen::Owned(choice),
            Some(_) => Seen::Outrun,
        }
    }

    fn number(&self, turn: u64) -> u32 {
        (turn % u64::from(self.geometry.sheets)) as u32
    }

    fn state_of(&self, sheet: u32) -> SheetState {
        SheetState::decode(self.sheet(sheet).state.load(Ordering::Relaxed))
    }

    /// G1: makes a sheet this thread's, if it still is that owner's, who is nobody or no more.
    pub(super) fn own(&self, me: u32, sheet: u32, owner: u32) -> bool {
        // Pairs with the release in `release`: what the last owner wrote is ours to go on with.
        let word = &self.sheet(sheet).owner;
        word.cas(owner, me, Ordering::Acquire).is_ok()
    }

    /// Owns a sheet unless anybody has had it in hand since it was looked at: its lines may be the
    /// newest now, and such that await the drain, though its owner's word is what it was.
    fn own_as_found(&self, me: u32, choice: Choice) -> bool {
        let sheet = self.number(choice.turn);
        if !self.own(me, sheet, choice.owner) {
            return false;
        }
        let is_same = self.state_of(sheet) == choice.state;
        if !is_same {
            self.let_go(me, sheet);
        }
        is_same
    }

    /// A sheet among those that were begun last, with room, in no living thread's hand.
    fn go_on(&self, me: u32, words: u32) -> Option<u32> {
        let mut owners = Owners {
            me,
            alive: 0,
            asks: 2,
        };
        let next = self.head.next.load(Ordering::Relaxed);
        let recent = RECENT.min(u64::from(self.geometry.sheets) / 2).min(next);
        for sheet in (1..=recent).map(|back| self.number(next - back)) {
            let head = self.sheet(sheet);
            let owner = head.owner.load(Ordering::Relaxed);
            if !owners.is_gone(self, owner) || !self.own(me, sheet, owner) {
                continue;
            }
            let state = self.state_of(sheet);
            if state.used + words <= SHEET_WORDS && self.is_whole(sheet, state.used) {
                // What a dead owner left half-written is not under way.
                let idle = SheetState {
                    is_writing: false,
                    ..state
                };
                // Release, as of each line: who sees this state sees the lines it counts.
                head.state.store(idle.encode(), Ordering::Release);
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
            match self.line_at(sheet, at, until) {
                Some(line) => at += line.words(),
                None => return false,
            }
        }
        at == until
    }

    /// The head of the line at a word, if it ends before `until`.
    fn line_at(&self, sheet: u32, at: u32, until: u32) -> Option<LineHead> {
        let word = self.region.word(self.place(sheet, at));
        let line = LineHead::decode([word.load(Ordering::Relaxed), 0, 0]);
        (LEVELS.contains(&line.level) && at + line.words() <= until).then_some(line)
    }

    /// Whether a sheet in that state may be begun anew, as far as its lines are concerned.
    fn is_dealt_with(&self, sheet: u32, state: SheetState) -> bool {
        let word = self.sheet(sheet).drained.load(Ordering::Relaxed);
        Drained::decode(word, state).words >= state.awaited
    }

    /// The next to take a sheet begins there, unless somebody is further.
    fn go_on_behind(&self, turn: u64) {
        let (next, behind) = (self.head.next.load(Ordering::Relaxed), turn.wrapping_add(1));
        if behind.wrapping_sub(next) <= u64::from(self.geometry.sheets) {
            let _ = self.head.next.cas(next, behind, Ordering::Relaxed);
        }
    }

    /// Lets others have a sheet.
    pub(super) fn release(&self, me: u32, sheet: u32) {
        let word = &self.sheet(sheet).owner;
        // It is another's if a panic or a fork left us with a hand that is not ours.
        if word.load(Ordering::Relaxed) == me {
            word.store(0, Ordering::Release);
        }
    }

    /// Lets others have a sheet; who found none looks again.
    pub(super) fn let_go(&self, me: u32, sheet: u32) {
        self.release(me, sheet);
        if self.geometry.policy != DROP_OLDEST {
            // Pairs with the acquire in `put_on_next`.
            self.head.passes.fetch_add(1, Ordering::Release);
        }
    }

    /// Clears a sheet that this thread owns and that is in that state. Lines that await a drain are
    /// dropped (G4): it was chosen where they may be.
    fn begin_anew(&self, sheet: u32, state: SheetState) {
        self.drop_awaiting(sheet, state);
        self.sheet(sheet).time.store(unix_ns(), Ordering::Relaxed);
        self.renew(sheet, state, 0);
    }

    /// G4: the lines of a sheet that this thread owns await no drain any more; they are counted.
    pub(super) fn drop_awaiting(&self, sheet: u32, state: SheetState) {
        let word = &self.sheet(sheet).drained;
        loop {
            let found = word.load(Ordering::Relaxed);
            let drained = Drained::decode(found, state);
            if drained.words >= state.awaited {
                return;
            }
            let lines = self.awaiting(sheet, drained.words, state.used);
            self.head.dropped.fetch_add(lines, Ordering::Relaxed);
            let behind = Drained {
                words: state.used,
                ..drained
            };
            // Pairs with the drain's: one of us deals with these lines.
            match word.cas(found, behind.encode(), Ordering::AcqRel) {
                Ok(_) => return,
                Err(_) => self.take_back(lines),
            }
        }
    }

    /// Gives a sheet that this thread owns the next sequence, with so many words, which no drain
    /// is to write.
    pub(super) fn renew(&self, sheet: u32, state: SheetState, used: u32) {
        let new = SheetState {
            sequence: state.sequence.wrapping_add(1),
            used,
            awaited: 0,
            is_writing: false,
        };
        self.sheet(sheet)
            .state
            .store(new.encode(), Ordering::Release);
        // G3. Pairs with the acquire fence in `copy`: who sees a word that is written from now on
        // sees the new sequence.
        fence(Ordering::Release);
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
            && let Some(line) = self.line_at(sheet, at, until)
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
