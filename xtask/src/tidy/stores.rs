//! Few files of the core store the words that say what a key has: its slot, what changes in place
//! in its item, the commit word of a transaction. All others change a key by a call of
//! `index/commit.rs`, which records and reports the change.
//!
//! A function counts as storing such a word if it stores at all and gets one: from a bucket, from
//! an item, or as an argument. And only some files may call the functions that store the word they
//! are given.

use super::layers::{CORE, module_of, resolve};
use super::paths;
use super::tree::{File, Finding, Tree};
use syn::visit::{self, Visit};

/// Files that store such words, and which. A new one needs a reason; one that stores none must go.
const STORING: [(&str, &str); 11] = [
    ("index/commit.rs", "the change of a key"),
    ("index/record.rs", "the same, of a durable table"),
    (
        "journal/ring.rs",
        "the same, with its record; again after a death",
    ),
    ("engine/decide.rs", "commit words"),
    (
        "recover/rebuild.rs",
        "slots of a transaction that died; damaged ones",
    ),
    ("recover/reclaim.rs", "commit words of the dead"),
    ("index/slots.rs", "keys and items that move"),
    ("index/split.rs", "keys of a segment that is split"),
    ("index/shrink.rs", "keys of two segments that become one"),
    ("index/ghosts.rs", "ghosts, which are no keys"),
    ("alloc/uid.rs", "entries of uids, which are of another kind"),
];
/// The modules that know such words.
const LAYERS: [&str; 6] = ["alloc", "journal", "index", "recover", "engine", "table"];
/// Fields that are such words.
const FIELDS: [&str; 2] = ["place", "slot"];
/// Fields that have several.
const ARRAYS: [&str; 2] = ["commits", "slots"];
/// Functions that return such a word, or its content.
const SOURCES: [&str; 16] = [
    "client_word",
    "commit_word",
    "counter",
    "expiry_word",
    "free_slot",
    "ghost_word",
    "make_free",
    "pending_word",
    "seat_of",
    "slot_word",
    "take_away",
    "take_free",
    "take_ghost",
    "value_word",
    "word_by_uid",
    "word_if",
];
/// Methods that store.
const STORES: [&str; 3] = ["cas", "store", "swap"];
/// Methods that add, and so store as well.
const ADDS: [&str; 4] = ["add_owned", "fetch_add", "fetch_or", "sub_owned"];
/// Functions that store the word they are given: module, file or name, name; and who may name them.
const PRIMITIVES: [([&str; 3], &[&str]); 6] = [
    (["index", "commit", "lead"], &["index/pending.rs"]),
    (["index", "record", "make_recorded"], &["index/commit.rs"]),
    (["index", "slots", "put"], &["index/shrink.rs"]),
    (["index", "slots", "repoint"], &["index/shrink.rs"]),
    (
        ["index", "slots", "move_key"],
        &["index/displace.rs", "index/split.rs"],
    ),
    (
        ["journal", "Appended", ""],
        &["engine/decide.rs", "index/record.rs"],
    ),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        let Some(inner) = file.path.strip_prefix(CORE) else {
            continue;
        };
        let place = module_of(inner);
        let is_module = |module: &String| LAYERS.contains(&module.as_str());
        let is_test = place.iter().any(|name| name == "tests");
        if is_test || !place.first().is_some_and(is_module) {
            continue;
        }
        findings.extend(check_names(file, inner, &place));
        let stores = stores_in(file);
        match STORING.iter().find(|(path, _)| *path == inner) {
            Some(_) if stores.is_empty() => {
                let message = "stores no word of a key; take it off the list of `stores.rs`";
                findings.push(file.finding(1, message));
            }
            Some(_) => {}
            None => findings.extend(stores.into_iter().map(|(line, name)| {
                let message = format!(
                    "fn {name} stores a word that says what a key has; call `index/commit.rs`"
                );
                file.finding(line, message)
            })),
        }
    }
    findings
}

/// Finds uses of functions that store the word they are given.
fn check_names(file: &File, inner: &str, place: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Ok(names) = paths::read(&file.text) else {
        return findings;
    };
    for path in names.paths.iter().filter(|path| !path.is_in_tests()) {
        let target = resolve(place, path);
        for (primitive, users) in PRIMITIVES {
            let parts = primitive.iter().filter(|part| !part.is_empty());
            if target.iter().eq(parts) && !users.contains(&inner) {
                let message = format!("`{}` is for other files only", target.join("::"));
                findings.push(file.finding(path.line, message));
            }
        }
    }
    findings
}

/// Returns the functions of a file that store such words, with the lines of the first stores.
fn stores_in(file: &File) -> Vec<(usize, String)> {
    // A file that does not parse is a finding of "functions".
    let Ok(parsed) = syn::parse_file(&file.text) else {
        return Vec::new();
    };
    let mut seen = Seen::default();
    seen.visit_file(&parsed);
    seen.storing
}

/// Functions that store such words.
#[derive(Default)]
struct Seen {
    storing: Vec<(usize, String)>,
}

impl Seen {
    fn examine(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let mut body = Body::default();
        body.visit_signature(signature);
        body.visit_block(block);
        if let Some(line) = body.first_store
            && body.has_source
        {
            self.storing.push((line, signature.ident.to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.examine(&node.sig, &node.block);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.examine(&node.sig, &node.block);
    }

    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if node.ident != "tests" {
            visit::visit_item_mod(self, node);
        }
    }
}

/// What a function does.
#[derive(Default)]
struct Body {
    has_source: bool,
    /// Whether it is given a word. If it only adds to that, it is a counter.
    has_argument: bool,
    first_store: Option<usize>,
}

impl<'ast> Visit<'ast> for Body {
    fn visit_fn_arg(&mut self, node: &'ast syn::FnArg) {
        if let syn::FnArg::Typed(argument) = node
            && let syn::Type::Reference(reference) = &*argument.ty
            && let syn::Type::Path(path) = &*reference.elem
        {
            self.has_argument |= path.path.is_ident("W64");
        }
    }

    fn visit_expr_field(&mut self, node: &'ast syn::ExprField) {
        if let syn::Member::Named(name) = &node.member
            && ARRAYS.iter().any(|of| name == of)
        {
            self.has_source = true;
        }
        visit::visit_expr_field(self, node);
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*node.func
            && let Some(last) = path.path.segments.last()
        {
            self.has_source |= SOURCES.iter().any(|name| last.ident == name);
        }
        visit::visit_expr_call(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast syn::ExprMethodCall) {
        // `FoundKey::word` takes the lock and the key, other functions of that name do not.
        let is_word = node.method == "word" && node.args.len() == 2;
        self.has_source |= is_word || SOURCES.iter().any(|name| node.method == name);
        let mut stores = STORES.iter().chain(&ADDS);
        if stores.any(|name| node.method == name) && !is_of_head(&node.receiver) {
            self.first_store
                .get_or_insert(node.method.span().start().line);
            self.has_source |= is_word_field(&node.receiver);
            self.has_source |= self.has_argument && !ADDS.iter().any(|name| node.method == name);
        }
        visit::visit_expr_method_call(self, node);
    }
}

/// Returns whether a store goes to a field that is such a word.
fn is_word_field(receiver: &syn::Expr) -> bool {
    match receiver {
        syn::Expr::Field(field) => {
            matches!(&field.member, syn::Member::Named(name) if FIELDS.iter().any(|of| name == of))
        }
        _ => false,
    }
}

/// Returns whether a store goes to a count in the head of a shard: `lock.head.moves`.
fn is_of_head(receiver: &syn::Expr) -> bool {
    match receiver {
        syn::Expr::Field(field) => {
            matches!(&field.member, syn::Member::Named(name) if name == "head")
                || is_of_head(&field.base)
        }
        syn::Expr::Index(index) => is_of_head(&index.expr),
        syn::Expr::Path(path) => path.path.is_ident("head"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_in(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[(&format!("{CORE}{path}"), text)]);
        check(&tree).iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_store_to_a_word_of_a_key_is_found_however_it_is_got() {
        for body in [
            "bucket.slots[3].store(0, Ordering::Release)",
            "let word = &bucket.slots[3];\nword.cas(1, 0, Ordering::Release);",
            "for word in &bucket.slots { word.swap(0, Ordering::Relaxed); }",
            "if let Some(word) = found.word(lock, key) { word.fetch_add(1, Ordering::Relaxed); }",
            "item.expiry_word().map(|word| word.store(1, Ordering::Release));",
            "seat.slot.store(word, Ordering::Release)",
            "let word = take_free(segment, hash, 0)?;\nword.store(word, Ordering::Release)",
            "region.superblock().commit_word(1)?.store(0, Ordering::Release)",
        ] {
            let text = format!("impl Core {{ fn f(&self) {{ {body} }} }}");
            assert_eq!(lines_in("engine/write.rs", &text).len(), 1, "{body}");
            assert_eq!(lines_in("index/clear.rs", &text).len(), 1, "{body}");
            assert_eq!(lines_in("index/slots.rs", &text).len(), 0, "{body}");
        }
        let given = "fn f(place: &W64) { place.store(1, Ordering::Release) }";
        assert_eq!(lines_in("index/place.rs", given), [1]);
    }

    #[test]
    fn a_call_of_a_function_that_stores_is_found() {
        let text = "use super::commit::{lead, made};\nuse super::slots::put;";
        assert_eq!(lines_in("index/clear.rs", text), [1, 2]);
        assert_eq!(lines_in("index/pending.rs", text), [2]);
        let text = "fn f(place: &W64) { place.store(1) }\nuse crate::journal::Appended;";
        assert_eq!(lines_in("engine/write.rs", text), [2, 1]);
        assert!(lines_in("engine/decide.rs", text).is_empty());
    }

    #[test]
    fn readers_and_other_words_pass() {
        let text = "fn f(lock: &ShardLock) { bucket.slots[1].load(Ordering::Relaxed);\n\
            lock.head.classes[1].used.store(1, Ordering::Relaxed); lock.head.items.add_owned(1) }\n\
            fn g(head: &Head) { head.items.add_owned(1) }\n\
            fn count(counter: &W64) { counter.fetch_add(1, Ordering::Relaxed); }\n\
            mod tests { fn h() { bucket.slots[1].store(0, Ordering::Relaxed) } }";
        assert!(lines_in("index/clear.rs", text).is_empty());
        assert!(lines_in("index/tests/clear.rs", "fn f(w: &W64) { w.store(1) }").is_empty());
    }

    #[test]
    fn a_file_that_stores_no_such_word_leaves_the_list() {
        assert_eq!(lines_in("index/split.rs", "fn f() {}"), [1]);
    }
}
