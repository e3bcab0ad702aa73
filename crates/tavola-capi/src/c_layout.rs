//! The structs of the header lie in memory as those of the library do, by each compiler that is
//! there.

use crate::attributes::tavola_attributes;
use crate::batch::{tavola_bytes, tavola_entry, tavola_pair};
use crate::buffer::tavola_buffer;
use crate::constant::writer::tavola_cdb_options;
use crate::leases::{tavola_lease_options, tavola_leased};
use crate::logs::drain::tavola_log_sink;
use crate::logs::drain_thread::tavola_log_drain_options;
use crate::logs::log::tavola_log_options;
use crate::logs::stats::tavola_log_stats;
use crate::logs::tavola_line;
use crate::options::tavola_options;
use crate::queues::pool::tavola_pool_options;
use crate::status::tavola_status;
use crate::table::durable::tavola_durable_stats;
use crate::table::holders::tavola_holder;
use crate::table::latency::tavola_latency;
use crate::table::live::tavola_live_keys;
use crate::table::maintain::{tavola_check_report, tavola_maintained};
use crate::table::number::tavola_number_options;
use crate::table::recent::tavola_recent;
use crate::table::saved::{tavola_restored, tavola_saved};
use crate::table::shards::tavola_shard;
use crate::table::stats::{tavola_class, tavola_participant, tavola_stats};
use crate::table::store::{tavola_store_options, tavola_stored};
use crate::table::tags::tavola_tags;
use std::io::Write;
use std::mem::{align_of, offset_of};
use std::path::Path;
use std::process::{Command, Stdio};

const HEADERS: [&str; 6] = [
    include_str!("../include/tavola_table.h"),
    include_str!("../include/tavola_stats.h"),
    include_str!("../include/tavola_queue.h"),
    include_str!("../include/tavola_lock.h"),
    include_str!("../include/tavola_log.h"),
    include_str!("../include/tavola_cdb.h"),
];

/// Size and alignment of a struct, and where each field lies and how long it is, as assertions of
/// C. A field that is not named here does not compile.
macro_rules! assertions {
    ($($name:ident { $($field:ident)* })*) => {{
        $(
            let _ = |whole: $name| {
                let $name { $($field: _),* } = whole;
            };
        )*
        let mut lines = Vec::new();
        $(
            let name = stringify!($name);
            lines.push((format!("sizeof({name})"), size_of::<$name>()));
            lines.push((format!("alignof({name})"), align_of::<$name>()));
            $(
                let field = stringify!($field);
                let len = len_of(|whole: &$name| &raw const whole.$field);
                lines.push((format!("offsetof({name}, {field})"), offset_of!($name, $field)));
                lines.push((format!("sizeof((({name} *)0)->{field})"), len));
            )*
        )*
        lines
    }};
}

fn len_of<T, F>(_: impl Fn(&T) -> *const F) -> usize {
    size_of::<F>()
}

fn assertions() -> Vec<(String, usize)> {
    assertions! {
        tavola_buffer { data capacity len alloc write user }
        tavola_bytes { data len }
        tavola_pair { key value }
        tavola_entry { key value attributes }
        tavola_options {
            size max_size mode shards fixed_key fixed_value uids background ttl_ms capacity
            versions core_dumps any_owner group_id durable sync_ms
            lives_with owner_pid
        }
        tavola_tags { size count hints }
        tavola_store_options { size condition keep token attributes tags version }
        tavola_stored { size token }
        tavola_number_options { size attributes remove_zero reserved }
        tavola_attributes { size ttl_ms expires_unix_ms flags reserved }
        tavola_lease_options { size fresh_ms stale_ms lease_ms back_off_ms early_beta }
        tavola_leased { size outcome flags left_ms }
        tavola_stats {
            size keys payload_bytes resident_bytes max_size fixed_key fixed_value uids segments
            index_load index_bytes slab_bytes uid_bytes large_bytes queue_and_log_bytes
            free_bytes shards
            participants recoveries created_unix_s uuid format_version expired
            ttl_ms capacity probationary_bytes evicted_new evicted_old ghost_hits hits misses
            writes tags sets removes
        }
        tavola_class { size block_bytes pages blocks used }
        tavola_participant {
            size pid slot attached_unix_s command alive hits misses writes sets removes
            is_local is_stopped
        }
        tavola_holder { size shard pid is_local is_stopped is_alive }
        tavola_live_keys { size live unreclaimed is_estimate }
        tavola_durable_stats {
            size durable sync_ms journal_bytes unwritten_bytes unsynced_bytes syncs sync_ns
            snapshot_unix_ms snapshot_bytes failed_errno
        }
        tavola_recent { size wanted_ms spanned_ms hits misses writes evicted expired }
        tavola_latency { size from_ns below_ns reads writes }
        tavola_shard { size number keys payload_bytes writes evicted recoveries }
        tavola_check_report { size keys bytes_reachable bytes_in_use problems copied_in_use }
        tavola_maintained {
            size collapsed_bytes given_back_bytes huge_pages_supported done
        }
        tavola_saved { size keys bytes }
        tavola_restored { size keys present expired invalidated left_out }
        tavola_pool_options {
            size elements element_bytes queues queue_count mode queue_room
            any_owner
        }
        tavola_log_options { size bytes overload mode any_owner reserved }
        tavola_log_drain_options { size path rotate_bytes keep fd form reserved }
        tavola_log_stats {
            size bytes used_bytes pieces pieces_in_hand lines awaiting dropped has_drain overload
        }
        tavola_log_sink { size user line dropped flush }
        tavola_cdb_options { size format mode keep_first unsynced }
        tavola_line { unix_ns pid tid level cut text len is_shown }
    }
}

/// A program that compiles if all of this is so.
fn program() -> String {
    let lines = assertions()
        .into_iter()
        .chain([(
            "sizeof(tavola_status)".to_owned(),
            size_of::<tavola_status>(),
        )])
        .map(|(what, is)| format!("static_assert({what} == {is}, \"{what} is not {is}\");\n"));
    let includes = "#include <assert.h>\n#include <stdalign.h>\n#include <tavola.h>\n".to_owned();
    includes + &lines.collect::<String>()
}

/// Returns the messages of a compiler about a program, or `None` if it is not installed.
fn complaints(compiler: &str, language: &str, program: &str) -> Option<String> {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut child = Command::new(compiler)
        .args(["-fsyntax-only", language, "-x"])
        .args([if language == "-std=c11" { "c" } else { "c++" }, "-I"])
        .arg(include)
        .arg("-")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .ok()?;
    let mut stdin = child.stdin.take()?;
    stdin.write_all(program.as_bytes()).unwrap();
    drop(stdin);
    let out = child.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&out.stderr).into_owned();
    assert_eq!(out.status.success(), messages.is_empty(), "{messages}");
    Some(messages)
}

const COMPILERS: [(&str, &str); 4] = [
    ("gcc", "-std=c11"),
    ("clang", "-std=c11"),
    ("g++", "-std=c++17"),
    ("clang++", "-std=c++17"),
];

#[test]
fn structs_lie_as_the_header_says() {
    let messages: Vec<String> = COMPILERS
        .into_iter()
        .filter_map(|(compiler, language)| complaints(compiler, language, &program()))
        .collect();
    assert!(!messages.is_empty(), "none of {COMPILERS:?} is there");
    assert!(messages.iter().all(String::is_empty), "{messages:?}");
}

#[test]
fn another_size_is_found() {
    let wrong = program() + "static_assert(sizeof(tavola_bytes) == 17, \"17\");\n";
    let mut messages = COMPILERS
        .into_iter()
        .filter_map(|(compiler, language)| complaints(compiler, language, &wrong));
    assert!(messages.all(|messages| messages.contains("17")));
}

#[test]
fn every_struct_and_field_of_the_header_is_checked() {
    let known = program();
    let mut structs = 0;
    let all = HEADERS.concat();
    for begun in all.split("typedef struct ").skip(1) {
        let Some((name, rest)) = begun.split_once(" {\n") else {
            continue;
        };
        // A handle, which has no fields.
        if name.contains(';') {
            continue;
        }
        structs += 1;
        assert!(known.contains(&format!("sizeof({name})")), "{name}");
        let (fields, _) = rest.split_once("\n}").unwrap();
        let is_field = |line: &&str| !line.trim_start().starts_with("//");
        let there = fields.lines().filter(is_field).count();
        let checked = known.matches(&format!("(offsetof({name}, ")).count();
        assert_eq!(checked, there, "fields of {name}");
    }
    assert_eq!(structs, known.matches("(alignof(").count());
}
