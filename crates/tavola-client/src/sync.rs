//! The locks and threads of `pool` and `held`: the system's, or with the feature `shuttle` those of
//! a model checker, which chooses the thread that continues at each of them (`make shuttle`).

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicUsize};
#[cfg(feature = "shuttle")]
pub(crate) use shuttle::thread::{self, ThreadId};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, atomic::AtomicUsize};
#[cfg(not(feature = "shuttle"))]
pub(crate) use std::thread::{self, ThreadId};
