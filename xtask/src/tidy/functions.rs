//! Functions fit on a screen.

use super::tree::{Finding, Tree};
use syn::visit::{self, Visit};

const MAX_LINES: usize = 70;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust_files() {
        match syn::parse_file(&file.text) {
            Ok(parsed) => {
                let mut seen = Seen::default();
                seen.visit_file(&parsed);
                findings.extend(seen.long.into_iter().map(|(line, name, count)| {
                    file.finding(
                        line,
                        format!("fn {name}: {count} lines; {MAX_LINES} at most"),
                    )
                }));
            }
            Err(error) => {
                let message = format!("does not parse: {error}");
                findings.push(file.finding(error.span().start().line, message));
            }
        }
    }
    findings
}

/// Functions longer than allowed: line, name, length.
#[derive(Default)]
struct Seen {
    long: Vec<(usize, String, usize)>,
}

impl Seen {
    /// Counts from the line of `fn` to the line of the closing brace.
    fn measure(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = block.brace_token.span.close().end().line;
        let count = last + 1 - first;
        if count > MAX_LINES {
            self.long.push((first, signature.ident.to_string(), count));
        }
    }
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.measure(&node.sig, &node.block);
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.measure(&node.sig, &node.block);
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.measure(&node.sig, block);
        }
        visit::visit_trait_item_fn(self, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(inner_lines: usize) -> String {
        format!("fn f() {{\n{}}}\n", "    g();\n".repeat(inner_lines))
    }

    #[test]
    fn seventy_lines_pass() {
        assert_eq!(check(&Tree::of(&[("a.rs", &function(68))])), []);
    }

    #[test]
    fn long_functions_are_found_wherever_they_are() {
        let long = function(69);
        let inside = |head: &str| format!("{head} {{\n{long}}}\n");
        for text in [
            long.clone(),
            inside("impl S"),
            inside("trait T"),
            inside("mod m"),
            inside("impl T for S"),
        ] {
            let findings = check(&Tree::of(&[("a.rs", &text)]));
            assert_eq!(findings.len(), 1, "{text}");
            assert!(
                findings[0].message.contains("fn f: 71 lines"),
                "{findings:?}"
            );
        }
    }

    #[test]
    fn a_file_that_does_not_parse_is_a_finding() {
        let findings = check(&Tree::of(&[("a.rs", "fn f() {\n    let = ;\n}\n")]));
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
    }
}
