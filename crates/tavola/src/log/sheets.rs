//! Taking sheets, and beginning them anew.

use super::Ring;
use crate::layout::{DROP_OLDEST, Drained, LEVELS, LineHead, SHEET_WORDS, SheetState};
use crate::lock::{Me, is_alive, wake};
use crate::sync::{Ordering, fence};
use crate::sys::clock::unix_ns;

/// Sheets that a thread looks at for its first line: one that was given up with room, so that
/// processes which write a line and end do not use up a sheet each.
const RECENT: u64 = 8;
/// Words of room with which a free sheet is written on before any line is dropped.
const ROOM: u32 = SHEET_WORDS / 16;
/// Sheets among which the one with the oldest lines is begun again.
const CHOICE: u32 = 8;
/// Sheets that are looked at for one whose lines are written out, where the oldest may be dropped.
const LOOKS: u32 = 64;
/// Sheets that are looked at for room, where the oldest lines may be dropped.
const ROOM_LOOKS: u32 = 4096;
/// Owners that are asked about in such a look.
const ROOM_ASKS: u32 = 16;

/// What became of the wish for a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// `is_over`: it was begun again over lines that awaited a drain, as there was no room.
    Sheet { sheet: u32, is_over: bool },
    /// The free ones are full of lines that a drain is to write.
    NotDrained,
    /// Living threads have them all.
    AllInHand,
}

/// Which owners are known to live: asking the system takes microseconds.
struct Owners {
    me: Me,
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
        if owner == self.me.id() || owner == self.alive || self.asks == 0 {
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
    /// Takes a sheet with room for so many words. `is_full`: this thread has just looked for one
    /// that can be had without dropping lines.
    pub(super) fn take(&self, me: Me, words: u32, is_first: bool, is_full: bool) -> Taken {
        let all = self.geometry.sheets;
        let kept = |sheet| Taken::Sheet {
            sheet,
            is_over: false,
        };
        if is_first
            && let Some(sheet) = self.continue_on(me, words, (RECENT.min(u64::from(all) / 2), 2))
        {
            return kept(sheet);
        }
        let is_lossy = self.geometry.policy == DROP_OLDEST;
        // Sheets that are looked at, owners that are asked about: the dead only in passing, or at
        // last about each.
        let looks: &[(u32, u32, u32)] = match (is_full, is_lossy) {
            (true, _) => &[],
            (false, true) => &[(all.min(LOOKS), 2, ROOM_ASKS)],
            (false, false) => &[(all, 2, 2), (all, u32::MAX, u32::MAX)],
        };
        let rooms = if is_lossy { all.min(ROOM_LOOKS) } else { all };
        let mut is_any_waiting = is_full;
        for &(sheets, asks, room_asks) in looks {
            let look = Look {
                asks,
                may_drop: false,
                sheets,
            };
            match self.begin_found(me, look) {
                Ok(sheet) => return kept(sheet),
                Err(is_waiting) => is_any_waiting |= is_waiting,
            }
            let least = words.max(ROOM);
            if let Some(sheet) = self.continue_on(me, least, (u64::from(rooms), room_asks)) {
                return kept(sheet);
            }
        }
        if is_lossy {
            return self.take_over(me);
        }
        match is_any_waiting {
            true => Taken::NotDrained,
            false => Taken::AllInHand,
        }
    }

    /// Takes a sheet, whatever lines are on it.
    fn take_over(&self, me: Me) -> Taken {
        for asks in [2, u32::MAX] {
            let look = Look {
                asks,
                may_drop: true,
                sheets: self.geometry.sheets,
            };
            if let Ok(sheet) = self.begin_found(me, look) {
                return Taken::Sheet {
                    sheet,
                    is_over: true,
                };
            }
        }
        Taken::AllInHand
    }

    /// Begins a sheet again that a look finds. `Err`: there is none; whether lines on those in no
    /// living hand await a drain.
    fn begin_found(&self, me: Me, look: Look) -> Result<u32, bool> {
        loop {
            match self.find(me, look) {
                Seen::Owned(Choice { turn, state, .. }) => {
                    let sheet = self.number(turn);
                    self.restart(sheet, state);
                    self.continue_behind(turn);
                    return Ok(sheet);
                }
                Seen::Outrun => {}
                Seen::Waiting => return Err(true),
                Seen::None => return Err(false),
            }
        }
    }

    /// Looks for sheets in no living hand, from the next on, and owns the one whose last line is
    /// oldest of the first few; those before it have their turn when all others have had theirs.
    fn find(&self, me: Me, look: Look) -> Seen {
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

    /// LOG-1: makes a sheet this thread's, if it still is that owner's, who is nobody or no more.
    pub(super) fn own(&self, me: Me, sheet: u32, owner: u32) -> bool {
        // Pairs with the release in `release`: what the last owner wrote is ours to go on with.
        let word = &self.sheet(sheet).owner;
        word.cas(owner, me.id(), Ordering::Acquire).is_ok()
    }

    /// Owns a sheet unless anybody has had it in hand since it was looked at: its lines may be the
    /// newest now, and such that await the drain, though its owner's word is what it was.
    fn own_as_found(&self, me: Me, choice: Choice) -> bool {
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

    /// Takes a sheet with so many words of room, in no living thread's hand, among so many of those
    /// that were begun last, asking about so many owners.
    fn continue_on(&self, me: Me, words: u32, (sheets, asks): (u64, u32)) -> Option<u32> {
        let mut owners = Owners { me, alive: 0, asks };
        let next = self.head.next.load(Ordering::Relaxed);
        for sheet in (1..=sheets.min(next)).map(|back| self.number(next - back)) {
            let head = self.sheet(sheet);
            let has_room = |state: SheetState| state.used + words <= SHEET_WORDS;
            if !has_room(self.state_of(sheet)) {
                continue;
            }
            let owner = head.owner.load(Ordering::Relaxed);
            if !owners.is_gone(self, owner) || !self.own(me, sheet, owner) {
                continue;
            }
            let state = self.state_of(sheet);
            if has_room(state) && self.is_whole(sheet, state) {
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

    /// Whether a sheet that this thread owns is the lines that its state counts.
    fn is_whole(&self, sheet: u32, state: SheetState) -> bool {
        let (mut at, mut lines) = (0, 0);
        while at < state.used {
            match self.line_at(sheet, at, state.used) {
                Some(line) => at += line.words(),
                None => return false,
            }
            lines += 1;
        }
        at == state.used && lines == state.lines
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
        Drained::decode(word, state).words >= state.used
    }

    /// The next to take a sheet begins there, unless somebody is further.
    fn continue_behind(&self, turn: u64) {
        let (next, behind) = (self.head.next.load(Ordering::Relaxed), turn.wrapping_add(1));
        if behind.wrapping_sub(next) <= u64::from(self.geometry.sheets) {
            let _ = self.head.next.cas(next, behind, Ordering::Relaxed);
        }
    }

    /// Lets others have a sheet.
    pub(super) fn release(&self, me: Me, sheet: u32) {
        let word = &self.sheet(sheet).owner;
        // It is another's if a panic or a fork left us with a hand that is not ours.
        if word.load(Ordering::Relaxed) == me.id() {
            word.store(0, Ordering::Release);
        }
    }

    /// Lets others have a sheet; those that found none look again if it is of use to them.
    pub(super) fn let_go(&self, me: Me, sheet: u32) {
        let state = self.state_of(sheet);
        let is_of_use = state.used + ROOM <= SHEET_WORDS || self.is_dealt_with(sheet, state);
        self.release(me, sheet);
        if is_of_use || self.geometry.policy != DROP_OLDEST {
            // Pairs with the acquire in `put_on_next`.
            self.head.passes.fetch_add(1, Ordering::Release);
        }
    }

    /// Clears a sheet that this thread owns and that is in that state. Lines that await a drain are
    /// dropped (LOG-4): it was chosen where they may be.
    fn restart(&self, sheet: u32, state: SheetState) {
        self.drop_awaiting(sheet, state);
        self.sheet(sheet).time.store(unix_ns(), Ordering::Relaxed);
        self.renew(sheet, state, (0, 0));
    }

    /// LOG-4: the lines of a sheet that this thread owns await no drain any more; they are counted.
    pub(super) fn drop_awaiting(&self, sheet: u32, state: SheetState) {
        let word = &self.sheet(sheet).drained;
        loop {
            let found = word.load(Ordering::Relaxed);
            let drained = Drained::decode(found, state);
            if drained.words >= state.used {
                return;
            }
            let lines = u64::from(state.lines - drained.lines);
            self.head.dropped.fetch_add(lines, Ordering::Relaxed);
            let behind = Drained {
                words: state.used,
                lines: state.lines,
                ..drained
            };
            // Pairs with the drain's: one of us deals with these lines.
            match word.cas(found, behind.encode(), Ordering::AcqRel) {
                Ok(_) => return,
                Err(_) => self.take_back(lines),
            }
        }
    }

    /// Gives a sheet that this thread owns the next sequence, with so many words of its lines.
    pub(super) fn renew(&self, sheet: u32, state: SheetState, (used, lines): (u32, u32)) {
        let new = SheetState {
            sequence: state.sequence.wrapping_add(1),
            used,
            lines,
            is_writing: false,
        };
        self.sheet(sheet)
            .state
            .store(new.encode(), Ordering::Release);
        // LOG-3. Pairs with the acquire fence in `copy`: who sees a word that is written from now
        // on sees the new sequence.
        fence(Ordering::Release);
    }

    /// These lines were not dropped after all.
    pub(super) fn take_back(&self, lines: u64) {
        self.head
            .dropped
            .fetch_add(lines.wrapping_neg(), Ordering::Relaxed);
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
