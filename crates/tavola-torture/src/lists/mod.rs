//! Transactions that append to lists. Processes do them on one table, are killed at random, and may
//! lose the table's memory. Their histories must be strictly serializable.
//!
//! Each value is a list, and each appended element a number of its own. So a list that was read
//! says which transactions had appended to it, in which order: a read depends on the last of them,
//! and the next one depends on the read. A cycle of dependencies is a mistake (Kingsbury and
//! Alvaro, *Elle*, 2020).
//!
//! | file | what it holds |
//! |---|---|
//! | `history` | transactions, lists, what is known about them |
//! | `order` | the order of each list's elements, and mistakes that need no graph |
//! | `graph` | dependencies, cycles |
//! | `check` | all of it |
//! | `singles` | the same for single calls: counters, keys that are set |
//! | `seat` | where a worker notes what it does |
//! | `worker`, `soak` | processes that do it |
//! | `disk` | a file system that is cut under them |

mod check;
mod disk;
mod graph;
mod history;
#[cfg(test)]
mod mistakes;
mod order;
mod seat;
mod singles;
mod soak;
mod worker;

pub(crate) use soak::{run as soak, run_on_disk as soak_on_disk};
