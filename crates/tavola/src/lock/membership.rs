//! Participants: which processes are attached, and which of them are alive. The kernel answers the
//! second question: it drops the record locks of a process that dies.
//!
//! A participant holds a record lock (`F_OFD_SETLK`) on the byte of its slot as long as it is
//! attached; the kernel drops the lock at death and at exec. So the lock decides which process may
//! use a slot, and a slot in use whose byte is not locked belongs to a dead participant. The lock
//! does not depend on a descriptor ([`LockHolder`]): a program that closes all its descriptors
//! keeps it, and a forked child does not inherit it.
//!
//! The slot's generation increases with each use, so a word that an earlier user stored names no
//! participant any more.

use super::elsewhere::note_copy;
use super::gate::Gate;
use crate::error::{Error, Result};
use crate::layout::{PARTICIPANTS, Participant, Timing};
use crate::lock::Me;
use crate::region::Region;
use crate::sync::{Ordering, W32, W64};
use crate::sys::file::{KeptFile, LockHolder};
use crate::sys::{self, process::Identity, process::Liveness};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

const SLOT_BITS: u32 = 12;
const SLOT_MASK: u32 = (1 << SLOT_BITS) - 1;
const GENERATIONS: u32 = (1 << 19) - 1;
/// The owner of a lock whose holder panicked: slot 0, the last generation. It is never alive.
pub(crate) const ABANDONED: u32 = GENERATIONS << SLOT_BITS;
/// Record locks are on bytes far behind the end of the file.
const LOCK_BYTES: u64 = 1 << 62;

const FREE: u32 = 0;
const ATTACHED: u32 = 1;

/// The participation of this process in one table. It begins at the first write.
pub(crate) struct Membership {
    /// The process generation in which it began; in another one this is a forked child.
    generation: W64,
    id: W32,
    /// What keeps the record lock of our slot.
    holder: LockHolder,
    /// Lets one thread of this process at a time attach, or reclaim what a dead participant left.
    pub(crate) gate: Gate,
}

fn id_of(slot: u32, generation: u32) -> u32 {
    slot | generation << SLOT_BITS
}

fn lock_byte(slot: u32) -> u64 {
    LOCK_BYTES + u64::from(slot)
}

impl Membership {
    pub(crate) const fn new() -> Self {
        Self {
            generation: W64::new(0),
            id: W32::new(0),
            holder: LockHolder::new(),
            gate: Gate::new(),
        }
    }

    /// Returns the participant that this process is, if it is attached.
    #[inline(always)]
    pub(crate) fn current(&self) -> Option<Me> {
        // Pairs with the release in `attach`: a thread that sees the generation sees the id.
        let is_ours = self.generation.load(Ordering::Acquire) == sys::process::generation();
        is_ours.then(|| Me::new(self.id.load(Ordering::Relaxed)))
    }

    /// Makes this process a participant. If no slot is free it takes the slot of a dead
    /// participant; then it must also reclaim what that one left ([`resources_of`]).
    #[cold]
    pub(crate) fn attach(&self, region: &Region, path: &Path) -> Result<Me> {
        let _inside = self.gate.enter()?;
        if let Some(id) = self.current() {
            return Ok(id);
        }
        let own = match region.file() {
            Some(file) => self.own_description(region, file, path)?,
            None => None,
        };
        let id = match (own, region.file()) {
            (Some(own), _) => self
                .holder
                .hold(own.as_fd())
                .and_then(|()| take_slot(region, Some(own.as_fd()))),
            (None, Some(file)) => file.with(|fd| take_slot(region, Some(fd))),
            (None, None) => take_slot(region, None),
        };
        let id = id.map_err(|source| failed(path, source))?;
        let id = id.ok_or(Error::TooManyParticipants {
            limit: PARTICIPANTS - 1,
        })?;
        region.take_pin_slot(id & SLOT_MASK);
        self.id.store(id, Ordering::Relaxed);
        self.generation
            .store(sys::process::generation(), Ordering::Release);
        Ok(Me::new(id))
    }

    /// Opens the table's file once more, for the record lock alone. Returns `None` if this process
    /// may not open it any more, but has opened it itself: then the lock can be on the description
    /// that it has.
    fn own_description(
        &self,
        region: &Region,
        file: &KeptFile,
        path: &Path,
    ) -> Result<Option<OwnedFd>> {
        let is_child = is_inherited(region) || self.generation.load(Ordering::Relaxed) != 0;
        if is_child {
            // The locks by which we adopt are on the kept file, which must not share its
            // description with our parent.
            file.renew().map_err(|source| inherited(path, source))?;
        }
        match file.reopened() {
            Ok(own) => Ok(Some(own)),
            Err(source) if source.kind() == ErrorKind::PermissionDenied && !is_child => Ok(None),
            Err(source) => Err(inherited(path, source)),
        }
    }

    /// Frees the slot, unless it belongs to the process that we were forked from.
    pub(crate) fn detach(&self, region: &Region) {
        if self.generation.load(Ordering::Acquire) != sys::process::generation() {
            return;
        }
        let slot = self.id.load(Ordering::Relaxed) & SLOT_MASK;
        region.leave_pin_slot();
        region.take_pins_off(slot);
        region
            .participant(slot)
            .state
            .store(FREE, Ordering::Release);
        self.holder.release();
        self.generation.store(0, Ordering::Release);
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io {
        op: "attaching to the table",
        path: path.to_path_buf(),
        source,
    }
}

/// Explains that a child may not open the file that it has inherited open.
fn inherited(path: &Path, source: io::Error) -> Error {
    if source.kind() != ErrorKind::PermissionDenied {
        return failed(path, source);
    }
    Error::Permission {
        path: path.to_path_buf(),
        source: io::Error::new(
            ErrorKind::PermissionDenied,
            "a forked child opens the table again at its first write; let the child write once \
            before it drops its privileges",
        ),
    }
}

/// Returns whether a process that we were forked from opened the file.
fn is_inherited(region: &Region) -> bool {
    region.opened() != sys::process::generation()
}

/// Takes a slot, and locks its byte through `fd`. Returns `None` if living participants have all.
fn take_slot(region: &Region, fd: Option<BorrowedFd<'_>>) -> io::Result<Option<u32>> {
    // Free slots first, then those of dead participants.
    for state in [FREE, ATTACHED] {
        for slot in 1..PARTICIPANTS {
            if region.participant(slot).state.load(Ordering::Relaxed) == state
                && let Some(id) = try_slot(region, fd, slot, state)?
            {
                return Ok(Some(id));
            }
        }
    }
    Ok(None)
}

/// Takes a slot that is in `state`, if no process holds its record lock.
fn try_slot(
    region: &Region,
    fd: Option<BorrowedFd<'_>>,
    slot: u32,
    state: u32,
) -> io::Result<Option<u32>> {
    let p = region.participant(slot);
    match fd {
        Some(fd) => {
            if !sys::file::try_lock_byte(fd, lock_byte(slot))? {
                return Ok(None);
            }
            let has_resources = p.predecessor.load(Ordering::Relaxed) != 0;
            if p.state.load(Ordering::Acquire) != state || has_resources {
                sys::file::unlock_byte(fd, lock_byte(slot))?;
                return Ok(None);
            }
        }
        None => {
            if state != FREE || p.state.cas(FREE, ATTACHED, Ordering::Acquire).is_err() {
                return Ok(None);
            }
        }
    }
    // The pins of an earlier user that is dead, or whose slot was damaged.
    region.take_pins_off(slot);
    let before = id_of(slot, p.generation.load(Ordering::Relaxed) & GENERATIONS);
    if state == ATTACHED {
        note_copy(region, slot);
        // Before the generation: if we die, a survivor must find the resources of both
        // participants.
        p.predecessor.store(before, Ordering::Release);
    }
    let generation = match p.generation.load(Ordering::Relaxed).wrapping_add(1) {
        g if (1..GENERATIONS).contains(&g) => g,
        _ => 1,
    };
    // The generation before the identity: from here on, a word of the slot's earlier user names no
    // participant.
    p.generation.store(generation, Ordering::Release);
    let identity = sys::process::identity();
    p.pid.store(identity.pid, Ordering::Relaxed);
    p.start_time.store(identity.start_time, Ordering::Relaxed);
    p.pid_ns.store(identity.pid_ns, Ordering::Relaxed);
    p.time_ns.store(identity.time_ns, Ordering::Relaxed);
    p.attached.store(sys::clock::unix_s(), Ordering::Relaxed);
    let [ino, born] = region.file_identity();
    p.file_ino.store(ino, Ordering::Relaxed);
    p.file_born.store(born, Ordering::Relaxed);
    p.connections.store(0, Ordering::Relaxed);
    p.accepted.store(0, Ordering::Relaxed);
    raise_last_slot(region, slot);
    p.state.store(ATTACHED, Ordering::Release);
    Ok(Some(id_of(slot, generation)))
}

/// Raises the last slot ever used to at least `slot`, before the slot's user counts anything.
fn raise_last_slot(region: &Region, slot: u32) {
    let word = &region.superblock().last_slot;
    let mut last = word.load(Ordering::Relaxed);
    while last < slot {
        match word.cas(last, slot, Ordering::Relaxed) {
            Ok(_) => return,
            Err(now) => last = now,
        }
    }
}

/// Returns where a cache's participant counts what it does.
#[inline(always)]
pub(crate) fn tally(region: &Region, id: u32) -> &Participant {
    region.participant((id & SLOT_MASK) % PARTICIPANTS)
}

/// Returns where a participant counts how long its calls took.
pub(crate) fn timing(region: &Region, id: u32) -> &Timing {
    region.timing(id & SLOT_MASK)
}

/// Returns where all participants counted, those that are gone included.
pub(crate) fn tallies(region: &Region) -> impl Iterator<Item = &Participant> {
    let last = region.superblock().last_slot.load(Ordering::Relaxed);
    (0..=last.min(PARTICIPANTS - 1)).map(|slot| region.participant(slot))
}

/// Returns whether the participant may still use what it holds; true when in doubt.
pub(crate) fn is_alive(region: &Region, id: u32, me: Me) -> bool {
    let slot = id & SLOT_MASK;
    if slot == 0 || slot >= PARTICIPANTS {
        return false;
    }
    if id == me.id() {
        return true;
    }
    // We have locked its slot ourselves, through another description than the one that we ask
    // below.
    if id == region.adopted.load(Ordering::Relaxed) {
        return false;
    }
    let p = region.participant(slot);
    let current = id_of(slot, p.generation.load(Ordering::Acquire));
    let state = p.state.load(Ordering::Acquire);
    if current != id || state == FREE {
        return false;
    }
    let Some(file) = region.file() else {
        return true;
    };
    // A query does not show locks of a description that we share. If our parent could not open the
    // file once more, its lock is on such a description: so a child that has not written yet relies
    // on pid and start time alone.
    let is_ours = me.is_attached() || !is_inherited(region);
    let is_free = || {
        file.with(|fd| Ok(!sys::file::byte_is_locked(fd, lock_byte(slot))?))
            .unwrap_or(false)
    };
    if is_ours && is_free() {
        return false;
    }
    sys::process::liveness(&identity_of(region, slot), &sys::process::identity()) != Liveness::Dead
}

/// Returns the slot of a participant if it still has it.
pub(super) fn slot_of(region: &Region, id: u32) -> Option<u32> {
    let slot = id & SLOT_MASK;
    let is_slot = (1..PARTICIPANTS).contains(&slot);
    let generation = || region.participant(slot).generation.load(Ordering::Acquire);
    (is_slot && id_of(slot, generation() & GENERATIONS) == id).then_some(slot)
}

/// Returns the identity that the participant in a slot stored.
pub(crate) fn identity_of(region: &Region, slot: u32) -> Identity {
    let p = region.participant(slot);
    Identity {
        pid: p.pid.load(Ordering::Relaxed),
        start_time: p.start_time.load(Ordering::Relaxed),
        pid_ns: p.pid_ns.load(Ordering::Relaxed),
        time_ns: p.time_ns.load(Ordering::Relaxed),
    }
}

/// An attached participant, as described in its slot.
pub(crate) struct Member {
    pub(crate) slot: u32,
    pub(crate) id: u32,
    pub(crate) pid: u32,
    pub(crate) attached_unix_s: u64,
}

/// Returns the participants of all slots in use, dead ones included.
pub(crate) fn members(region: &Region) -> impl Iterator<Item = Member> + '_ {
    (1..PARTICIPANTS).filter_map(|slot| member(region, slot))
}

fn member(region: &Region, slot: u32) -> Option<Member> {
    let p = region.participant(slot);
    (p.state.load(Ordering::Acquire) != FREE).then(|| Member {
        slot,
        id: id_of(slot, p.generation.load(Ordering::Acquire) & GENERATIONS),
        pid: p.pid.load(Ordering::Relaxed),
        attached_unix_s: p.attached.load(Ordering::Relaxed),
    })
}

/// Takes the record lock of a dead participant's slot: then this process alone may reclaim what
/// that participant left.
///
/// Returns `None` if another process has the lock, or if the lock survives in a forked child. In
/// that case the reclaim waits until the child ends; nothing else waits for it.
///
/// The lock is on a description that is opened for it alone. The description of the kept file is
/// shared with the children that this process has forked: they would keep the lock if this process
/// died now. It is used only if the file cannot be opened again.
///
/// Record locks do not keep threads apart that share an open file: the caller is inside
/// `Membership::gate`.
pub(crate) fn adopt(region: &Region, id: u32, me: Me) -> Option<Adopted> {
    let slot = id & SLOT_MASK;
    // Never our own slot: the lock that we have already would be released with the adoption.
    if slot == 0 || slot >= PARTICIPANTS || slot == me.id() & SLOT_MASK {
        return None;
    }
    let p = region.participant(slot);
    let is_same = || {
        p.state.load(Ordering::Acquire) != FREE
            && id_of(slot, p.generation.load(Ordering::Acquire) & GENERATIONS) == id
    };
    if !is_same() {
        return None;
    }
    let mut own = None;
    if let Some(file) = region.file() {
        own = file.reopened().ok();
        let lock = |fd: BorrowedFd<'_>| sys::file::try_lock_byte(fd, lock_byte(slot));
        let is_locked = match &own {
            Some(own) => lock(own.as_fd()),
            None => file.with(lock),
        };
        if !is_locked.unwrap_or(false) {
            return None;
        }
    }
    region.adopted.store(id, Ordering::Relaxed);
    let adopted = Adopted { id, own };
    if !is_same() {
        retire(region, adopted, false);
        return None;
    }
    note_copy(region, slot);
    Some(adopted)
}

/// A dead participant whose resources this process reclaims.
pub(crate) struct Adopted {
    pub(crate) id: u32,
    /// The description that has the record lock, unless that of the kept file has it.
    own: Option<OwnedFd>,
}

/// Ends an adoption, and frees the slot if its resources were reclaimed.
pub(crate) fn retire(region: &Region, adopted: Adopted, reclaimed: bool) {
    let slot = adopted.id & SLOT_MASK;
    region.adopted.store(0, Ordering::Relaxed);
    if reclaimed {
        region.take_pins_off(slot);
        region
            .participant(slot)
            .state
            .store(FREE, Ordering::Release);
    }
    if let (Some(file), None) = (region.file(), &adopted.own) {
        let _ = file.with(|fd| sys::file::unlock_byte(fd, lock_byte(slot)));
    }
}

/// How many slots one call of [`next_member`] scans.
const SCANNED_SLOTS: u32 = 64;

/// Returns the first slot in use among the next few from `slot` on, and where to continue.
pub(crate) fn next_member(region: &Region, slot: u32) -> (Option<Member>, u32) {
    let from = if (1..PARTICIPANTS).contains(&slot) {
        slot
    } else {
        1
    };
    let until = (from + SCANNED_SLOTS).min(PARTICIPANTS);
    let found = (from..until).find_map(|slot| member(region, slot));
    let next = found.as_ref().map_or(until, |member| member.slot + 1);
    (found, next)
}

/// Returns the dead participant whose resources this one has still to reclaim, or 0 if there is
/// none.
pub(crate) fn resources_of(region: &Region, id: u32) -> u32 {
    region
        .participant(id & SLOT_MASK)
        .predecessor
        .load(Ordering::Acquire)
}

/// Notes that those resources have been reclaimed.
pub(crate) fn clear_resources(region: &Region, id: u32) {
    region
        .participant(id & SLOT_MASK)
        .predecessor
        .store(0, Ordering::Release);
}
