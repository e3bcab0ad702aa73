//! Tables that go with their last user.
//!
//! Opening such a table attaches under the lock of its name, and closing it detaches under that
//! lock: so of several processes that close it at once one is the last, and nobody attaches to a
//! file whose name is being removed. After a kill nobody detaches; the next process that opens or
//! lists the table finds no user, and removes it.

use super::me::Me;
use super::membership::{Membership, is_alive, members};
use crate::layout::Owner;
use crate::region::{Location, NameLock, NameState, Region};
use std::path::Path;

/// Returns whether a living participant other than `me` is attached.
pub(crate) fn has_users(region: &Region, me: Me) -> bool {
    members(region).any(|member| member.id != me.id() && is_alive(region, member.id, me))
}

/// Detaches. If the table goes with its last user, and this is the last, its name is removed first.
/// A forked child that has not attached does nothing.
pub(crate) fn leave_as_last(membership: &Membership, region: &Region, path: &Path) {
    let goes = region.geometry().owner == Some(Owner::LastUser);
    let Some(me) = membership
        .current()
        .filter(|_| goes && region.file().is_some())
    else {
        return membership.detach(region);
    };
    let at = Location::of(path.as_os_str(), true).ok();
    // Without the lock (the directory may be gone) the name stays, as it does after a kill.
    let lock = at.as_ref().and_then(|at| NameLock::of(at).ok().flatten());
    if let Some(lock) = &lock
        && region.name_state() == NameState::Same
        && !has_users(region, me)
    {
        let _ = lock.remove_name();
    }
    membership.detach(region);
}
