//! Peers whose programs are this program: Tavola's crate, and maps of one process.

use super::{Peer, Place, STORE, Start, Together};

const IN_PROCESS: Peer = Peer {
    language: "Rust",
    start: Start::Rust,
    workloads: "efghi",
    place: Place::Memory,
    together: Together::Threads,
    ..STORE
};

/// A map of one process. 100 million keys of some take more memory than this is to need.
const MAP: Peer = Peer {
    most_keys: 10_000_000,
    ..IN_PROCESS
};

pub(super) const PEERS: &[Peer] = &[
    Peer {
        name: "tavola-rust",
        title: "Tavola (crate)",
        configuration: "defaults; through the crate",
        together: Together::Processes,
        batches: true,
        ..IN_PROCESS
    },
    Peer {
        name: "papaya",
        title: "papaya",
        configuration: "HashMap of boxed bytes, made for all keys; threads of one process",
        ..MAP
    },
    Peer {
        name: "moka",
        title: "moka",
        configuration: "sync::Cache without limits of size or time; threads of one process",
        ..MAP
    },
    Peer {
        name: "std-rwlock",
        title: "HashMap in RwLock",
        configuration: "std's HashMap with its own hasher, made for all keys, in one RwLock; \
                        threads of one process",
        ..MAP
    },
    Peer {
        name: "std-mutex",
        title: "HashMap in Mutex",
        configuration: "std's HashMap with its own hasher, made for all keys, in one Mutex; \
                        threads of one process",
        ..MAP
    },
];
