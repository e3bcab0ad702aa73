//! A function takes its arguments one by one, or as a struct with a name, not in a tuple.
//!
//! Closures may take tuples apart: what calls them decides what they get. So does the trait that a
//! function implements; the function gives its tuple a name.

use super::tree::{File, Finding, Tree};
use syn::visit::{self, Visit};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    // A file that does not parse is a finding of "functions".
    let Ok(parsed) = syn::parse_file(&file.text) else {
        return Vec::new();
    };
    let mut seen = Seen::default();
    seen.visit_file(&parsed);
    let as_finding = |(name, line): (String, usize)| {
        let message = format!(
            "fn {name} takes arguments in a tuple: take them one by one, or as a struct with a name"
        );
        file.finding(line, message)
    };
    seen.functions.into_iter().map(as_finding).collect()
}

/// Functions that take a tuple, with the lines of the parameters.
#[derive(Default)]
struct Seen {
    functions: Vec<(String, usize)>,
    is_in_trait_impl: bool,
}

impl<'ast> Visit<'ast> for Seen {
    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let around = self.is_in_trait_impl;
        self.is_in_trait_impl = node.trait_.is_some();
        visit::visit_item_impl(self, node);
        self.is_in_trait_impl = around;
    }

    fn visit_signature(&mut self, node: &'ast syn::Signature) {
        for argument in &node.inputs {
            let syn::FnArg::Typed(argument) = argument else {
                continue;
            };
            let has_tuple_type = !self.is_in_trait_impl && is_tuple(&argument.ty);
            if is_tuple_pattern(&argument.pat) || has_tuple_type {
                let line = argument.colon_token.span.start().line;
                self.functions.push((node.ident.to_string(), line));
            }
        }
        visit::visit_signature(self, node);
    }

    fn visit_block(&mut self, node: &'ast syn::Block) {
        // A function in the body of a trait's function is not the trait's.
        let around = std::mem::take(&mut self.is_in_trait_impl);
        visit::visit_block(self, node);
        self.is_in_trait_impl = around;
    }
}

fn is_tuple_pattern(pattern: &syn::Pat) -> bool {
    match pattern {
        syn::Pat::Tuple(tuple) => !tuple.elems.is_empty(),
        syn::Pat::Reference(reference) => is_tuple_pattern(&reference.pat),
        syn::Pat::Paren(inner) => is_tuple_pattern(&inner.pat),
        _ => false,
    }
}

fn is_tuple(of: &syn::Type) -> bool {
    match of {
        syn::Type::Tuple(tuple) => !tuple.elems.is_empty(),
        syn::Type::Reference(reference) => is_tuple(&reference.elem),
        syn::Type::Paren(inner) => is_tuple(&inner.elem),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_found(path: &str, text: &str) -> Vec<usize> {
        let findings = check(&Tree::of(&[(path, text)]));
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn arguments_of_their_own_pass() {
        let text =
            "fn a(x: u32, y: &[(u32, u32)], Pair { a, b }: Pair, (): &mut ()) -> (u32, u32) {
    let (c, d) = (a, b);
    let f = |(k, v): (u32, u32)| k + v;
    y.iter().map(|&(k, v)| f((k, v))).zip([(c, d)]);
}
impl From<(u32, u32)> for Pair {
    fn from(pair: (u32, u32)) -> Self {
        pair.into()
    }
}
";
        assert!(lines_found("crates/tavola/src/a.rs", text).is_empty());
    }

    #[test]
    fn tuples_are_found_wherever_the_function_is() {
        let functions = [
            "fn f(a: u8,\n(b, c): (u8, u8)) {}",
            "fn f(a: u8,\n&(b, c): &(u8, u8)) {}",
            "fn f(a: u8,\n(b, (c, _)): &(u8, (u8, u8))) {}",
            "fn f(a: u8,\npair: (u8, u8)) {}",
            "fn f(a: u8,\npair: &(u8, u8)) {}",
        ];
        for function in functions {
            for text in [
                function.to_string(),
                format!("impl S {{ {function} }}"),
                format!("trait T {{ {function} }}"),
                format!("mod m {{ {function} }}"),
                format!("impl T for S {{ fn g(&self) {{ {function} }} }}"),
            ] {
                assert_eq!(lines_found("crates/tavola/src/a.rs", &text), [2], "{text}");
            }
        }
        let of_a_trait = "impl T for S { fn f(a: u8,\n(b, c): (u8, u8)) {} }";
        assert_eq!(lines_found("crates/tavola/src/a.rs", of_a_trait), [2]);
    }

    #[test]
    fn bindings_and_tests_are_covered_too() {
        let text = "fn f((a, b): (u8, u8)) {}";
        for path in ["bindings/python/src/a.rs", "crates/tavola/tests/a.rs"] {
            assert_eq!(lines_found(path, text), [1], "{path}");
        }
    }
}
