//! Functions and types have plain names: a function says what it does, a type what it is.

use super::tree::{File, Finding, Tree};
use syn::visit::{self, Visit};

/// Names of functions that leave the reader to guess: "other" what, "look" at what.
const WHOLE: [&str; 5] = ["anew", "go_on", "goes_on", "other", "others"];
/// Words that a function does not begin with, each with plain ones.
const FIRST: [(&str, &str); 13] = [
    ("heed", "install a handler"),
    ("look", "read, check, find"),
    ("looks", "reads, checks, finds"),
    ("settle", "reclaim, finish"),
    ("settled", "reclaimed, finished"),
    ("settles", "reclaims, finishes"),
    ("tell", "report, print, send"),
    ("telling", "reporting"),
    ("tells", "reports, returns"),
    ("told", "reported, returned"),
    ("who", "the process, thread or client"),
    ("whoever", "any process, any client"),
    ("whom", "the process, thread or client"),
];
/// Words that no function has anywhere.
const ANYWHERE: [(&str, &str); 5] = [
    ("anew", "again"),
    ("tells", "reports, returns"),
    ("told", "reported, returned"),
    ("untold", "unacknowledged"),
    ("whoever", "any process, any client"),
];
/// Types that are not nouns, or nouns that say nothing.
const TYPES: [&str; 8] = [
    "Anew", "Desk", "Look", "Looks", "Other", "Told", "Way", "Ways",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    // A file that does not parse is a finding of "functions".
    let Ok(parsed) = syn::parse_file(&file.text) else {
        return Vec::new();
    };
    let mut names = Names::default();
    names.visit_file(&parsed);
    let functions = names.functions.iter().filter_map(|(name, line)| {
        let message = wrong_function(name)?;
        Some(file.finding(*line, message))
    });
    let types = names.types.iter().filter_map(|(name, line)| {
        let message = format!("`{name}`: name what the type is");
        TYPES
            .contains(&name.as_str())
            .then(|| file.finding(*line, message))
    });
    functions.chain(types).collect()
}

fn wrong_function(name: &str) -> Option<String> {
    if WHOLE.contains(&name) {
        return Some(format!("fn {name}: name what it does, and to what"));
    }
    let words: Vec<&str> = name.split('_').collect();
    let begins = |(word, _): &&(&str, &str)| words.first() == Some(word);
    let has = |(word, _): &&(&str, &str)| words.contains(word);
    let (word, plain) = FIRST
        .iter()
        .find(begins)
        .or_else(|| ANYWHERE.iter().find(has))?;
    Some(format!("fn {name}: \"{word}\": write {plain}"))
}

/// Names with the lines they are at.
#[derive(Default)]
struct Names {
    functions: Vec<(String, usize)>,
    types: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Names {
    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        let line = node.ident.span().start().line;
        self.functions.push((node.ident.to_string(), line));
        visit::visit_signature(self, node);
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        let found = name.map(|name| (name.to_string(), name.span().start().line));
        self.types.extend(found);
        visit::visit_item(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[("fuzz/src/a.rs", text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn verbs_and_nouns_pass() {
        let code = "fn lookup() {}\nfn other_keys() {}\nfn read() { let told = 1; }\n\
            fn settings() {}\nfn whole() {}\nenum Answer { Other }\nstruct Lookup;\n";
        assert!(lines_found(code).is_empty());
        assert!(check(&Tree::of(&[("a.md", "fn told() {}\n")])).is_empty());
    }

    #[test]
    fn names_of_functions_are_found() {
        let first = FIRST.iter().map(|(word, _)| *word);
        let inside = ANYWHERE
            .iter()
            .map(|(word, _)| format!("it_is_{word}_here"));
        let whole = WHOLE.into_iter().chain(first).map(str::to_string);
        for name in whole.chain(inside) {
            let code = format!(
                "fn {name}() {{}}\nimpl A {{\n    fn {name}(&self) {{}}\n}}\n\
                 trait B {{\n    fn {name}();\n}}\nfn fine() {{\n    fn {name}() {{}}\n}}\n"
            );
            assert_eq!(lines_found(&code), [1, 3, 6, 9], "{name}");
        }
    }

    #[test]
    fn names_of_types_are_found() {
        for name in TYPES {
            let code = format!(
                "struct {name};\nenum {name} {{}}\ntrait {name} {{}}\n\
                 mod m {{\n    type {name} = u8;\n}}\n"
            );
            assert_eq!(lines_found(&code), [1, 2, 3, 5], "{name}");
        }
    }
}
