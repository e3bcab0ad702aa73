//! Peers whose programs are in C: stores with a library, and servers through their clients.

use super::{Peer, Place, STORE, Server, Start, Together};
use crate::compare::job::Transport;

const fn c(
    adapter: &'static str,
    libraries: &'static [&'static str],
    package: &'static str,
) -> Start {
    Start::C {
        adapter,
        libraries,
        package,
    }
}

const LOCKS: Together =
    Together::Alone("whoever opens it to write keeps all others out until it is closed");

/// One that is asked over a socket.
const CLIENT: Peer = Peer {
    workloads: "abcd",
    batches: true,
    most_value_bytes: 1_000_000,
    ..STORE
};

/// A server of SQL.
const SQL: Peer = Peer {
    configuration: "MERGE and SELECT, prepared, a commit each; not compressed",
    start: c("postgres", &["-lpq"], "libpq-dev"),
    server: Some(Server::Postgres),
    workloads: "abcd",
    ..STORE
};

pub(super) const PEERS: &[Peer] = &[
    Peer {
        name: "tavola",
        title: "Tavola",
        configuration: "defaults; through the library for C",
        start: c(
            "tavola",
            &["-ltavola"],
            "the library that `make build` makes",
        ),
        batches: true,
        ..STORE
    },
    Peer {
        name: "tavola-fixed",
        title: "Tavola, fixed lengths",
        configuration: "a table of keys and values of fixed lengths; through the library for C",
        start: c(
            "tavola",
            &["-ltavola"],
            "the library that `make build` makes",
        ),
        workloads: "efgi",
        batches: true,
        ..STORE
    },
    Peer {
        name: "tavola-huge",
        title: "Tavola, huge pages",
        configuration: "defaults, and moved onto huge pages by tavola_maintain after the last \
                        put, whose time that is part of; through the library for C",
        start: c(
            "tavola",
            &["-ltavola"],
            "the library that `make build` makes",
        ),
        workloads: "eg",
        batches: true,
        ..STORE
    },
    Peer {
        name: "lmdb",
        title: "LMDB",
        configuration: "WRITEMAP, NOSYNC, NOMETASYNC, NOTLS; a transaction an operation, read \
                        transactions renewed; many puts of a batch in one",
        start: c("lmdb", &["-llmdb"], "liblmdb-dev"),
        batches: true,
        ..STORE
    },
    Peer {
        name: "tinycdb",
        title: "TinyCDB",
        configuration: "made once by all puts, then read through a map; no change afterwards",
        start: c("tinycdb", &["-lcdb"], "libcdb-dev"),
        together: Together::Alone("a file is made by one process"),
        ..STORE
    },
    Peer {
        name: "qdbm-depot",
        title: "QDBM Depot",
        configuration: "as many buckets as keys, DP_OSPARSE",
        start: c("qdbm_depot", &["-lqdbm"], "libqdbm-dev"),
        together: LOCKS,
        // Its files have less than 2 GiB.
        most_keys: 10_000_000,
        ..STORE
    },
    Peer {
        name: "qdbm-villa",
        title: "QDBM Villa",
        configuration: "a B+ tree with VL_CMPLEX, caches of leaves and nodes for all records",
        start: c("qdbm_villa", &["-lqdbm"], "libqdbm-dev"),
        together: LOCKS,
        most_keys: 1_000_000,
        ..STORE
    },
    Peer {
        name: "tkrzw",
        title: "Tkrzw",
        configuration: "HashDBM in place, as many buckets as keys, MemoryMapParallelFile; many \
                        keys a call by process_multi",
        start: c("tkrzw", &["-ltkrzw"], "libtkrzw-dev"),
        together: LOCKS,
        batches: true,
        ..STORE
    },
    Peer {
        name: "kyoto",
        title: "Kyoto Cabinet",
        configuration: "HashDB, two buckets a key, a map as large as the records, linear; many \
                        keys a call by accept_bulk",
        start: c("kyoto", &["-lkyotocabinet"], "libkyotocabinet-dev"),
        together: LOCKS,
        batches: true,
        ..STORE
    },
    Peer {
        name: "bdb",
        title: "Berkeley DB",
        configuration: "hash, buckets for all keys by h_nelem and h_ffactor, a cache as large as \
                        the records; several processes: Concurrent Data Store; no log",
        start: c("bdb", &["-ldb-5.3"], "libdb5.3-dev"),
        ..STORE
    },
    Peer {
        name: "gdbm",
        title: "GDBM",
        configuration: "mapped, no sync, blocks of 4 KiB",
        start: c("gdbm", &["-lgdbm"], "libgdbm-dev"),
        together: LOCKS,
        ..STORE
    },
    Peer {
        name: "sqlite",
        title: "SQLite",
        configuration: "WITHOUT ROWID, WAL, synchronous OFF, mmap_size 1 GiB, prepared \
                        statements; a transaction an operation, many puts of a batch in one",
        start: c("sqlite", &["-lsqlite3"], "libsqlite3-dev"),
        batches: true,
        ..STORE
    },
    Peer {
        name: "files-shm",
        title: "Files in memory",
        configuration: "a file a key in 256 folders, written beside and renamed, on /dev/shm",
        start: c("files", &[], "gcc"),
        most_keys: 100_000,
        ..STORE
    },
    Peer {
        name: "files-disk",
        title: "Files on disk",
        configuration: "a file a key in 256 folders, written beside and renamed, on a disk, \
                        without fsync",
        start: c("files", &[], "gcc"),
        place: Place::Disk,
        most_keys: 100_000,
        ..STORE
    },
    Peer {
        name: "memcached",
        title: "memcached, libmemcached",
        configuration: "one thread; TCP_NODELAY, no retries",
        start: c("memcached", &["-lmemcached"], "libmemcached-dev"),
        server: Some(Server::Memcached),
        protocols: true,
        ..CLIENT
    },
    Peer {
        name: "tavola-serve",
        title: "tavola serve, libmemcached",
        configuration: "one thread; TCP_NODELAY, no retries",
        start: c("memcached", &["-lmemcached"], "libmemcached-dev"),
        server: Some(Server::Tavola),
        protocols: true,
        ..CLIENT
    },
    Peer {
        name: "redis",
        title: "Redis, hiredis",
        configuration: "no save, no append-only file; the client waits for every answer",
        start: c("redis", &["-lhiredis"], "libhiredis-dev"),
        server: Some(Server::Redis),
        ..CLIENT
    },
    Peer {
        name: "postgres-tcp",
        title: "PostgreSQL, libpq, TCP",
        transport: Some(Transport::Tcp),
        ..SQL
    },
    Peer {
        name: "postgres-unix",
        title: "PostgreSQL, libpq, Unix",
        transport: Some(Transport::Unix),
        ..SQL
    },
    Peer {
        name: "sql-odbc",
        title: "SQL by ODBC",
        configuration: "the server that --odbc names: MERGE and SELECT, prepared, a commit each",
        start: c("odbc", &["-lodbc"], "unixodbc-dev"),
        server: Some(Server::Odbc),
        transport: Some(Transport::Tcp),
        ..SQL
    },
];
