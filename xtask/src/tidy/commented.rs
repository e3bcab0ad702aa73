//! No code in comments: git remembers it.
//!
//! A plain comment (`//`, not `///` or `//!`) is code when it parses as a statement. Prose does
//! not: two words in a row are no Rust. A single word or a lone expression is given the benefit of
//! the doubt, so that `// publish()` may name a function.

use super::tree::{File, Finding, Tree};
use syn::parse::Parser;
use syn::{Block, Expr, Stmt};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        if file.is_rust() {
            findings.extend(check_rust(file));
        } else if file.name() == "Cargo.toml" {
            let is_code = |(_, text): &(usize, &str)| is_commented_key(text);
            findings.extend(
                file.lines()
                    .filter(is_code)
                    .map(|(line, _)| report(file, line)),
            );
        }
    }
    findings
}

fn report(file: &File, line: usize) -> Finding {
    file.finding(line, "code in a comment: bring it back or remove it")
}

fn check_rust(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut run: Vec<(usize, &str)> = Vec::new();
    for (line, text) in file.lines().chain([(0, "")]) {
        if let Some(comment) = comment(text) {
            run.push((line, comment));
        } else {
            findings.extend(code_in(&run).into_iter().map(|line| report(file, line)));
            run.clear();
        }
    }
    findings
}

/// Lines of a run of comments that are code by themselves; else the first, when the run is.
fn code_in(run: &[(usize, &str)]) -> Vec<usize> {
    let alone = run.iter().filter(|(_, comment)| is_code(comment));
    let mut lines: Vec<usize> = alone.map(|(line, _)| *line).collect();
    let whole: Vec<&str> = run.iter().map(|(_, comment)| *comment).collect();
    if lines.is_empty() && run.len() > 1 && is_code(&whole.join("\n")) {
        lines.push(run[0].0);
    }
    lines
}

/// The text of a plain comment that has its line for itself.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    (!text.starts_with(['/', '!'])).then_some(text)
}

fn is_code(text: &str) -> bool {
    let text = text.trim();
    if !text.ends_with([';', '}', ')', ']', ',']) {
        return false;
    }
    let is_attribute = text.starts_with("#[") && text.ends_with(']');
    let whole = Block::parse_within.parse_str(text);
    is_attribute || whole.is_ok_and(|statements| statements.iter().any(is_statement))
}

fn is_statement(statement: &Stmt) -> bool {
    match statement {
        Stmt::Local(_) | Stmt::Item(_) => true,
        Stmt::Macro(call) => call.semi_token.is_some(),
        Stmt::Expr(Expr::Path(_) | Expr::Lit(_), _) => false,
        Stmt::Expr(
            Expr::If(_) | Expr::ForLoop(_) | Expr::While(_) | Expr::Match(_) | Expr::Loop(_),
            _,
        ) => true,
        Stmt::Expr(_, semicolon) => semicolon.is_some(),
    }
}

/// A key of a manifest behind a `#`.
fn is_commented_key(text: &str) -> bool {
    let Some((key, value)) = text.strip_prefix('#').and_then(|text| text.split_once('=')) else {
        return false;
    };
    let key = key.trim();
    let is_key = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || "-_.".contains(c));
    is_key && (value.trim_start().starts_with(['"', '{', '[']) || value.trim() == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_in(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn prose_passes() {
        let prose = [
            "Pairs with publish() in write.rs",
            "publish()",
            "Done;",
            "the writer may have died here; start over",
            "SAFETY: the caller's promise; process memory and region never overlap.",
            "I1: one slot -> one item (see `index`)",
            "a, b and c (in this order)",
            "1. load the version;",
            "",
        ];
        for text in prose {
            assert!(
                lines_in(&format!("// {text}\nfn f() {{}}\n")).is_empty(),
                "{text}"
            );
        }
        assert!(lines_in("/// let x = 1;\n//! use a::b;\nfn f() {} // f();\n").is_empty());
    }

    #[test]
    fn code_is_found() {
        let code = [
            "let x = 1;",
            "use a::b;",
            "f(x);",
            "x += 1;",
            "fn f() {}",
            "#[test]",
        ];
        for text in code {
            assert_eq!(
                lines_in(&format!("fn g() {{}}\n// {text}\n")),
                [2],
                "{text}"
            );
        }
        assert_eq!(lines_in("// if a {\n//     b\n// }\n"), [1]);
        assert_eq!(
            lines_in("// match a {\n//     1 => b,\n//     _ => c,\n// }"),
            [1]
        );
    }

    #[test]
    fn commented_dependencies_are_found() {
        let text = "# System calls.\nlibc = \"0.2\"\n# serde = \"1\"\n#a = { version = \"1\" }\n";
        let findings = check(&Tree::of(&[("Cargo.toml", text)]));
        assert_eq!(findings.iter().map(|f| f.line).collect::<Vec<_>>(), [3, 4]);
    }
}
