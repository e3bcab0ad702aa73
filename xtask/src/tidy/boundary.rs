//! No panic leaves a library for C: whatever a function that C calls does, it does inside
//! `entry` or `entry_or`, which catch what unwinds.
//!
//! Such a function ends with a call of one of these, or of a function that ends so, and does
//! nothing before but to give names to arguments.

use super::tree::{File, Finding, Tree};
use std::collections::BTreeSet;
use syn::{Expr, Item, ItemFn, Stmt, Visibility};

const LIBRARIES: [&str; 2] = ["crates/tavola-capi/src/", "crates/tavola-client-capi/src/"];

const COMPAT_ENTRY: &str = "crates/tavola-client-capi/src/compat/libmemcached/entry.rs";

/// What catches panics: file, function.
const FRAMES: [(&str, &str); 8] = [
    ("crates/tavola-capi/src/entry.rs", "entry"),
    ("crates/tavola-capi/src/entry.rs", "entry_or"),
    ("crates/tavola-client-capi/src/entry.rs", "entry"),
    ("crates/tavola-client-capi/src/entry.rs", "entry_or"),
    (COMPAT_ENTRY, "frame"),
    (COMPAT_ENTRY, "with"),
    (COMPAT_ENTRY, "code"),
    (COMPAT_ENTRY, "read_handle"),
];

/// Functions that have nothing to catch: name, reason.
const EXCEPTIONS: [(&str, &str); 14] = [
    ("tavola_last_error", "returns what a frame has noted"),
    ("tavola_last_os_error", "returns what a frame has noted"),
    ("tavola_status_name", "looks into an array of constants"),
    ("tavola_version", "a constant"),
    ("tavola_mc_last_error", "returns what a frame has noted"),
    ("tavola_mc_last_cause", "returns what a frame has noted"),
    ("tavola_mc_status_name", "looks into an array of constants"),
    ("tavola_mc_version", "a constant"),
    ("tavola_compat_memcached_lib_version", "a constant"),
    ("tavola_compat_memcached_last_error_errno", "a constant"),
    (
        "tavola_compat_memcached_strerror",
        "looks into an array of constants",
    ),
    (
        "tavola_compat_libmemcached_string_behavior",
        "looks into an array of constants",
    ),
    ("tavola_compat_client_set_close_on_error", "does nothing"),
    (
        "tavola_log_is_on",
        "one load and a comparison, before every line that is not written",
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    LIBRARIES
        .iter()
        .flat_map(|library| check_library(tree, library))
        .collect()
}

fn check_library(tree: &Tree, library: &str) -> Vec<Finding> {
    let functions: Vec<Function<'_>> = tree
        .rust_files()
        .filter(|file| file.path.starts_with(library))
        .flat_map(functions_of)
        .collect();
    let framed = framed(&functions);
    let mut findings = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        let is_excepted = EXCEPTIONS.iter().any(|(name, _)| *name == function.name);
        if function.is_for_c && is_excepted == framed.contains(&index) {
            let message = match is_excepted {
                true => format!("fn {}: is no exception any more", function.name),
                false => format!("fn {}: does all inside `entry`", function.name),
            };
            findings.push(function.file.finding(function.line, message));
        }
    }
    findings
}

/// A function outside of `impl`s and tests.
struct Function<'a> {
    file: &'a File,
    name: String,
    line: usize,
    is_for_c: bool,
    /// The function that it ends with a call of, doing nothing before.
    ends_with: Option<String>,
}

fn functions_of(file: &File) -> Vec<Function<'_>> {
    // What does not parse is found by another rule.
    let items = syn::parse_file(&file.text).map_or(Vec::new(), |parsed| parsed.items);
    let functions = items.into_iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    functions
        .map(|function| Function {
            file,
            name: function.sig.ident.to_string(),
            line: function.sig.fn_token.span.start().line,
            is_for_c: function.sig.abi.is_some() && is_public(&function.vis),
            ends_with: ends_with(&function),
        })
        .collect()
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn ends_with(function: &ItemFn) -> Option<String> {
    let (last, before) = function.block.stmts.split_last()?;
    let only_names = before.iter().all(|stmt| matches!(stmt, Stmt::Local(_)));
    match last {
        Stmt::Expr(last, _) if only_names => called(last),
        _ => None,
    }
}

/// The name of what is called, inside of `unsafe` maybe.
fn called(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Unsafe(inner) => match inner.block.stmts.as_slice() {
            [Stmt::Expr(only, _)] => called(only),
            _ => None,
        },
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            _ => None,
        },
        _ => None,
    }
}

/// Those that end in a frame, by their positions. A name stands for the function of the same file,
/// else for all of that name.
fn framed(functions: &[Function<'_>]) -> BTreeSet<usize> {
    let is_frame =
        |function: &Function<'_>| FRAMES.contains(&(&function.file.path, &function.name));
    let all = 0..functions.len();
    let mut framed: BTreeSet<usize> = all.clone().filter(|i| is_frame(&functions[*i])).collect();
    loop {
        let leads_there = |index: &usize| {
            let Some(name) = &functions[*index].ends_with else {
                return false;
            };
            let named: Vec<usize> = all
                .clone()
                .filter(|i| functions[*i].name == *name)
                .collect();
            let is_near = |i: &usize| functions[*i].file.path == functions[*index].file.path;
            match named.iter().find(|i| is_near(i)) {
                Some(near) => framed.contains(near),
                None => !named.is_empty() && named.iter().all(|i| framed.contains(i)),
            }
        };
        let more: Vec<usize> = all
            .clone()
            .filter(|i| !framed.contains(i))
            .filter(leads_there)
            .collect();
        if more.is_empty() {
            return framed;
        }
        framed.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str = "pub fn entry(f: F) {}\npub fn entry_or(f: F) {}\n";

    fn names_in(text: &str) -> Vec<String> {
        let path = format!("{}table/read.rs", LIBRARIES[0]);
        let tree = Tree::of(&[(FRAMES[0].0, FRAME), (&path, text)]);
        let name = |finding: Finding| finding.message.split(':').next().unwrap_or("").to_owned();
        check(&tree).into_iter().map(name).collect()
    }

    #[test]
    fn what_ends_in_a_frame_passes() {
        for text in [
            "pub extern \"C\" fn a() -> i32 { entry(|| work()) }",
            "pub extern \"C\" fn a() { crate::entry::entry(|| work()); }",
            "pub unsafe extern \"C\" fn a() { let b = 1; unsafe { helper(b) } }\n\
             unsafe fn helper(b: i32) { entry_or(0, || work()) }",
            "fn a() { work() }",
            "extern \"C\" fn callback() { work() }",
            "pub extern \"C\" fn tavola_version() -> i32 { 1 }",
        ] {
            assert_eq!(names_in(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_does_something_outside_is_found() {
        for text in [
            "pub extern \"C\" fn a() -> i32 { work() }",
            "pub extern \"C\" fn a() { work(); entry(|| work()) }",
            "pub extern \"C\" fn a() { entry(|| work()).put() }",
            "pub extern \"C\" fn a() {}",
            "pub extern \"C\" fn a() { helper() }\nfn helper() { work() }",
            "pub extern \"C\" fn a() { a() }",
            // Not the one in the file of frames.
            "pub extern \"C\" fn a() { entry() }\nfn entry() { work() }",
        ] {
            assert_eq!(names_in(text), ["fn a"], "{text}");
        }
        let needless = "pub extern \"C\" fn tavola_version() { entry(|| work()) }";
        assert_eq!(names_in(needless), ["fn tavola_version"]);
    }
}
