//! The peers' programs, which this one carries along: an installed binary needs no checkout.

use std::fs;
use std::path::Path;

use crate::{Error, Result};

/// Pairs of path and content of files below the folder of the peers.
macro_rules! peer_files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../peers/", $path)))),*]
    };
}

const C: &[(&str, &str)] = peer_files![
    "c/harness.h",
    "c/harness.c",
    "c/harness/company.h",
    "c/harness/few.h",
    "c/harness/job.h",
    "c/harness/keys.h",
    "c/harness/many.h",
    "c/harness/measure.h",
    "c/bdb.c",
    "c/files.c",
    "c/gdbm.c",
    "c/kyoto.c",
    "c/lmdb.c",
    "c/memcached.c",
    "c/odbc.c",
    "c/postgres.c",
    "c/qdbm_depot.c",
    "c/qdbm_villa.c",
    "c/redis.c",
    "c/sqlite.c",
    "c/tavola.c",
    "c/tinycdb.c",
    "c/tkrzw.c",
    "c/torment.h",
    "c/torment.c",
    "c/torment_bdb.c",
    "c/torment_files.c",
    "c/torment_lmdb.c",
    "c/torment_memcached.c",
    "c/torment_postgres.c",
    "c/torment_redis.c",
    "c/torment_sqlite.c",
];

/// Those of scripts.
const SCRIPTS: &[(&str, &str)] = peer_files![
    "ruby/harness.rb",
    "ruby/dalli.rb",
    "ruby/files.rb",
    "ruby/pstore.rb",
    "ruby/pstore_files.rb",
    "ruby/torment.rb",
    "php/harness.php",
    "php/apcu.php",
    "php/array.php",
    "php/files.php",
    "php/memcached.php",
    "php/postgres.php",
    "php/torment.php",
    "perl/Harness.pm",
    "perl/cache_memcached_fast.pl",
    "perl/qdbm.pl",
    "perl/tinycdb.pl",
];

/// Pairs of path and content of the headers of the library for C, for its adapter.
macro_rules! headers {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("c/", $name),
            include_str!(concat!("../../../tavola-capi/include/", $name)),
        )),*]
    };
}

const HEADERS: &[(&str, &str)] = headers![
    "tavola.h",
    "tavola_log.h",
    "tavola_log_printf.h",
    "tavola_queue.h",
    "tavola_stats.h",
    "tavola_table.h"
];

/// Writes all of them below `folder`.
pub(super) fn unpack(folder: &Path) -> Result<()> {
    for (path, content) in C.iter().chain(SCRIPTS).chain(HEADERS) {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(Error::io("making a folder for the peers"))?;
        fs::write(&file, content).map_err(Error::io("writing a peer's program"))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_headers_of_the_library_are_there() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tavola-capi/include");
        for file in fs::read_dir(folder).unwrap().flatten() {
            let name = file.file_name().into_string().unwrap();
            let path = format!("c/{name}");
            let is_known = HEADERS.iter().any(|(known, _)| *known == path);
            assert!(is_known || !name.ends_with(".h"), "{name}");
        }
    }
}
