//! Taking sheets, and restarting them.
//!
//! A thread searches from the word `next` on, so that sheets are used in turn, and makes a sheet
//! its own by one compare and exchange of the owner's word (LOG-1). All searches are bounded, and a
//! system call that asks whether an owner lives is made rarely: first for a few owners, and for all
//! of them only if that found nothing.

use super::LogRing;
use crate::layout::{DROP_OLDEST, Drained, LEVELS, LineHead, SHEET_WORDS, SheetState};
use crate::lock::{Me, is_alive, wake};
use crate::sync::{Ordering, fence};
use crate::sys::clock::unix_ns;

/// How many sheets a thread examines before its first line, for one that was released with room.
/// Without this, each process that writes one line and ends would use up a sheet.
const RECENT: u64 = 8;
/// A free sheet with this many words of room is used before any line is dropped.
const ROOM: u32 = SHEET_WORDS / 16;
/// How many candidates are compared; the one with the oldest lines is restarted.
const CHOICE: u32 = 8;
/// How many sheets are examined for one whose lines are written out, if the oldest lines may be
/// dropped.
const DRAINED_CANDIDATES: u32 = 64;
/// How many sheets are examined for room, if the oldest lines may be dropped.
const ROOM_CANDIDATES: u32 = 4096;
/// How many owners are asked about in such a search.
const ROOM_ASKS: u32 = 16;

/// The result of taking a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SheetTaken {
    /// `is_over`: lines that awaited a drain were overwritten, as there was no other sheet.
    Sheet { sheet: u32, is_over: bool },
    /// All free sheets are full of lines that await a drain.
    NotDrained,
    /// Living threads own all sheets.
    AllInHand,
}

/// Which owners are known to live: asking the system takes microseconds.
struct LiveOwners {
    me: Me,
    /// The last owner that was found alive.
    alive: u32,
    /// How many more owners may be asked about; when it is 0, an owner counts as alive.
    asks: u32,
}

impl LiveOwners {
    /// Returns whether an owner's word names no living participant, so that the sheet is free.
    fn is_gone(&mut self, ring: &LogRing<'_>, owner: u32) -> bool {
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

/// The limits of one search for a sheet.
#[derive(Clone, Copy)]
struct SheetSearch {
    /// How many owners may be asked about.
    asks: u32,
    may_drop: bool,
    sheets: u32,
}

/// A sheet as a search found it.
#[derive(Clone, Copy)]
struct Choice {
    turn: u64,
    owner: u32,
    state: SheetState,
    /// The time of its last line.
    time: u64,
}

/// The result of a search.
enum SearchEnd {
    /// This thread owns the sheet, and it is still as it was found.
    Owned(Choice),
    /// Another thread took the sheet first.
    Outrun,
    /// No sheet was found, but some free ones have lines that await a drain.
    Waiting,
    None,
}

impl LogRing<'_> {
    /// Takes a sheet with room for `words`. `is_full` means that this thread has just searched for
    /// one that can be had without dropping lines, and found none.
    pub(super) fn take(&self, me: Me, words: u32, is_first: bool, is_full: bool) -> SheetTaken {
        let all = self.geometry.sheets;
        let kept = |sheet| SheetTaken::Sheet {
            sheet,
            is_over: false,
        };
        if is_first
            && let Some(sheet) = self.continue_on(me, words, RECENT.min(u64::from(all) / 2), 2)
        {
            return kept(sheet);
        }
        let is_lossy = self.geometry.policy == DROP_OLDEST;
        // Sheets to examine, owners to ask about, owners to ask about when searching for room. The
        // first search only notices dead owners in passing, the last one asks about each.
        let searches: &[(u32, u32, u32)] = match (is_full, is_lossy) {
            (true, _) => &[],
            (false, true) => &[(all.min(DRAINED_CANDIDATES), 2, ROOM_ASKS)],
            (false, false) => &[(all, 2, 2), (all, u32::MAX, u32::MAX)],
        };
        let rooms = if is_lossy {
            all.min(ROOM_CANDIDATES)
        } else {
            all
        };
        let mut is_any_waiting = is_full;
        for &(sheets, asks, room_asks) in searches {
            let search = SheetSearch {
                asks,
                may_drop: false,
                sheets,
            };
            match self.begin_found(me, search) {
                Ok(sheet) => return kept(sheet),
                Err(is_waiting) => is_any_waiting |= is_waiting,
            }
            let least = words.max(ROOM);
            if let Some(sheet) = self.continue_on(me, least, u64::from(rooms), room_asks) {
                return kept(sheet);
            }
        }
        if is_lossy {
            return self.take_over(me);
        }
        match is_any_waiting {
            true => SheetTaken::NotDrained,
            false => SheetTaken::AllInHand,
        }
    }

    /// Takes a sheet whatever lines are on it.
    fn take_over(&self, me: Me) -> SheetTaken {
        for asks in [2, u32::MAX] {
            let search = SheetSearch {
                asks,
                may_drop: true,
                sheets: self.geometry.sheets,
            };
            if let Ok(sheet) = self.begin_found(me, search) {
                return SheetTaken::Sheet {
                    sheet,
                    is_over: true,
                };
            }
        }
        SheetTaken::AllInHand
    }

    /// Restarts a sheet that a search finds. If there is none, returns `Err` with whether free
    /// sheets have lines that await a drain.
    fn begin_found(&self, me: Me, search: SheetSearch) -> Result<u32, bool> {
        loop {
            match self.find(me, search) {
                SearchEnd::Owned(Choice { turn, state, .. }) => {
                    let sheet = self.number(turn);
                    self.restart(sheet, state);
                    self.continue_behind(turn);
                    return Ok(sheet);
                }
                SearchEnd::Outrun => {}
                SearchEnd::Waiting => return Err(true),
                SearchEnd::None => return Err(false),
            }
        }
    }

    /// Searches for free sheets, from `next` on, and owns the one of the first few candidates whose
    /// last line is oldest. The candidates before it are found again after all other sheets.
    fn find(&self, me: Me, search: SheetSearch) -> SearchEnd {
        let mut owners = LiveOwners {
            me,
            alive: 0,
            asks: search.asks,
        };
        let next = self.head.next.load(Ordering::Relaxed);
        let (mut choices, mut is_any_waiting) = (0, false);
        let mut best: Option<Choice> = None;
        for turn in (0..u64::from(search.sheets)).map(|more| next.wrapping_add(more)) {
            let sheet = self.number(turn);
            let head = self.sheet(sheet);
            let owner = head.owner.load(Ordering::Relaxed);
            if !owners.is_gone(self, owner) {
                continue;
            }
            let state = self.state_of(sheet);
            if !search.may_drop && !self.is_dealt_with(sheet, state) {
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
            None if is_any_waiting => SearchEnd::Waiting,
            None => SearchEnd::None,
            Some(choice) if self.own_as_found(me, choice) => SearchEnd::Owned(choice),
            Some(_) => SearchEnd::Outrun,
        }
    }

    /// Returns the sheet of a turn: turns count up forever, sheets repeat.
    fn number(&self, turn: u64) -> u32 {
        (turn % u64::from(self.geometry.sheets)) as u32
    }

    fn state_of(&self, sheet: u32) -> SheetState {
        SheetState::decode(self.sheet(sheet).state.load(Ordering::Relaxed))
    }

    /// Makes a sheet this thread's if its owner's word is still `owner`, which is 0 or a dead
    /// participant (LOG-1).
    pub(super) fn own(&self, me: Me, sheet: u32, owner: u32) -> bool {
        // Pairs with the release in `release`: this thread continues from what the last owner
        // wrote.
        let word = &self.sheet(sheet).owner;
        word.cas(owner, me.id(), Ordering::Acquire).is_ok()
    }

    /// Owns a sheet unless another thread has owned it since it was found. Its lines may be the
    /// newest now and may await the drain, although the owner's word is what it was.
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

    /// Takes a free sheet with `words` of room, among the `sheets` that were restarted last; asks
    /// about at most `asks` owners.
    fn continue_on(&self, me: Me, words: u32, sheets: u64, asks: u32) -> Option<u32> {
        let mut owners = LiveOwners { me, alive: 0, asks };
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
                // A line that a dead owner left half-written is not being written any more.
                let idle = SheetState {
                    is_writing: false,
                    ..state
                };
                // Release, as for each line: a reader that sees this state sees the lines that it
                // counts.
                head.state.store(idle.encode(), Ordering::Release);
                head.time.store(unix_ns(), Ordering::Relaxed);
                return Some(sheet);
            }
            self.release(me, sheet);
        }
        None
    }

    /// Returns whether a sheet that this thread owns consists of the lines that its state counts.
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

    /// Returns the head of the line at a word, if the line ends at `until` or before.
    fn line_at(&self, sheet: u32, at: u32, until: u32) -> Option<LineHead> {
        let word = self.region.word(self.place(sheet, at));
        let line = LineHead::decode([word.load(Ordering::Relaxed), 0, 0]);
        (LEVELS.contains(&line.level) && at + line.words() <= until).then_some(line)
    }

    /// Returns whether a sheet in that state has no line that awaits a drain, and so may be
    /// restarted.
    fn is_dealt_with(&self, sheet: u32, state: SheetState) -> bool {
        let word = self.sheet(sheet).drained.load(Ordering::Relaxed);
        Drained::decode(word, state).words >= state.used
    }

    /// Makes the next search begin behind this sheet, unless another thread has moved `next`
    /// further.
    fn continue_behind(&self, turn: u64) {
        let (next, behind) = (self.head.next.load(Ordering::Relaxed), turn.wrapping_add(1));
        if behind.wrapping_sub(next) <= u64::from(self.geometry.sheets) {
            let _ = self.head.next.cas(next, behind, Ordering::Relaxed);
        }
    }

    /// Releases a sheet.
    pub(super) fn release(&self, me: Me, sheet: u32) {
        let word = &self.sheet(sheet).owner;
        // After a panic or a fork, this hand may still name a sheet that another participant owns
        // now.
        if word.load(Ordering::Relaxed) == me.id() {
            word.store(0, Ordering::Release);
        }
    }

    /// Releases a sheet. If it may be of use to writers that found none, makes them search again.
    pub(super) fn let_go(&self, me: Me, sheet: u32) {
        let state = self.state_of(sheet);
        let is_of_use = state.used + ROOM <= SHEET_WORDS || self.is_dealt_with(sheet, state);
        self.release(me, sheet);
        if is_of_use || self.geometry.policy != DROP_OLDEST {
            // Pairs with the acquire in `put_on_next`.
            self.head.passes.fetch_add(1, Ordering::Release);
        }
    }

    /// Clears a sheet that this thread owns, and that is in that state. Lines that await a drain
    /// are dropped (LOG-4): the search chose such a sheet only if they may be.
    fn restart(&self, sheet: u32, state: SheetState) {
        self.drop_awaiting(sheet, state);
        self.sheet(sheet).time.store(unix_ns(), Ordering::Relaxed);
        self.renew(sheet, state, 0, 0);
    }

    /// Marks the lines of a sheet that this thread owns as dealt with, and counts them as dropped
    /// (LOG-4).
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
            // Pairs with the exchange in `deal_with`: only one of the two deals with these lines.
            match word.cas(found, behind.encode(), Ordering::AcqRel) {
                Ok(_) => return,
                Err(_) => self.take_back(lines),
            }
        }
    }

    /// Gives a sheet that this thread owns the next sequence, and keeps `used` words of its lines.
    pub(super) fn renew(&self, sheet: u32, state: SheetState, used: u32, lines: u32) {
        let new = SheetState {
            sequence: state.sequence.wrapping_add(1),
            used,
            lines,
            is_writing: false,
        };
        self.sheet(sheet)
            .state
            .store(new.encode(), Ordering::Release);
        // LOG-3. Pairs with the acquire fence in `copy`: a reader that sees a word written from now
        // on sees the new sequence.
        fence(Ordering::Release);
    }

    /// Corrects the count: these lines were not dropped after all.
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
