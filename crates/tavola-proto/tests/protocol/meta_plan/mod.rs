//! Flags of meta commands, made by numbers.

use crate::numbers::Numbers;
use tavola_proto::meta::Item;
use tavola_proto::meta::ask::{Flag, Flags};

/// The flags without anything that belongs to them.
const PLAIN: [(u8, Flag); 12] = [
    (b'c', Flag::ReturnCas),
    (b'f', Flag::ReturnFlags),
    (b'h', Flag::ReturnFetched),
    (b'k', Flag::ReturnKey),
    (b'l', Flag::ReturnIdle),
    (b's', Flag::ReturnSize),
    (b't', Flag::ReturnTtl),
    (b'v', Flag::ReturnValue),
    (b'q', Flag::Quiet),
    (b'u', Flag::KeepPlace),
    (b'x', Flag::RemoveValue),
    (b'I', Flag::MarkStale),
];

/// What a request has beside its key.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub plain: Vec<u8>,
    pub client_flags: Option<u32>,
    pub exptime: Option<i32>,
    pub vivify: Option<i32>,
    pub recache: Option<i32>,
    pub compare: Option<u64>,
    pub new_cas: Option<u64>,
    pub initial: Option<u64>,
    pub delta: Option<u64>,
    pub hint: Option<Vec<u8>>,
    pub path: Option<Vec<u8>>,
    pub opaque: Option<Vec<u8>>,
}

impl Plan {
    pub fn generated(numbers: &mut Numbers) -> Self {
        let time = |numbers: &mut Numbers| numbers.wide() as i32;
        let opaque = |numbers: &mut Numbers| {
            let mut text = numbers.plain_key();
            text.truncate(31);
            text
        };
        Self {
            plain: PLAIN
                .iter()
                .filter(|_| numbers.coin())
                .map(|(letter, _)| *letter)
                .collect(),
            client_flags: numbers.maybe(|numbers| numbers.wide() as u32),
            exptime: numbers.maybe(time),
            vivify: numbers.maybe(time),
            recache: numbers.maybe(time),
            compare: numbers.maybe(Numbers::wide),
            new_cas: numbers.maybe(Numbers::wide),
            initial: numbers.maybe(Numbers::wide),
            delta: numbers.maybe(Numbers::wide),
            hint: numbers.maybe(opaque),
            path: numbers.maybe(opaque),
            opaque: numbers.maybe(opaque),
        }
    }

    /// What a client asks for.
    pub fn flags<'a>(&'a self) -> Flags<'a> {
        let plain = PLAIN
            .iter()
            .filter(|(letter, _)| self.plain.contains(letter));
        let plain: Vec<_> = plain.map(|(_, flag)| *flag).collect();
        let mut flags = Flags::of(&plain);
        if let Some(client_flags) = self.client_flags {
            flags = flags.client_flags(client_flags);
        }
        for (time, with) in [
            (
                self.exptime,
                Flags::exptime as fn(Flags<'a>, i32) -> Flags<'a>,
            ),
            (self.vivify, Flags::vivify),
            (self.recache, Flags::recache),
        ] {
            flags = time.map_or(flags, |time| with(flags, time));
        }
        for (number, with) in [
            (
                self.compare,
                Flags::compare as fn(Flags<'a>, u64) -> Flags<'a>,
            ),
            (self.new_cas, Flags::new_cas),
            (self.initial, Flags::initial),
            (self.delta, Flags::delta),
        ] {
            flags = number.map_or(flags, |number| with(flags, number));
        }
        flags = self
            .hint
            .as_ref()
            .map_or(flags, |hint| flags.proxy_hint(hint));
        flags = self
            .path
            .as_ref()
            .map_or(flags, |path| flags.proxy_path(path));
        self.opaque
            .as_ref()
            .map_or(flags, |text| flags.opaque(text))
    }

    /// What a server reads.
    pub fn of(item: &Item<'_>) -> Self {
        let flags = &item.flags;
        let text = |letter: u8| {
            let word = flags.words().find(|word| word[0] == letter);
            word.map(|word| word[1..].to_vec())
        };
        let plain = PLAIN.iter().map(|(letter, _)| *letter);
        Self {
            plain: plain.filter(|letter| flags.has(*letter)).collect(),
            client_flags: flags.has(b'F').then(|| flags.client_flags()),
            exptime: flags.exptime(),
            vivify: flags.vivify(),
            recache: flags.recache(),
            compare: flags.compare(),
            new_cas: flags.new_cas(),
            initial: flags.has(b'J').then(|| flags.initial()),
            delta: flags.has(b'D').then(|| flags.delta()),
            hint: text(b'L'),
            path: text(b'P'),
            opaque: text(b'O'),
        }
    }
}

/// A key that lines can have, or any.
pub fn key(numbers: &mut Numbers) -> Vec<u8> {
    if numbers.coin() {
        numbers.plain_key()
    } else {
        numbers.any_key()
    }
}

/// Whether lines can have it.
pub fn is_plain(key: &[u8]) -> bool {
    key.iter().all(|byte| *byte > b' ' && *byte != 0x7f)
}
