//! A public type of the library has a name of its own: one name, one type.

use super::tree::{File, Finding, Tree};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// The crate whose types have one name each. Others put theirs into modules that are part of the
/// name, as `text::Answer` and `meta::Answer`.
const LIBRARY: &str = "crates/tavola/src/";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let files = tree.rust_files();
    for file in files.filter(|file| file.path.starts_with(LIBRARY)) {
        for (name, line) in public_types(file) {
            match seen.get(&name) {
                Some(path) => {
                    let message = format!("{path} has a type `{name}`, too: rename one of them");
                    findings.push(file.finding(line, message));
                }
                None => {
                    seen.insert(name, &file.path);
                }
            }
        }
    }
    findings
}

/// Returns the public types of a file with the lines that they are at. A file that does not parse
/// is a finding of "functions".
fn public_types(file: &File) -> Vec<(String, usize)> {
    let mut types = Types::default();
    if let Ok(parsed) = syn::parse_file(&file.text) {
        types.visit_file(&parsed);
    }
    types.public
}

#[derive(Default)]
struct Types {
    public: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Types {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (visibility, name) = match item {
            syn::Item::Struct(item) => (&item.vis, &item.ident),
            syn::Item::Enum(item) => (&item.vis, &item.ident),
            syn::Item::Union(item) => (&item.vis, &item.ident),
            syn::Item::Trait(item) => (&item.vis, &item.ident),
            syn::Item::Type(item) => (&item.vis, &item.ident),
            _ => return visit::visit_item(self, item),
        };
        if matches!(visibility, syn::Visibility::Public(_)) {
            let line = name.span().start().line;
            self.public.push((name.to_string(), line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places_found(files: &[(&str, &str)]) -> Vec<(String, usize)> {
        let findings = check(&Tree::of(files));
        findings
            .into_iter()
            .map(|finding| (finding.path, finding.line))
            .collect()
    }

    #[test]
    fn names_of_their_own_pass() {
        let a = (
            "crates/tavola/src/a.rs",
            "pub struct A;\npub(crate) enum B {}\nstruct C;\n",
        );
        let b = (
            "crates/tavola/src/b.rs",
            "pub struct B;\nuse a::A;\nenum C {}\n",
        );
        let other = ("crates/tavola-server/src/a.rs", "pub struct A;\n");
        assert!(places_found(&[a, b, other]).is_empty());
    }

    #[test]
    fn a_name_of_two_types_is_found() {
        let kinds = [
            "pub struct A;",
            "pub enum A {}",
            "pub union A { a: u8 }",
            "pub trait A {}",
            "mod m { pub type A = u8; }",
        ];
        for kind in kinds {
            let first = ("crates/tavola/src/a.rs", "pub struct A;\n");
            let text = format!("\n{kind}\n");
            let second = ("crates/tavola/src/b.rs", text.as_str());
            let expected = ("crates/tavola/src/b.rs".to_string(), 2);
            assert_eq!(places_found(&[first, second]), [expected], "{kind}");
        }
    }
}
