//! Which declaration goes to which header, and in which order.
//!
//! A declaration goes by the source file that it is made from. The functions of `BEGIN` and the
//! types that they need come first in the header of tables.

use super::{CRATE, Header, INCLUDE};
use crate::failure::Failure;
use std::collections::BTreeMap;
use std::path::Path;

/// The header that includes all others.
pub(super) const WHOLE: &str = "tavola.h";

/// One of the headers.
pub(super) struct Part {
    pub(super) name: &'static str,
    about: &'static str,
    /// The files, or folders with a slash, that its declarations are made from. Empty: all files
    /// that no other part has.
    sources: &'static [&'static str],
    includes: &'static [&'static str],
    /// A header that is written by hand and follows the declarations.
    more: Option<&'static str>,
}

pub(super) const PARTS: [Part; 6] = [
    Part {
        name: "tavola_table.h",
        about: "Tables: opening them, reading and writing keys, tags, leases, batches.",
        sources: &[],
        includes: &["stdbool.h", "stddef.h", "stdint.h"],
        more: None,
    },
    Part {
        name: "tavola_stats.h",
        about: "What a table reports about itself, checks, and maintenance.",
        sources: &[
            "table/stats.rs",
            "table/live.rs",
            "table/recent.rs",
            "table/latency.rs",
            "table/shards.rs",
            "table/holders.rs",
            "table/maintain.rs",
        ],
        includes: &["tavola_table.h"],
        more: None,
    },
    Part {
        name: "tavola_queue.h",
        about: "Queues of elements in shared memory.",
        sources: &["queues/"],
        includes: &["tavola_stats.h"],
        more: None,
    },
    Part {
        name: "tavola_lock.h",
        about: "Named locks, semaphores, and memory of a program's own.",
        sources: &["locks/"],
        includes: &["tavola_stats.h"],
        more: None,
    },
    Part {
        name: "tavola_log.h",
        about: "Logs in shared memory.",
        sources: &["logs/"],
        includes: &["stdio.h", "tavola_table.h"],
        more: Some("tavola_log_printf.h"),
    },
    Part {
        name: "tavola_cdb.h",
        about: "Constant files: cdb files of 32 and 64 bits, and frozen files.",
        sources: &["constant/"],
        includes: &["tavola_table.h"],
        more: None,
    },
];

/// The functions to begin with, in the order of the header.
const BEGIN: [&str; 44] = [
    "tavola_open",
    "tavola_open_existing",
    "tavola_open_read_only",
    "tavola_close",
    "tavola_get",
    "tavola_contains",
    "tavola_value_len",
    "tavola_get_range",
    "tavola_get_many",
    "tavola_set",
    "tavola_set_with",
    "tavola_add",
    "tavola_replace",
    "tavola_append_with",
    "tavola_remove",
    "tavola_set_many",
    "tavola_take",
    "tavola_swap",
    "tavola_update",
    "tavola_get_with_token",
    "tavola_compare_and_swap",
    "tavola_store",
    "tavola_incr",
    "tavola_decr",
    "tavola_add_number",
    "tavola_ttl",
    "tavola_touch",
    "tavola_persist",
    "tavola_fetch_tags",
    "tavola_set_tagged",
    "tavola_invalidate_tag",
    "tavola_get_or_compute",
    "tavola_iter_open",
    "tavola_iter_open_prefix",
    "tavola_iter_next",
    "tavola_iter_close",
    "tavola_remove_prefix",
    "tavola_len",
    "tavola_clear",
    "tavola_names_remove",
    "tavola_last_error",
    "tavola_last_os_error",
    "tavola_status_name",
    "tavola_version",
];

const BEGIN_HERE: &str = "\
// ----------------------------------------------------------------------------------------------
// Begin here: the functions that most programs need. The rest follows below.
// ----------------------------------------------------------------------------------------------";

const THE_REST: &str = "\
// ----------------------------------------------------------------------------------------------
// The rest, for when you need more.
// ----------------------------------------------------------------------------------------------";

/// The lines of the header that includes all others.
pub(super) fn whole() -> String {
    let includes: String = PARTS
        .iter()
        .map(|part| format!("#include <{}>\n", part.name))
        .collect();
    format!("\n#ifndef TAVOLA_H\n#define TAVOLA_H\n\n{includes}\n#endif  // TAVOLA_H\n")
}

/// A declaration with its comment.
struct Block<'a> {
    name: &'a str,
    text: &'a str,
    is_function: bool,
}

/// Divides what cbindgen made among the headers.
pub(super) fn divided(folder: &Path, declared: &str, macros: &str) -> Result<Vec<Header>, Failure> {
    let sources = sources(folder)?;
    let mut blocks: Vec<Vec<Block<'_>>> = PARTS.iter().map(|_| Vec::new()).collect();
    for block in declared.split("\n\n").filter_map(block) {
        blocks[part_of(&block, &sources)?].push(block);
    }
    let header = |(part, blocks): (&Part, Vec<Block<'_>>)| {
        let text = match part.sources.is_empty() {
            true => format!("{}\n\n{}", macros.trim(), table_text(&blocks)?),
            false => joined(blocks.iter()),
        };
        Ok(Header {
            name: part.name,
            include: INCLUDE,
            text: framed(part, text.trim()),
        })
    };
    PARTS.iter().zip(blocks).map(header).collect()
}

/// The number of the part that a declaration goes to.
fn part_of(block: &Block<'_>, sources: &BTreeMap<String, String>) -> Result<usize, Failure> {
    let name = block.name;
    let source = sources
        .get(name)
        .ok_or_else(|| Failure::Header(format!("no source file declares {name}")))?;
    if BEGIN.contains(&name) {
        return Ok(0);
    }
    let has = |part: &Part| part.sources.iter().any(|begin| source.starts_with(begin));
    Ok(PARTS.iter().position(has).unwrap_or(0))
}

/// The source file of each declaration, by name.
fn sources(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let mut sources = BTreeMap::new();
    let src = folder.join("src");
    let mut folders = vec![src.clone()];
    while let Some(folder) = folders.pop() {
        let failed = |source| Failure::File {
            path: folder.clone(),
            source,
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = std::fs::read_to_string(&path).map_err(failed)?;
            let short = path.strip_prefix(&src).unwrap_or(&path);
            let short = short.to_string_lossy().into_owned();
            for name in text.lines().filter_map(declared_by) {
                sources.insert(name.to_owned(), short.clone());
            }
        }
    }
    Ok(sources)
}

/// The name that a line of Rust declares.
fn declared_by(line: &str) -> Option<&str> {
    let mut words = line.strip_prefix("pub ")?.split(' ');
    let is_kind = |word: &&str| ["fn", "struct", "enum", "type", "const"].contains(word);
    words.find(is_kind)?;
    let name = words.next()?.split(|c: char| !is_word(c)).next()?;
    name.to_lowercase().starts_with("tavola_").then_some(name)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The declaration of a block of the text; none in what frames the functions for C++.
fn block(text: &str) -> Option<Block<'_>> {
    let text = text.trim_matches('\n');
    let is_code = |line: &&str| !line.starts_with("//") && !line.is_empty();
    let first = text.lines().find(is_code)?;
    let (name, is_function) = if let Some(rest) = first.strip_prefix("#define ") {
        (rest.split(' ').next()?, false)
    } else if let Some(rest) = first.strip_prefix("enum ") {
        (rest, false)
    } else if let Some(rest) = first.strip_prefix("typedef struct ") {
        (rest.split(' ').next()?, false)
    } else if first.starts_with("typedef ") {
        let pointer = first.split_once("(*").map(|(_, rest)| rest);
        let name = match pointer {
            Some(rest) => rest.split(')').next()?,
            None => first.trim_end_matches(';').rsplit(' ').next()?,
        };
        (name, false)
    } else {
        let (before, _) = first.split_once('(')?;
        (before.rsplit([' ', '*']).next()?, true)
    };
    let is_ours = name.to_lowercase().starts_with("tavola_");
    is_ours.then_some(Block {
        name,
        text,
        is_function,
    })
}

/// The header of tables: what to begin with, then the rest.
fn table_text(blocks: &[Block<'_>]) -> Result<String, Failure> {
    let begin: Vec<&Block<'_>> = BEGIN
        .iter()
        .map(|name| {
            let found = blocks.iter().find(|block| block.name == *name);
            found.ok_or_else(|| Failure::Header(format!("there is no {name} to begin with")))
        })
        .collect::<Result<_, _>>()?;
    let needed = needed(&begin, blocks);
    let is_needed = |block: &&Block<'_>| needed.contains(&block.name);
    let is_later =
        |block: &&Block<'_>| !BEGIN.contains(&block.name) && !needed.contains(&block.name);
    Ok(format!(
        "{BEGIN_HERE}\n\n{}{}{THE_REST}\n\n{}",
        joined(blocks.iter().filter(is_needed)),
        joined(begin.into_iter()),
        joined(blocks.iter().filter(is_later)),
    ))
}

/// The names of the types and constants that functions need or mention, and of those that these
/// need.
fn needed<'a>(begin: &[&Block<'a>], blocks: &'a [Block<'a>]) -> Vec<&'a str> {
    let mut needed: Vec<&str> = Vec::new();
    let mut texts: Vec<&str> = begin.iter().map(|block| block.text).collect();
    while let Some(text) = texts.pop() {
        for word in text.split(|c: char| !is_word(c)) {
            let meant = blocks.iter().filter(|block| block.name == word);
            for block in meant.filter(|block| !block.is_function) {
                if !needed.contains(&block.name) {
                    needed.push(block.name);
                    texts.push(block.text);
                }
            }
        }
    }
    needed
}

fn joined<'a>(blocks: impl Iterator<Item = &'a Block<'a>>) -> String {
    blocks.map(|block| format!("{}\n\n", block.text)).collect()
}

/// The text of a header with its frame.
fn framed(part: &Part, text: &str) -> String {
    let guard = part.name.to_uppercase().replace('.', "_");
    let includes: String = part
        .includes
        .iter()
        .map(|name| format!("#include <{name}>\n"))
        .collect();
    let more = part
        .more
        .map_or(String::new(), |name| format!("\n#include <{name}>\n"));
    let open = "#ifdef __cplusplus\nextern \"C\" {\n#endif";
    let close = "#ifdef __cplusplus\n}  // extern \"C\"\n#endif";
    let about = part.about;
    let (before, rest) = match text.split_once(BEGIN_HERE) {
        Some((before, rest)) => (before, format!("{BEGIN_HERE}{rest}")),
        None => ("", text.to_owned()),
    };
    format!(
        "// {about}\n// A part of {WHOLE}, which says what holds for all functions.\n//\n\
         // MIT OR Apache-2.0, at your choice.\n//\n\
         // Made by `cargo xtask header` from {CRATE}; change it there.\n\n\
         #ifndef {guard}\n#define {guard}\n\n{includes}\n{before}{open}\n\n{rest}\n\n{close}\n\
         {more}\n#endif  // {guard}\n"
    )
}
