//! Changes of several keys at once.

use super::super::Run;
use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared};
use crate::value::sealed;
use tavola_model::Op;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let some = Builder::some(run.scratch)?.image()?;
    let mut builder = Builder::some(run.scratch)?;
    let hints = builder.name((5..9).map(key))?;
    let named = builder.image()?;
    let empty = Builder::new(run.scratch)?.image()?;
    let new = |n: u32| format!("new key {n}").into_bytes();
    let set = |key: Vec<u8>, version, len| {
        let value = sealed(&key, version, len);
        (key, Some(value))
    };
    let overwrites = || Op::Transaction((5..9).map(|n| set(key(n), 2, 30)).collect());
    let inserts = || Op::Transaction((0..4).map(|n| set(new(n), 1, 30)).collect());
    let removes = || Op::Transaction((5..9).map(|n| (key(n), None)).collect());
    let mixed = || {
        Op::Transaction(vec![
            set(key(5), 2, 500),
            (key(6), None),
            set(new(0), 1, 20),
            (new(1), None),
            set(key(7), 2, 20),
        ])
    };
    let large = || Op::Transaction(vec![set(key(5), 2, 40_000), set(b"large".to_vec(), 2, 20)]);
    let on_some = [
        ("a transaction that overwrites", vec![overwrites()]),
        ("a transaction that inserts", vec![inserts()]),
        ("a transaction that removes", vec![removes()]),
        ("a transaction that does all three", vec![mixed()]),
        ("a transaction with large values", vec![large()]),
        ("two transactions", vec![inserts(), overwrites()]),
    ];
    let on_named = [
        (
            "a transaction that overwrites keys with uids",
            vec![overwrites()],
        ),
        ("a transaction that removes keys with uids", vec![removes()]),
    ];
    let cases = on_some
        .into_iter()
        .map(|(name, ops)| Case::new(name, some.clone(), ops));
    let cases = cases.chain(
        on_named
            .into_iter()
            .map(|(name, ops)| Case::new(name, named.clone(), ops).named(&hints)),
    );
    let first = Case::new("a transaction in an empty table", empty, vec![inserts()]);
    Ok(cases.chain([first]).collect())
}
