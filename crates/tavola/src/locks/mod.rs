//! Named locks and semaphores beside a table, for the programs that use it.
//!
//! A lock is held exclusively by one thread, or shared by several. Its word names the participant
//! that holds it exclusively, as the words in `lock` do. A thread that shares it, or holds a permit
//! of a semaphore, has one of the record's words `sharing` to itself, which names its participant.
//! So whatever a dead process held can be found and taken over.
//!
//! **LOCKS-1** A thread that wants to share stores itself in a word of `sharing` that was free,
//! after raising `reach` above it, and then looks at `word`. One that wants the lock for itself
//! stores itself in `word`, and then looks at the first `reach` words of `sharing`. All these
//! accesses are sequentially consistent, so one of the two sees the other: a sharer that finds
//! `word` taken gives its place back, and waits.
//!
//! **LOCKS-2** The next holder after a death has a lock exclusively, even if it asked to share it,
//! and learns of it: only so it can repair what the lock guards. If it stops waiting for those who
//! share the lock, it puts the dead owner back, so that the next one learns of it.
//!
//! **LOCKS-3** A sleeper first reads `leaves`, then stores 1 in `wanted`, then looks at `sharing`
//! once more. A leaver first gives its place back, and then looks at `wanted`; if it is 1, it
//! stores 0, raises `leaves`, and wakes all. So a leaver that the sleeper's look missed either sees
//! 1, or another one raised `leaves` after the sleeper read it. A leaver that dies in between costs
//! the sleeper [`PATIENCE`], after which it looks again.
//!
//! | dies | what the others find |
//! |---|---|
//! | with the word | the word names a dead participant: LOCKS-2 |
//! | while it waits for those who share | the same |
//! | with a place in `sharing` | a place of a dead participant, which a waiter takes back |
//! | before `named` rises | a record without a name, which the next new lock fills |

mod check;
mod hold;
mod set;

pub(crate) use check::{check, repair};
pub(crate) use hold::{Held, Holder};
pub(crate) use set::{names, open};
