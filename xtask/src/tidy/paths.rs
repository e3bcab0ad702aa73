//! The `a::b::c` paths a Rust file names, in code, imports and macros alike.
//!
//! Paths are read off the tokens, so comments and strings don't count and the inside of a macro
//! does. Import groups are flattened: `use a::{b, c::d}` names `a::b` and `a::c::d`.

use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};
use std::str::FromStr;

/// A path as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
    /// The inline modules around it, outermost first.
    pub(super) modules: Vec<String>,
    /// In an import: the name that the file gives it.
    pub(super) imported: Option<String>,
}

impl Named {
    pub(super) fn is_in_tests(&self) -> bool {
        self.modules.iter().any(|name| name == "tests")
    }
}

/// What the tokens of a file say.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub(super) paths: Vec<Named>,
    /// Modules declared, inline or not, with their lines.
    pub(super) modules: Vec<(String, usize)>,
}

pub(super) fn read(text: &str) -> Result<Names, LexError> {
    let mut reader = Reader::default();
    reader.walk(TokenStream::from_str(text)?);
    Ok(reader.names)
}

#[derive(Default)]
struct Reader {
    names: Names,
    around: Vec<String>,
    is_import: bool,
}

impl Reader {
    fn walk(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at = match &tokens[at] {
                TokenTree::Ident(word) if word == "mod" => self.module(&tokens, at),
                TokenTree::Ident(word) if word == "use" => {
                    self.is_import = true;
                    at + 1
                }
                TokenTree::Punct(end) if end.as_char() == ';' => {
                    self.is_import = false;
                    at + 1
                }
                TokenTree::Ident(_) => self.path(&tokens, at, &[]),
                TokenTree::Group(group) => {
                    self.walk(group.stream());
                    at + 1
                }
                _ => at + 1,
            };
        }
    }

    /// Reads `mod name;` or `mod name { … }` and says where to go on.
    fn module(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let Some(TokenTree::Ident(name)) = tokens.get(at + 1) else {
            return at + 1;
        };
        self.names
            .modules
            .push((name.to_string(), name.span().start().line));
        let Some(TokenTree::Group(body)) = tokens.get(at + 2) else {
            return at + 2;
        };
        if body.delimiter() == Delimiter::Brace {
            self.around.push(name.to_string());
            self.walk(body.stream());
            self.around.pop();
        }
        at + 3
    }

    /// Reads the path that starts at `at` under `prefix` and says where to go on.
    fn path(&mut self, tokens: &[TokenTree], mut at: usize, prefix: &[String]) -> usize {
        let mut segments = prefix.to_vec();
        let line = tokens[at].span().start().line;
        segments.push(tokens[at].to_string());
        at += 1;
        while is_separator(tokens, at) {
            match tokens.get(at + 2) {
                Some(TokenTree::Ident(word)) => segments.push(word.to_string()),
                Some(TokenTree::Punct(star)) if star.as_char() == '*' => {
                    segments.push("*".to_owned());
                }
                Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                    self.group(group.stream(), &segments);
                    return at + 3;
                }
                _ => break,
            }
            at += 3;
        }
        if segments.len() > 1 {
            self.names.paths.push(Named {
                imported: (self.is_import).then(|| name_of(tokens, at, &segments)),
                segments,
                line,
                modules: self.around.clone(),
            });
        }
        at
    }

    /// Reads the members of an import group, each a path under `prefix`.
    fn group(&mut self, stream: TokenStream, prefix: &[String]) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            let starts_path = match &tokens[at] {
                TokenTree::Ident(_) => true,
                TokenTree::Punct(star) => star.as_char() == '*',
                _ => false,
            };
            at = if starts_path {
                self.path(&tokens, at, prefix)
            } else {
                at + 1
            };
            // An alias (`as name`) is no path; skip to the next member.
            while at < tokens.len() && !is_comma(&tokens[at]) {
                at += 1;
            }
            at += 1;
        }
    }
}

/// Returns the name of an import: its alias (`as name`), or else the last segment.
fn name_of(tokens: &[TokenTree], at: usize, segments: &[String]) -> String {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Ident(word)), Some(TokenTree::Ident(alias))) if word == "as" => {
            alias.to_string()
        }
        _ => {
            let mut names = segments.iter().rev().filter(|name| *name != "self");
            names.next().cloned().unwrap_or_default()
        }
    }
}

fn is_separator(tokens: &[TokenTree], at: usize) -> bool {
    let colon = |at| match tokens.get(at) {
        Some(TokenTree::Punct(punct)) => punct.as_char() == ':',
        _ => false,
    };
    colon(at) && colon(at + 1)
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths_of(text: &str) -> Vec<String> {
        let names = read(text).expect("the sample is made of tokens");
        names
            .paths
            .iter()
            .map(|path| path.segments.join("::"))
            .collect()
    }

    #[test]
    fn flattens_import_groups() {
        let found = paths_of("use a::{b, c::{d as e, *}, self, f};");
        assert_eq!(found, ["a::b", "a::c::d", "a::c::*", "a::self", "a::f"]);
    }

    #[test]
    fn sees_code_and_macros_but_no_comments_or_strings() {
        let found = paths_of("// a::b\nfn f() { m!(\"c::d\", crate::x::y); g::<h::I>(j::K) }");
        assert_eq!(found, ["crate::x::y", "h::I", "j::K"]);
    }

    #[test]
    fn knows_lines_and_modules_around() {
        let names =
            read("mod a;\nmod b {\n mod c { use super::d; }\n}\nuse e::f;").expect("tokens");
        let inner = Named {
            segments: vec!["super".into(), "d".into()],
            line: 3,
            modules: vec!["b".into(), "c".into()],
            imported: Some("d".into()),
        };
        assert_eq!(names.paths[0], inner);
        assert_eq!((names.paths[1].line, names.paths[1].modules.len()), (5, 0));
        let declared = [
            ("a".to_owned(), 1),
            ("b".to_owned(), 2),
            ("c".to_owned(), 3),
        ];
        assert_eq!(names.modules, declared);
    }

    #[test]
    fn knows_what_imports_are_called() {
        let text = "pub(crate) use a::{self, b as c, d::e};\nfn f() { g::h(); } use i::j as k;";
        let names = read(text).expect("tokens");
        let names: Vec<Option<&str>> = (names.paths.iter())
            .map(|path| path.imported.as_deref())
            .collect();
        assert_eq!(names, [Some("a"), Some("c"), Some("e"), None, Some("k")]);
    }

    #[test]
    fn a_type_annotation_is_no_path() {
        assert!(paths_of("fn f(a: B, c: D) { let e: F = g; }").is_empty());
    }
}
