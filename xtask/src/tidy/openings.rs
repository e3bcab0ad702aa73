//! The doc of a function begins with what the function does: "Returns ...", "Reads ...".

use super::tree::{File, Finding, Tree};
use syn::visit::{self, Visit};

/// The folders that the rule covers. The list only grows.
const SCOPE: [&str; 2] = [
    "crates/tavola-server/src/memcached/",
    "crates/tavola-server/src/net/",
];

/// Words that end in "s" and are not verbs.
const NOT_VERBS: [&str; 28] = [
    "Always",
    "As",
    "Attributes",
    "Bytes",
    "Chunks",
    "Classes",
    "Clients",
    "Connections",
    "Counters",
    "Digits",
    "Errors",
    "Figures",
    "Flags",
    "Its",
    "Items",
    "Keys",
    "Lines",
    "Messages",
    "Milliseconds",
    "Names",
    "Numbers",
    "Others",
    "Requests",
    "Seconds",
    "This",
    "Threads",
    "Values",
    "Words",
];

/// Words that follow a noun in the plural: "Counts of a thread".
const AFTER_NOUNS: [&str; 3] = ["of", "who", "whose"];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let covered = |file: &&File| SCOPE.iter().any(|part| file.path.starts_with(part));
    tree.rust_files()
        .filter(covered)
        .flat_map(check_file)
        .collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    // A file that does not parse is a finding of "functions".
    let Ok(parsed) = syn::parse_file(&file.text) else {
        return Vec::new();
    };
    let mut docs = Docs::default();
    docs.visit_file(&parsed);
    let wrong = docs.openings.iter().filter(|(_, text)| !is_verb(text));
    let finding = |(line, text): &(usize, String)| {
        let opening: Vec<&str> = text.split(' ').take(3).collect();
        let opening = opening.join(" ");
        let message = format!("\"{opening} ...\": say what the function does, \"Returns ...\"");
        file.finding(*line, message)
    };
    wrong.map(finding).collect()
}

/// Returns whether a sentence begins with a verb in the third person, as far as its letters show.
fn is_verb(text: &str) -> bool {
    let mut words = text.split(' ');
    let first = words.next().unwrap_or_default();
    let first = first.trim_end_matches(['.', ',', ':', ';']);
    let is_word = first.starts_with(|letter: char| letter.is_ascii_uppercase())
        && first.chars().all(|letter| letter.is_ascii_alphabetic());
    let follows_noun = words.next().is_some_and(|next| AFTER_NOUNS.contains(&next));
    is_word && first.ends_with('s') && !NOT_VERBS.contains(&first) && !follows_noun
}

/// The first lines of the docs of functions, with the lines they are at. Tests have names instead.
#[derive(Default)]
struct Docs {
    openings: Vec<(usize, String)>,
}

impl Docs {
    fn read(&mut self, attributes: &[syn::Attribute]) {
        if attributes.iter().any(|one| one.path().is_ident("test")) {
            return;
        }
        let mut docs = attributes.iter().filter(|one| one.path().is_ident("doc"));
        let Some(first) = docs.next() else { return };
        if let syn::Meta::NameValue(pair) = &first.meta
            && let syn::Expr::Lit(literal) = &pair.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            let line = first.pound_token.span.start().line;
            self.openings.push((line, text.value().trim().to_string()));
        }
    }
}

impl<'ast> Visit<'ast> for Docs {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.read(&node.attrs);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.read(&node.attrs);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.read(&node.attrs);
        visit::visit_trait_item_fn(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COVERED: &str = "crates/tavola-server/src/net/a.rs";

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn docs_that_begin_with_a_verb_pass() {
        let code = "/// Returns it.\nfn f() {}\nfn g() {}\n/// Its state.\nstruct A;\n\
            impl A {\n/// Reads, then writes.\nfn h() {}\n}\n\
            /// All that there is.\n#[test]\nfn t() {}\n";
        assert!(lines_found(COVERED, code).is_empty());
        let other = "/// All messages.\nfn f() {}\n";
        assert!(lines_found("crates/tavola-bench/src/a.rs", other).is_empty());
    }

    #[test]
    fn nouns_and_clauses_are_found() {
        for opening in [
            "All messages.",
            "Bytes that wait.",
            "Counts of a thread.",
            "How many there are.",
            "Whether it waits.",
            "`None` if it is missing.",
            "# Errors",
            "Return it.",
        ] {
            let code = format!(
                "/// {opening}\nfn f() {{}}\nimpl A {{\n/// {opening}\n#[inline]\nfn g() {{}}\n}}\n\
                 trait B {{\n/// {opening}\nfn h();\n}}\n"
            );
            assert_eq!(lines_found(COVERED, &code), [1, 4, 9], "{opening}");
        }
    }
}
