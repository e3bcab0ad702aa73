//! The facts: one entry a store, the first column what it is as it is run here.
//!
//! "Run here" means in `/dev/shm`, without waiting for a disk, as far as a store lets itself be
//! run so: the comparison is of memory, not of disks. A store that is run otherwise says so in
//! its configuration.

use super::Answer::{No, Partly, Yes};
use super::{Answer, Profile, Properties, Property};

const fn is(run: Answer, can: Answer, note: &'static str) -> Property {
    Property { run, can, note }
}

const YES: Property = is(Yes, Yes, "");
const NO: Property = is(No, No, "");
/// Of files whose place decides.
const ON_DISK: Property = is(No, Yes, "in a file on a disk");
/// Of maps in a program's own memory.
const ONE_PROCESS: Property = is(No, No, "threads of one process only");
const DIES_WITH_IT: Property = is(No, No, "gone with its process");
/// Of servers: who is killed is a client.
const CLIENTS_DIE: Property = is(
    Yes,
    Yes,
    "of a client; when the server is killed its memory is gone",
);

const IN_PROCESS: Properties = Properties {
    durable: NO,
    shared: ONE_PROCESS,
    survives_kill: DIES_WITH_IT,
    survives_reboot: NO,
    evicts: NO,
    ordered: NO,
    transactions: NO,
    network: NO,
};

pub(super) const ALL: &[Profile] = &[
    Profile {
        begins: &["tavola"],
        properties: Properties {
            durable: is(No, No, "nothing waits for a disk"),
            shared: YES,
            survives_kill: YES,
            survives_reboot: is(
                No,
                Yes,
                "in a file on a disk, or by dump and load; a power failure may damage the file",
            ),
            evicts: is(No, Yes, "with a capacity"),
            ordered: NO,
            transactions: is(No, No, "one key at a time, each change whole"),
            network: is(No, Yes, "by tavola serve, for clients of memcached"),
        },
        choose: "processes of one machine share data in memory, write it often, and may be killed.",
    },
    Profile {
        begins: &["lmdb"],
        properties: Properties {
            durable: is(No, Yes, "without NOSYNC, on a disk"),
            shared: YES,
            survives_kill: YES,
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: YES,
            transactions: YES,
            network: NO,
        },
        choose: "keys have an order, several change together, or the data must outlive a power \
                 failure, and reads are by far the most.",
    },
    Profile {
        begins: &["tinycdb", "cdb"],
        properties: Properties {
            durable: is(No, Partly, "the program may sync the file it has built"),
            shared: is(
                Partly,
                Partly,
                "any number read; it is built whole, then never changed",
            ),
            survives_kill: is(
                Partly,
                Partly,
                "readers, always; a builder's work is lost, the old file stays",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: is(Partly, Partly, "the whole file is replaced at once"),
            network: NO,
        },
        choose: "the data is built once and then only read.",
    },
    Profile {
        begins: &["qdbm-depot", "qdbm"],
        properties: Properties {
            durable: is(No, Partly, "dpsync, on a disk"),
            shared: is(Partly, Partly, "several readers or one writer at a time"),
            survives_kill: is(
                No,
                Partly,
                "refuses to open then; dprepair saves what it can",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: NO,
            network: NO,
        },
        choose: "a program uses it already; it is no longer maintained and ends at 2 GiB.",
    },
    Profile {
        begins: &["qdbm-villa", "villa"],
        properties: Properties {
            durable: is(No, Partly, "vlsync, on a disk"),
            shared: is(Partly, Partly, "several readers or one writer at a time"),
            survives_kill: is(
                No,
                Partly,
                "refuses to open then; vlrepair saves what it can",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: YES,
            transactions: is(No, Yes, "within one process"),
            network: NO,
        },
        choose: "a program uses it already; it is no longer maintained and ends at 2 GiB.",
    },
    Profile {
        begins: &["tkrzw"],
        properties: Properties {
            durable: is(No, Yes, "Synchronize(true) or the update mode that appends"),
            shared: is(
                Partly,
                Partly,
                "threads of one process write; other processes only read, without a writer",
            ),
            survives_kill: is(
                Partly,
                Partly,
                "restored when it is opened; late writes are lost",
            ),
            survives_reboot: ON_DISK,
            evicts: is(No, Yes, "CacheDBM, in memory"),
            ordered: is(No, Yes, "TreeDBM and SkipDBM"),
            transactions: is(
                Partly,
                Partly,
                "ProcessMulti: whole for readers, not after a death",
            ),
            network: is(No, Yes, "its server, tkrzw-rpc"),
        },
        choose: "one process owns the data and wants a choice of structures on disk.",
    },
    Profile {
        begins: &["kyoto", "kyotocabinet", "kyoto-cabinet"],
        properties: Properties {
            durable: is(No, Yes, "OAUTOSYNC, on a disk"),
            shared: is(
                Partly,
                Partly,
                "threads of one process write; other processes only read, without a writer",
            ),
            survives_kill: is(
                Partly,
                Yes,
                "rebuilt when it is opened; OAUTOTRAN makes it safe",
            ),
            survives_reboot: ON_DISK,
            evicts: is(No, Yes, "CacheDB, in memory"),
            ordered: is(No, Yes, "TreeDB"),
            transactions: is(No, Yes, "within one process"),
            network: NO,
        },
        choose: "one process owns the data and wants it fast on disk; no longer maintained.",
    },
    Profile {
        begins: &["bdb", "berkeleydb", "berkeley-db"],
        properties: Properties {
            durable: is(No, Yes, "transactions with a synced log"),
            shared: is(No, Yes, "in an environment, with locks"),
            survives_kill: is(No, Yes, "with transactions, once recovery has been run"),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: is(No, Yes, "its B-tree"),
            transactions: is(No, Yes, "in an environment"),
            network: NO,
        },
        choose: "a program uses it already.",
    },
    Profile {
        begins: &["gdbm"],
        properties: Properties {
            durable: is(No, Yes, "GDBM_SYNC, on a disk"),
            shared: is(Partly, Partly, "several readers or one writer at a time"),
            survives_kill: is(
                No,
                Partly,
                "crash tolerance needs a file system with reflinks",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: NO,
            network: NO,
        },
        choose: "a script needs a small file of keys, one program at a time.",
    },
    Profile {
        begins: &["sqlite"],
        properties: Properties {
            durable: is(No, Yes, "synchronous=FULL, on a disk"),
            shared: YES,
            survives_kill: YES,
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: YES,
            transactions: YES,
            network: NO,
        },
        choose: "the data is asked in more ways than by its key, and lives in one file.",
    },
    Profile {
        begins: &["memcached", "dalli", "fast"],
        properties: Properties {
            durable: NO,
            shared: YES,
            survives_kill: CLIENTS_DIE,
            survives_reboot: is(No, Partly, "its memory file, after an orderly stop"),
            evicts: YES,
            ordered: NO,
            transactions: is(No, No, "one key at a time, with cas"),
            network: YES,
        },
        choose: "a cache is shared by several machines.",
    },
    Profile {
        begins: &["redis", "valkey"],
        properties: Properties {
            durable: is(No, Yes, "appendonly with appendfsync always"),
            shared: YES,
            survives_kill: CLIENTS_DIE,
            survives_reboot: is(No, Yes, "snapshots or appendonly"),
            evicts: is(No, Yes, "maxmemory-policy"),
            ordered: is(No, Partly, "sorted sets, not the keys themselves"),
            transactions: is(No, Yes, "MULTI, and scripts"),
            network: YES,
        },
        choose: "values are lists, sets or streams, or several machines share them.",
    },
    Profile {
        begins: &["postgres", "postgresql", "sql"],
        properties: Properties {
            durable: is(
                Partly,
                Yes,
                "with fsync and synchronous_commit on, on a disk",
            ),
            shared: YES,
            survives_kill: YES,
            survives_reboot: is(Partly, Yes, "where its folder is on a disk"),
            evicts: NO,
            ordered: YES,
            transactions: YES,
            network: YES,
        },
        choose: "the data must not be lost, and is asked in more ways than by its key.",
    },
    Profile {
        begins: &["pstore", "pstore-one"],
        properties: Properties {
            durable: NO,
            shared: is(
                Yes,
                Yes,
                "each change writes the whole file, under its lock",
            ),
            survives_kill: is(
                Partly,
                Yes,
                "a kill amid a write ruins it; ultra_safe renames",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: YES,
            network: NO,
        },
        choose: "a Ruby script keeps a handful of objects.",
    },
    Profile {
        begins: &["pstore-files", "pstore-dir"],
        properties: Properties {
            durable: NO,
            shared: is(Yes, Yes, "each key has a file and its lock"),
            survives_kill: is(
                Partly,
                Yes,
                "a kill amid a write ruins a key; ultra_safe renames",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: is(No, No, "within one key"),
            network: NO,
        },
        choose: "a Ruby script keeps some objects, each for itself.",
    },
    Profile {
        begins: &["apcu"],
        properties: Properties {
            durable: NO,
            shared: is(Partly, Partly, "processes that one PHP server forked"),
            survives_kill: is(
                No,
                No,
                "a lock that a killed process held is never given back",
            ),
            survives_reboot: NO,
            evicts: is(Yes, Yes, "when full, most or all of it at once"),
            ordered: NO,
            transactions: NO,
            network: NO,
        },
        choose: "one PHP server caches small things, and nobody kills its workers.",
    },
    Profile {
        begins: &["files"],
        properties: Properties {
            durable: is(No, Yes, "fsync of file and folder, on a disk"),
            shared: is(
                Partly,
                Yes,
                "a reader beside a writer sees half; rename makes it whole",
            ),
            survives_kill: is(
                Partly,
                Yes,
                "a kill amid a write leaves half; rename makes it whole",
            ),
            survives_reboot: ON_DISK,
            evicts: NO,
            ordered: NO,
            transactions: NO,
            network: is(No, Partly, "a network file system"),
        },
        choose: "values are large, keys are few, and any program should read them.",
    },
    Profile {
        begins: &["files-disk", "files-php-disk"],
        properties: Properties {
            durable: is(No, Yes, "fsync of file and folder"),
            shared: is(
                Partly,
                Yes,
                "a reader beside a writer sees half; rename makes it whole",
            ),
            survives_kill: is(
                Partly,
                Yes,
                "a kill amid a write leaves half; rename makes it whole",
            ),
            survives_reboot: YES,
            evicts: NO,
            ordered: NO,
            transactions: NO,
            network: is(No, Partly, "a network file system"),
        },
        choose: "values are large, keys are few, and any program should read them.",
    },
    Profile {
        begins: &["papaya"],
        properties: IN_PROCESS,
        choose: "one process with many threads, and nobody else, needs the data.",
    },
    Profile {
        begins: &["moka"],
        properties: Properties {
            evicts: YES,
            ..IN_PROCESS
        },
        choose: "one process caches, with a bound and a good choice of what goes.",
    },
    Profile {
        begins: &["std", "hashmap", "map"],
        properties: IN_PROCESS,
        choose: "one process, and nobody else, needs the data.",
    },
    Profile {
        begins: &["php-array", "array"],
        properties: IN_PROCESS,
        choose: "the data lives no longer than the request.",
    },
];
