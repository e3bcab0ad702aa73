//! One small key.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use crate::value::{sealed, sealed_word};
use tavola_model::Op;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let some = Builder::some(run.scratch)?.image()?;
    let empty = Builder::new(run.scratch)?.image()?;
    let old = || key(7);
    let new = || b"new key".to_vec();
    let value = |version, len| sealed(&old(), version, len);
    let fresh = || sealed(&new(), 1, 20);
    let on_some = [
        ("set a new key", vec![Op::Set(new(), fresh())]),
        (
            "set an old key, same size",
            vec![Op::Set(old(), value(2, 20))],
        ),
        (
            "set an old key, larger",
            vec![Op::Set(old(), value(2, 500))],
        ),
        ("set with an empty value", vec![Op::Set(new(), Vec::new())]),
        ("set the empty key", vec![Op::Set(Vec::new(), fresh())]),
        (
            "set many",
            vec![Op::SetMany(
                (5..15).map(|n| (key(n), value(2, 30))).collect(),
            )],
        ),
        ("add", vec![Op::Add(new(), fresh())]),
        ("replace", vec![Op::Replace(old(), value(2, 25))]),
        ("append", vec![Op::Append(old(), b"some more".to_vec())]),
        ("prepend", vec![Op::Prepend(old(), b"some more".to_vec())]),
        ("swap", vec![Op::Swap(old(), value(2, 20))]),
        (
            "compare and swap",
            vec![Op::CompareAndSwap(old(), value(2, 20), None)],
        ),
        ("update", vec![Op::Update(old(), b"more".to_vec())]),
        (
            "update of a missing key",
            vec![Op::Update(new(), b"first".to_vec())],
        ),
        ("remove", vec![Op::Remove(old())]),
        ("take", vec![Op::Take(old())]),
        ("incr of a missing key", vec![Op::Incr(new(), 3)]),
        ("incr in place", vec![Op::Incr(b"counter".to_vec(), 1)]),
        ("decr in place", vec![Op::Decr(b"counter".to_vec(), 1)]),
        ("incr of text", vec![Op::Incr(b"text".to_vec(), 1)]),
        (
            "set of a counter",
            vec![Op::Set(b"counter".to_vec(), value(2, 9))],
        ),
        (
            "a key set and removed in turn",
            vec![
                Op::Set(new(), fresh()),
                Op::Remove(new()),
                Op::Set(new(), fresh()),
            ],
        ),
        ("clear", vec![Op::Clear]),
    ];
    let on_some = on_some.into_iter().chain(of_a_word());
    let on_some = on_some.map(|(name, ops)| Case::new(name, some.clone(), ops));
    let first = vec![Op::Set(new(), fresh())];
    let first = Case::new("set the first key of all", empty, first);
    Ok(on_some.chain([first]).collect())
}

/// What changes a value in place, and what does so no more.
fn of_a_word() -> [(&'static str, Vec<Op>); 3] {
    let key = || b"the word".to_vec();
    let word = |version| sealed_word(&key(), version);
    [
        ("set a word in place", vec![Op::Set(key(), word(2))]),
        (
            "swap, compare and swap a word in place",
            vec![
                Op::Swap(key(), word(2)),
                Op::CompareAndSwap(key(), word(3), None),
            ],
        ),
        (
            "a word, something longer, a word",
            vec![
                Op::Set(key(), word(2)),
                Op::Set(key(), sealed(&key(), 3, 20)),
                Op::Set(key(), word(4)),
            ],
        ),
    ]
}
