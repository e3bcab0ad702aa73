//! Which methods of a type a file defines, and which it calls.
//!
//! The files of a module add their parts to one type, so they can use each other without a `use`:
//! `self.lock()`. Calls are known by the name of what they are called on, which is `self` inside
//! the type, else the type's name in lower case: `core.lock()`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::str::FromStr;

#[derive(Default)]
pub(super) struct Methods {
    pub(super) defined: BTreeSet<String>,
    pub(super) called: BTreeSet<String>,
}

pub(super) fn read(text: &str, of: &str) -> Methods {
    let mut reader = Reader {
        of: of.to_owned(),
        value: of.to_lowercase(),
        methods: Methods::default(),
    };
    if let Ok(stream) = TokenStream::from_str(text) {
        reader.walk(stream, false);
    }
    reader.methods
}

struct Reader {
    of: String,
    value: String,
    methods: Methods,
}

impl Reader {
    /// Reads tokens, which may be inside an `impl` of the type.
    fn walk(&mut self, stream: TokenStream, is_inside: bool) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let rest = &tokens[at + 1..];
            at += 1;
            match token {
                TokenTree::Group(group) => self.walk(group.stream(), is_inside),
                TokenTree::Ident(word) if word == "mod" && is_word(rest.first(), "tests") => {
                    at += 2;
                }
                TokenTree::Ident(word) if word == "impl" && self.is_block(rest) => {
                    if let TokenTree::Group(block) = &rest[1] {
                        self.define(block.stream());
                        self.walk(block.stream(), true);
                    }
                    at += 2;
                }
                TokenTree::Ident(word) => {
                    let is_it = *word == self.value || is_inside && word == "self";
                    if let [TokenTree::Punct(dot), TokenTree::Ident(name), ..] = rest
                        && is_it
                        && dot.as_char() == '.'
                    {
                        self.methods.called.insert(name.to_string());
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns whether `impl` is followed by the type and a block.
    fn is_block(&self, rest: &[TokenTree]) -> bool {
        let is_block = |group: &TokenTree| match group {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            _ => false,
        };
        is_word(rest.first(), &self.of) && rest.get(1).is_some_and(is_block)
    }

    fn define(&mut self, block: TokenStream) {
        let tokens: Vec<TokenTree> = block.into_iter().collect();
        for pair in tokens.windows(2) {
            if is_word(pair.first(), "fn") {
                self.methods.defined.insert(pair[1].to_string());
            }
        }
    }
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_and_calls_are_found_by_what_they_belong_to() {
        let text = "impl Core { fn a(&self) { self.b()?; m!(self.c) } pub fn d() {} }\n\
            impl Other { fn e(&self, core: &Core) { self.f(); self.core.g::<u8>() } }\n\
            mod tests { fn h(core: &Core) { core.i() } }";
        let found = read(text, "Core");
        assert!(found.defined.iter().eq(["a", "d"]), "{:?}", found.defined);
        assert!(
            found.called.iter().eq(["b", "c", "g"]),
            "{:?}",
            found.called
        );
    }
}
