//! The cases, by what they touch.

mod cache;
mod expired;
mod expiry;
mod fixed;
mod growth;
mod keys;
mod large;
mod leases;
mod members;
mod space;
mod tags;
mod transactions;
mod uids;
mod versions;

use super::Run;
use super::case::{Case, Prepared};

/// Makes cases that are kept together, their files with them.
pub(super) type Make = fn(&Run<'_>) -> Prepared<Vec<Case>>;

/// All cases, by what they touch, a few at a time: what a process holds in memory costs at each
/// fork.
pub(super) const ROOMS: [&[Make]; 13] = [
    &[keys::cases],
    &[large::cases],
    &[growth::cases, growth::doubling],
    &[space::cases, space::backing_words],
    &[uids::cases, uids::chunks],
    &[fixed::cases],
    &[expiry::cases, expired::cases],
    &[leases::cases],
    &[tags::cases],
    &[versions::cases],
    &[transactions::cases],
    &[members::cases],
    &[cache::cases],
];
