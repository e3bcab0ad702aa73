//! The facts: one entry a store, the first column what it is as it is run here.
//!
//! "Run here" means in `/dev/shm`, without waiting for a disk, as far as a store lets itself be
//! run so: the comparison is of memory, not of disks. What is kept on a disk is an
//! entry of its own.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::Answer::{No, Partly, Yes};
use super::{Answer, Profile, Properties, Property};

const fn is(run: Answer, can: Answer, note: &'static str) -> Property {
    Property {
        run,
        can,
        note: Cow::Borrowed(note),
    }
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
/// Of servers: where they listen is said when they are started.
const LISTENS: Property = is(Yes, Yes, "over TCP; here on loopback and Unix sockets");
/// Of stores that a writer has to itself.
const ONE_WRITER: Property = is(Partly, Partly, "several readers or one writer at a time");
const IN_PLACE: Property = is(
    Partly,
    Yes,
    "a reader beside a writer sees half; rename makes it whole",
);
const HALF_WRITTEN: Property = is(
    Partly,
    Yes,
    "a kill amid a write leaves half; rename makes it whole",
);
/// Of files that are written beside their place and renamed.
const RENAMED: Property = is(Yes, Yes, "written beside and renamed");

const ALONE: &str = "which one process at a time has to itself";
const SIZED: &str =
    "which one process at a time has to itself, with all its buckets made beforehand";
const OWN_MEMORY: &str = "whose keys are in the memory of its server alone, and gone with it";
const FILES: &str = "whose room and names are the kernel's work, a file a key";
const MEMORY: &str = "which is memory of one process, and gone with it";

const TAVOLA: Properties = Properties {
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
};

/// Files that are written over in place.
const PLAIN_FILES: Properties = Properties {
    durable: is(No, Yes, "fsync of file and folder, on a disk"),
    shared: IN_PLACE,
    survives_kill: HALF_WRITTEN,
    survives_reboot: ON_DISK,
    evicts: NO,
    ordered: NO,
    transactions: NO,
    network: is(No, Partly, "a network file system"),
};

fn whole_files() -> Properties {
    Properties {
        shared: RENAMED,
        survives_kill: RENAMED,
        ..PLAIN_FILES
    }
}

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

pub(super) static ALL: LazyLock<Vec<Profile>> = LazyLock::new(|| {
    vec![
        Profile {
            begins: &["tavola"],
            properties: TAVOLA,
            spared: "",
            choose: "processes of one machine share data in memory, write it often, and may be \
                     killed.",
        },
        Profile {
            begins: &["tavola-serve"],
            properties: Properties {
                survives_kill: is(Yes, Yes, "of a client, and of the server: the table stays"),
                evicts: YES,
                network: LISTENS,
                ..TAVOLA
            },
            spared: "",
            choose: "clients of memcached and processes of the machine itself use the same data.",
        },
        Profile {
            begins: &["lmdb"],
            properties: Properties {
                durable: is(No, Yes, "without NOSYNC, on a disk"),
                shared: YES,
                survives_kill: is(
                    Yes,
                    Yes,
                    "what a killed reader saw stays until mdb_reader_check",
                ),
                survives_reboot: ON_DISK,
                evicts: NO,
                ordered: YES,
                transactions: YES,
                network: NO,
            },
            spared: "which has one writer at a time, and lends values where they lie, so that a \
                 reader who stays makes it grow",
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
            spared: "whose file is made once and never changes",
            choose: "the data is built once and then only read.",
        },
        Profile {
            begins: &["qdbm-depot", "qdbm"],
            properties: Properties {
                durable: is(No, Partly, "dpsync, on a disk"),
                shared: ONE_WRITER,
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
            spared: SIZED,
            choose: "a program uses it already; it is no longer maintained and ends at 2 GiB.",
        },
        Profile {
            begins: &["qdbm-villa", "villa"],
            properties: Properties {
                durable: is(No, Partly, "vlsync, on a disk"),
                shared: ONE_WRITER,
                survives_kill: is(
                    No,
                    Partly,
                    "refuses to open then; vlrepair saves what it can",
                ),
                survives_reboot: ON_DISK,
                evicts: NO,
                ordered: YES,
                transactions: is(
                    Partly,
                    Partly,
                    "vltranbegin: undone by the program, not after a death",
                ),
                network: NO,
            },
            spared: ALONE,
            choose: "a program uses it already; it is no longer maintained and ends at 2 GiB.",
        },
        Profile {
            begins: &["tkrzw"],
            properties: Properties {
                durable: is(No, Yes, "Synchronize(true) after a write, on a disk"),
                shared: is(
                    Partly,
                    Partly,
                    "threads of one process write; other processes only read, without a writer",
                ),
                survives_kill: is(
                    No,
                    Partly,
                    "opened as it is, broken or not; its usual mode restores what it can",
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
            spared: SIZED,
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
                transactions: is(Yes, Yes, "within one process; not used here"),
                network: is(No, Yes, "a server of its own, Kyoto Tycoon"),
            },
            spared: SIZED,
            choose: "one process owns the data and wants it fast on disk; Tkrzw is its successor.",
        },
        Profile {
            begins: &["bdb", "berkeleydb", "berkeley-db"],
            properties: Properties {
                durable: is(No, Yes, "transactions with a synced log"),
                shared: is(
                    Partly,
                    Yes,
                    "in an environment with locks: here where several processes take part",
                ),
                survives_kill: is(No, Yes, "with transactions, once recovery has been run"),
                survives_reboot: ON_DISK,
                evicts: NO,
                ordered: is(No, Yes, "its B-tree"),
                transactions: is(No, Yes, "in an environment with a log"),
                network: NO,
            },
            spared: "which keeps no log here, so that a killed writer may leave it broken",
            choose: "a program uses it already.",
        },
        Profile {
            begins: &["gdbm"],
            properties: Properties {
                durable: is(No, Yes, "GDBM_SYNC, on a disk"),
                shared: ONE_WRITER,
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
            spared: ALONE,
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
            spared: "which has all others wait while one writes",
            choose: "the data is asked in more ways than by its key, and lives in one file.",
        },
        Profile {
            begins: &["memcached", "dalli", "fast"],
            properties: Properties {
                durable: NO,
                shared: YES,
                survives_kill: CLIENTS_DIE,
                survives_reboot: is(No, Partly, "-e in persistent memory, after an orderly stop"),
                evicts: YES,
                ordered: NO,
                transactions: is(No, No, "one key at a time, with cas"),
                network: LISTENS,
            },
            spared: OWN_MEMORY,
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
                transactions: is(
                    Partly,
                    Partly,
                    "MULTI and scripts: what was done stays when a part fails",
                ),
                network: LISTENS,
            },
            spared: OWN_MEMORY,
            choose: "values are lists, sets or streams, or several machines share them.",
        },
        Profile {
            begins: &["postgres", "postgresql", "sql"],
            properties: Properties {
                durable: is(No, Yes, "its folder on a disk, all else as it is"),
                shared: YES,
                survives_kill: is(
                    Yes,
                    Yes,
                    "of a client; a server that was killed recovers from its log",
                ),
                survives_reboot: is(No, Yes, "its folder on a disk"),
                evicts: NO,
                ordered: YES,
                transactions: YES,
                network: LISTENS,
            },
            spared: "which processes reach through its server alone",
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
            spared: "",
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
            spared: "",
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
            spared: "",
            choose: "one PHP server caches small things, and nobody kills its workers.",
        },
        Profile {
            begins: &["files-shm"],
            properties: whole_files(),
            spared: FILES,
            choose: "values are large, keys are few, and any program should read them.",
        },
        Profile {
            begins: &["files-disk"],
            properties: Properties {
                durable: is(No, Yes, "fsync of file and folder"),
                survives_reboot: YES,
                ..whole_files()
            },
            spared: FILES,
            choose: "values are large, keys are few, and any program should read them.",
        },
        Profile {
            begins: &["files"],
            properties: PLAIN_FILES,
            spared: "",
            choose: "values are large, keys are few, and any program should read them.",
        },
        Profile {
            begins: &["files-php-disk"],
            properties: Properties {
                durable: is(No, Yes, "fsync of file and folder"),
                survives_reboot: YES,
                ..PLAIN_FILES
            },
            spared: "",
            choose: "values are large, keys are few, and any program should read them.",
        },
        Profile {
            begins: &["papaya"],
            properties: IN_PROCESS,
            spared: MEMORY,
            choose: "one process with many threads, and nobody else, needs the data.",
        },
        Profile {
            begins: &["moka"],
            properties: Properties {
                evicts: is(No, Yes, "with a capacity or times to live"),
                ..IN_PROCESS
            },
            spared: MEMORY,
            choose: "one process caches, with a bound and a good choice of what goes.",
        },
        Profile {
            begins: &["std", "hashmap", "map"],
            properties: IN_PROCESS,
            spared: MEMORY,
            choose: "one process, and nobody else, needs the data.",
        },
        Profile {
            begins: &["php-array", "array"],
            properties: IN_PROCESS,
            spared: "",
            choose: "the data lives no longer than the request.",
        },
    ]
});
