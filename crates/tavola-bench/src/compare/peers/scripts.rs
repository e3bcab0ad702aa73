//! Peers whose programs are scripts. Tavola has no binding in these languages: its rows are those
//! of its library for C.

use super::{Peer, Place, STORE, Server, Start, Together};
use crate::compare::job::Transport;

const fn ruby(file: &'static str, probe: &'static [&'static str], absent: &'static str) -> Start {
    Start::Script {
        interpreter: "ruby",
        options: &[],
        file,
        probe,
        absent,
    }
}

const fn php(file: &'static str, probe: &'static [&'static str], absent: &'static str) -> Start {
    Start::Script {
        interpreter: "php",
        options: &PHP_OPTIONS,
        file,
        probe,
        absent,
    }
}

/// A value of 4 KB a key, twice, is a few hundred megabytes with all keys.
const PHP_OPTIONS: [&str; 6] = [
    "-d",
    "memory_limit=1G",
    "-d",
    "apc.enable_cli=1",
    "-d",
    "apc.shm_size=256M",
];

const fn perl(file: &'static str, probe: &'static [&'static str], absent: &'static str) -> Start {
    Start::Script {
        interpreter: "perl",
        options: &[],
        file,
        probe,
        absent,
    }
}

const PROBE_RUBY: &[&str] = &["-e", "exit"];
const PROBE_PSTORE: &[&str] = &["-e", "require 'pstore'"];
const PROBE_DALLI: &[&str] = &["-e", "require 'dalli'"];
const PROBE_PHP: &[&str] = &["-r", "exit(0);"];
const PROBE_APCU: &[&str] = &["-r", "exit(extension_loaded('apcu') ? 0 : 1);"];
const PROBE_MEMCACHED: &[&str] = &["-r", "exit(class_exists('Memcached') ? 0 : 1);"];
const PROBE_POSTGRES: &[&str] = &["-r", "exit(extension_loaded('pdo_pgsql') ? 0 : 1);"];
const PROBE_CDB: &[&str] = &["-MCDB_File", "-e", "1"];
const PROBE_DEPOT: &[&str] = &["-MDepot", "-e", "1"];
const PROBE_FAST: &[&str] = &["-MCache::Memcached::Fast", "-e", "1"];

const NO_DALLI: &str = "Ruby has no Dalli; it needs ruby-dalli";
const NO_MEMCACHED: &str = "PHP has no extension memcached; it needs php-memcached";
const NO_POSTGRES: &str = "PHP has no extension pdo_pgsql; it needs php-pgsql";
const NO_FAST: &str = "Perl has no Cache::Memcached::Fast; it needs libcache-memcached-fast-perl";

const RUBY: Peer = Peer {
    language: "Ruby",
    workloads: "b",
    ..STORE
};

const PHP: Peer = Peer {
    language: "PHP",
    workloads: "c",
    ..STORE
};

const PERL: Peer = Peer {
    language: "Perl",
    workloads: "a",
    ..STORE
};

const DALLI: Peer = Peer {
    configuration: "strings as they are, not compressed",
    start: ruby("ruby/dalli.rb", PROBE_DALLI, NO_DALLI),
    server: Some(Server::Memcached),
    ..RUBY
};

const PHP_MEMCACHED: Peer = Peer {
    configuration: "strings as they are, not compressed, TCP_NODELAY",
    start: php("php/memcached.php", PROBE_MEMCACHED, NO_MEMCACHED),
    server: Some(Server::Memcached),
    ..PHP
};

const POSTGRES: Peer = Peer {
    configuration: "MERGE and SELECT, prepared, a commit each; not compressed",
    start: php("php/postgres.php", PROBE_POSTGRES, NO_POSTGRES),
    server: Some(Server::Postgres),
    ..PHP
};

const FAST: Peer = Peer {
    configuration: "memcached; not compressed; many keys a call for read all; sets without an \
                    answer by nowait",
    start: perl("perl/cache_memcached_fast.pl", PROBE_FAST, NO_FAST),
    server: Some(Server::Memcached),
    protocols: true,
    workloads: "ad",
    ..PERL
};

pub(super) const PEERS: &[Peer] = &[
    Peer {
        name: "pstore",
        title: "PStore, one file",
        configuration: "a transaction an operation",
        start: ruby("ruby/pstore.rb", PROBE_PSTORE, "Ruby has no PStore"),
        ..RUBY
    },
    Peer {
        name: "pstore-files",
        title: "PStore, a file a key",
        configuration: "a transaction an operation",
        start: ruby("ruby/pstore_files.rb", PROBE_PSTORE, "Ruby has no PStore"),
        ..RUBY
    },
    Peer {
        name: "files-ruby",
        title: "Files, a key each",
        configuration: "written over in place, on /dev/shm",
        start: ruby("ruby/files.rb", PROBE_RUBY, "Ruby does not run"),
        ..RUBY
    },
    Peer {
        name: "dalli-tcp",
        title: "memcached, Dalli, TCP",
        transport: Some(Transport::Tcp),
        ..DALLI
    },
    Peer {
        name: "dalli-unix",
        title: "memcached, Dalli, Unix",
        transport: Some(Transport::Unix),
        ..DALLI
    },
    Peer {
        name: "php-array",
        title: "PHP's array",
        configuration: "of one process: the ceiling",
        start: php("php/array.php", PROBE_PHP, "PHP does not run"),
        together: Together::Alone("an array is of one process"),
        ..PHP
    },
    Peer {
        name: "apcu",
        title: "APCu",
        configuration: "256 MB; shared by processes of one parent",
        start: php(
            "php/apcu.php",
            PROBE_APCU,
            "PHP has no APCu; it needs php-apcu",
        ),
        ..PHP
    },
    Peer {
        name: "files-php-shm",
        title: "Files in memory",
        configuration: "a file a key, written over in place, on /dev/shm",
        start: php("php/files.php", PROBE_PHP, "PHP does not run"),
        ..PHP
    },
    Peer {
        name: "files-php-disk",
        title: "Files on disk",
        configuration: "a file a key, written over in place, on a disk, without fsync",
        start: php("php/files.php", PROBE_PHP, "PHP does not run"),
        place: Place::Disk,
        ..PHP
    },
    Peer {
        name: "memcached-php-tcp",
        title: "memcached, PHP, TCP",
        transport: Some(Transport::Tcp),
        ..PHP_MEMCACHED
    },
    Peer {
        name: "memcached-php-unix",
        title: "memcached, PHP, Unix",
        transport: Some(Transport::Unix),
        ..PHP_MEMCACHED
    },
    Peer {
        name: "postgres-php-tcp",
        title: "PostgreSQL, PHP, TCP",
        transport: Some(Transport::Tcp),
        ..POSTGRES
    },
    Peer {
        name: "postgres-php-unix",
        title: "PostgreSQL, PHP, Unix",
        transport: Some(Transport::Unix),
        ..POSTGRES
    },
    Peer {
        name: "tinycdb-perl",
        title: "cdb, Perl",
        configuration: "CDB_File; all written to a file beside, which is renamed",
        start: perl(
            "perl/tinycdb.pl",
            PROBE_CDB,
            "Perl has no CDB_File; it needs libcdb-file-perl",
        ),
        together: Together::Alone("a file is made by one process"),
        ..PERL
    },
    Peer {
        name: "qdbm-perl",
        title: "QDBM Depot, Perl",
        configuration: "4,096 buckets, records written over",
        start: perl(
            "perl/qdbm.pl",
            PROBE_DEPOT,
            "Perl has no Depot; it needs libqdbm-perl",
        ),
        together: Together::Alone("whoever opens it to write keeps all others out"),
        ..PERL
    },
    Peer {
        name: "fast-tcp",
        title: "Cache::Memcached::Fast, TCP",
        transport: Some(Transport::Tcp),
        ..FAST
    },
    Peer {
        name: "fast-unix",
        title: "Cache::Memcached::Fast, Unix",
        transport: Some(Transport::Unix),
        ..FAST
    },
];
