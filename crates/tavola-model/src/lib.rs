//! One kind of operation on a table, and a model of the table: a map of the standard library with
//! what keys have beside their values. The model tests of the core, the fuzz targets and the
//! torture tests compare a table with it in the same way.
//!
//! [`perform`] does an [`Op`] to a table, [`Model::expect`] says what it should answer and what it
//! changes. [`play`] does both, and fails where they differ. [`agree`] compares all that a table
//! holds with a model.

#![forbid(unsafe_code)]

mod answer;
mod compare;
mod expect;
mod fixed;
mod held;
mod model;
mod op;
mod perform;

pub use answer::{Answer, Refusal};
pub use compare::{agree, contents, leads_to, play, play_lossy, whole};
pub use fixed::{Fixed, Needs};
pub use held::{Bytes, Held, Life, Tags};
pub use model::{Effect, Model, brief};
pub use op::{End, Op, Uid};
pub use perform::{LEASE_ERROR, lease_options, perform};
