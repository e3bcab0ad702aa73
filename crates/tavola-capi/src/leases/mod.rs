//! Leases: of all processes that miss a value at once, one computes it.

// In this order they stand in the header.
mod options;

mod lease;

mod compute;

#[cfg(test)]
pub(crate) use {lease::tavola_leased, options::tavola_lease_options};
