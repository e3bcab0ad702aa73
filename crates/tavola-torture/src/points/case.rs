//! A case: the file a victim begins with, what it does, and what it should find.

use crate::image::Image;
use crate::value::{HEAD, sealed};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;
use tavola::{CasToken, Hint};
use tavola_model::{Answer, Bytes, Effect, Held, Model, Op, Refusal};

/// The lengths of tables of fixed ones.
pub(crate) const FIXED: (usize, usize) = (16, HEAD + 20);

pub(crate) type Prepared<T> = Result<T, Box<dyn Error>>;

/// A file, and what it holds.
pub(crate) type Start = (Image, Rc<Model>);

/// One case. A victim opens the file, attaches, and is killed at a store of `ops`.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) image: Image,
    /// What the file holds.
    pub(crate) model: Rc<Model>,
    pub(crate) ops: Vec<Op>,
    answers: OnceCell<Vec<Answer>>,
    /// Of the operations, the first so many are done before stores are counted: they lead up to
    /// what is meant.
    pub(crate) prelude: usize,
    /// Whether opening and attaching are killed too.
    pub(crate) armed_from_start: bool,
    /// Whether the end of the handle is killed too.
    pub(crate) closes: bool,
    /// Some of its operations find their keys missing, as is meant.
    pub(crate) misses: bool,
    /// Its file is what a victim left: the operation is the one that stumbles over it.
    pub(crate) is_aftermath: bool,
    /// Keys a survivor sets afterwards, so that the index grows on what the dead one left.
    pub(crate) growth: u32,
    /// The table has no room: survivors remove before they write.
    pub(crate) is_full: bool,
    /// All keys and values of the table have the lengths [`FIXED`].
    pub(crate) is_fixed: bool,
    /// The table is a cache: any key may be missing, but the last that was set.
    pub(crate) is_cache: bool,
    /// A cache that is made smaller: what was just set may be the next to go.
    pub(crate) shrinks: bool,
    /// It waits for the grace of freed pages: two seconds a point, and how often it looks varies.
    pub(crate) waits: bool,
    /// Each point takes long: few of them are enough where a sample is.
    pub(crate) few: bool,
    /// Keys of it have expired or will have: they may be counted until somebody looks for them.
    pub(crate) expires: bool,
    /// Leases are won in it: they are to pass on from the dead.
    pub(crate) is_leased: bool,
    /// The uids of its keys, if it is about uids.
    pub(crate) hints: Option<Rc<Hints>>,
    /// What its keys hold, and their tokens, if its table has versions.
    pub(crate) versions: Option<Rc<Versions>>,
}

/// A key and a value of the lengths [`FIXED`].
pub(crate) fn fixed_pair(key: &[u8], version: u64) -> (Vec<u8>, Vec<u8>) {
    let mut key = key.to_vec();
    key.resize(FIXED.0, b' ');
    let value = sealed(&key, version, FIXED.1 - HEAD);
    (key, value)
}

/// Keys and the uids they have.
pub(crate) type Hints = Vec<(Bytes, Hint)>;

/// Keys, what they hold, and their tokens.
pub(crate) type Versions = Vec<(Bytes, Bytes, CasToken)>;

/// What each touched key may hold from the first step on: a state a step.
pub(crate) type Allowed = HashMap<Bytes, Vec<Option<Held>>>;

impl Case {
    pub(crate) fn new(name: &str, start: Start, ops: Vec<Op>) -> Self {
        let (image, model) = start;
        Self {
            name: name.to_owned(),
            image,
            model,
            ops,
            answers: OnceCell::new(),
            prelude: 0,
            armed_from_start: false,
            closes: false,
            misses: false,
            is_aftermath: false,
            growth: 40,
            is_full: false,
            is_fixed: false,
            is_cache: false,
            shrinks: false,
            waits: false,
            few: false,
            expires: false,
            is_leased: false,
            hints: None,
            versions: None,
        }
    }

    pub(crate) fn named(mut self, hints: &Rc<Hints>) -> Self {
        self.hints = Some(Rc::clone(hints));
        self
    }

    pub(crate) fn versioned(mut self, versions: &Rc<Versions>) -> Self {
        self.versions = Some(Rc::clone(versions));
        self
    }

    pub(crate) fn armed_from_start(mut self) -> Self {
        self.armed_from_start = true;
        self
    }

    pub(crate) fn closes(mut self) -> Self {
        self.closes = true;
        self
    }

    pub(crate) fn misses(mut self) -> Self {
        self.misses = true;
        self
    }

    pub(crate) fn fixed(mut self) -> Self {
        self.is_fixed = true;
        self
    }

    pub(crate) fn cache(mut self) -> Self {
        let shrinks = |op: &Op| matches!(op, Op::SetCapacity(_));
        self.shrinks = self.ops.iter().any(shrinks);
        self.is_cache = true;
        self
    }

    /// A key and a value that the table takes: these, or padded ones.
    pub(crate) fn pair(&self, key: &[u8], version: u64, len: usize) -> (Vec<u8>, Vec<u8>) {
        match self.is_fixed {
            true => fixed_pair(key, version),
            false => (key.to_vec(), sealed(key, version, len)),
        }
    }

    pub(crate) fn full(mut self) -> Self {
        self.is_full = true;
        self
    }

    pub(crate) fn waits(mut self) -> Self {
        self.waits = true;
        self.few()
    }

    pub(crate) fn few(mut self) -> Self {
        self.few = true;
        self
    }

    /// Whether the operation after so many is to take keys away by their tag.
    pub(crate) fn invalidates(&self, done: usize) -> bool {
        matches!(self.ops.get(done), Some(Op::Invalidate(_)))
    }

    pub(crate) fn expires(mut self) -> Self {
        self.expires = true;
        self
    }

    pub(crate) fn leased(mut self) -> Self {
        self.is_leased = true;
        self
    }

    pub(crate) fn growth(mut self, keys: u32) -> Self {
        self.growth = keys;
        self
    }

    /// What an operation should answer, and what it may change.
    fn expect(&self, model: &Model, op: &Op) -> (Answer, Effect) {
        match op {
            Op::Set(..) if self.is_full => (Answer::Refused(Refusal::Full), Effect::new()),
            op => model.expect(op),
        }
    }

    /// Does an operation to a model; where there is no room it changes nothing.
    fn apply(&self, model: &mut Model, op: &Op) {
        if !self.is_full {
            model.apply(op);
        }
    }

    /// What its operations should answer.
    pub(crate) fn answers(&self) -> &[Answer] {
        self.answers.get_or_init(|| {
            let mut model = Model::clone(&self.model);
            let next = |op| {
                let (answer, _) = self.expect(&model, op);
                self.apply(&mut model, op);
                answer
            };
            self.ops.iter().map(next).collect()
        })
    }

    /// What the table holds after `done` operations, and what the one under way may change.
    pub(crate) fn after(&self, done: usize) -> (Model, Effect) {
        let mut model = Model::clone(&self.model);
        for op in &self.ops[..done] {
            self.apply(&mut model, op);
        }
        let pending = self.ops.get(done).map(|op| self.expect(&model, op).1);
        (model, pending.unwrap_or_default())
    }

    /// Returns whether the operation under way changes all its keys at once.
    pub(crate) fn is_at_once(&self, done: usize) -> bool {
        matches!(self.ops.get(done), Some(Op::Transaction(_)))
    }

    /// Everything the touched keys may hold at any time.
    pub(crate) fn allowed(&self) -> Allowed {
        let mut model = Model::clone(&self.model);
        let mut allowed = Allowed::new();
        for op in &self.ops {
            for (key, value) in self.expect(&model, op).1 {
                let first = || vec![model.get(&key).cloned()];
                allowed.entry(key.clone()).or_insert_with(first).push(value);
            }
            self.apply(&mut model, op);
        }
        allowed
    }
}
