//! The command, run as people and scripts run it, in a directory of tables of each test's own.
//!
//! What belongs to a whole process, such as namespaces and limits, is changed in the processes that
//! are started: other tests run beside each.

mod caches;
mod compute;
mod constant;
mod containers;
mod copy;
mod doctor;
mod durable;
mod durable_figures;
mod durable_places;
mod durable_progress;
mod exporter;
#[cfg(feature = "client")]
mod fleet;
mod foreign;
mod guidance;
mod holders;
mod keeping;
mod keys;
mod living;
mod logs;
#[cfg(feature = "near")]
mod near;
mod overlay;
mod pages;
mod queues;
mod saved;
mod serve;
mod session;
mod sharing;
mod shell;
mod small_stack;
mod streams;
mod tables;
mod terminal;
mod top;
mod tour;
mod transactions;
mod units;
mod verbs;
