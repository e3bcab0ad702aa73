//! Durable tables. A victim is killed before each of its stores to shared memory, and before each
//! system call of the disk. Then memory may be lost, as by a restart of the machine, and a finder
//! may be killed while it recovers or rebuilds. What a survivor finds must be the table as it was
//! after some step, with all that was acknowledged; and a table that is rebuilt from the files of
//! what it has synced must be the same.

mod cases;
pub(crate) mod home;
mod points;
mod soak;
mod step;

pub(crate) use points::run as points;
pub(crate) use soak::run as soak;
