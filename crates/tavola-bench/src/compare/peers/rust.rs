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
        configuration: "HashMap of boxed bytes; threads of one process",
        ..IN_PROCESS
    },
    Peer {
        name: "moka",
        title: "moka",
        configuration: "sync::Cache without limits of size or time; threads of one process",
        ..IN_PROCESS
    },
    Peer {
        name: "std-rwlock",
        title: "HashMap in RwLock",
        configuration: "std's HashMap with its own hasher in one RwLock; threads of one process",
        ..IN_PROCESS
    },
    Peer {
        name: "std-mutex",
        title: "HashMap in Mutex",
        configuration: "std's HashMap with its own hasher in one Mutex; threads of one process",
        ..IN_PROCESS
    },
];
