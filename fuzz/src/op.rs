//! Operations, as an input says them.

use crate::lengths::Lengths;
use arbitrary::{Arbitrary, Result, Unstructured};
use tavola::Hint;
use tavola_model::{Life, Op, Uid};

/// One of a small set of keys, so that operations meet.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Key(pub u8);

impl Key {
    pub fn bytes(self) -> Vec<u8> {
        match self.0 {
            0 => Vec::new(),
            1 => vec![b'k'; 300],
            2 => vec![b'K'; 17_000],
            3 => vec![0; 8],
            n => format!("key {n}").into_bytes(),
        }
    }
}

/// A value: its size in steps that meet all size classes and chains, its bytes all equal except
/// their place; or a number.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub struct Value {
    /// The low three bits: the step, or that it is a number; the rest: how many.
    pub size: u16,
    pub fill: u8,
}

impl Value {
    pub fn bytes(self) -> Vec<u8> {
        let count = usize::from(self.size >> 3);
        let len = match self.size & 7 {
            0 => count * 8,
            1 => count * 4,
            2 => return count.to_string().into_bytes(),
            _ => count % 300,
        };
        self.filled(len)
    }

    /// A number of bytes of its own.
    pub fn filled(self, len: usize) -> Vec<u8> {
        (0..len)
            .map(|i| (i as u8).wrapping_add(self.fill))
            .collect()
    }
}

/// A uid that was given some time, with its generation or without, or any number at all.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Named {
    Given(u16),
    Plain(u16),
    Number(u32),
}

impl Named {
    /// What to ask for; the last uids given come first.
    fn uid(self, given: &[Hint]) -> Uid {
        let nth = |n: u16| {
            let n = usize::from(n) % given.len().max(1);
            given.iter().rev().nth(n).copied()
        };
        Uid::Hint(match self {
            Self::Given(n) => nth(n).unwrap_or(Hint::from(0)),
            Self::Plain(n) => nth(n).map_or(0, Hint::uid).into(),
            Self::Number(number) => number.into(),
        })
    }
}

/// Never or long after the input's end, or at once. Nothing waits for a time.
const LIVES: [Life; 4] = [Life::Default, Life::Forever, Life::Hours(1), Life::Gone];

/// One of so many, as `Arbitrary` draws the variant of an enum.
fn one_of(source: &mut Unstructured, count: u64) -> Result<u64> {
    Ok((u64::from(u32::arbitrary(source)?) * count) >> 32)
}

/// Draws operations on a table of these lengths, of which these uids were given.
pub(crate) struct Draw<'a, 'b> {
    pub(crate) source: &'a mut Unstructured<'b>,
    pub(crate) lengths: Lengths,
    pub(crate) given: &'a [Hint],
}

impl<'b> Draw<'_, 'b> {
    /// The next operation of the input, or one on many keys as one on each. The inputs that are
    /// kept name an operation by its number here.
    pub(crate) fn next(&mut self) -> Result<Vec<Op>> {
        let op = match one_of(self.source, 34)? {
            0 => Op::Get(self.key()?),
            1 => Op::Contains(self.key()?),
            2 => Op::Set(self.key()?, self.value()?),
            3 => Op::Add(self.key()?, self.value()?),
            4 => Op::Replace(self.key()?, self.value()?),
            5 => self.joined(Op::Append, Op::AppendWith)?,
            6 => self.joined(Op::Prepend, Op::PrependWith)?,
            7 => Op::Swap(self.key()?, self.value()?),
            8 => Op::Remove(self.key()?),
            9 => Op::Take(self.key()?),
            10 => Op::Turn(self.key()?, self.value()?),
            11 => Op::Incr(self.key()?, self.any()?),
            12 => Op::Decr(self.key()?, self.any()?),
            13 => {
                let (key, value, is_late) = (self.key()?, self.value()?, self.any()?);
                let between = self.lengths.changed(&value);
                Op::CompareAndSwap(key, value, bool::then_some(is_late, between))
            }
            14 => Op::SetMany(self.many()?),
            15 => {
                return Ok(self
                    .many()?
                    .into_iter()
                    .map(|(key, _)| Op::Remove(key))
                    .collect());
            }
            16 => Op::GetMany(self.many()?.into_iter().map(|(key, _)| key).collect()),
            17 => Op::SetUid(self.key()?, self.value()?),
            18 => Op::UidOf(self.key()?),
            19 => Op::GetByUid(self.uid()?),
            20 => Op::SetByUid(self.uid()?, self.value()?),
            21 => Op::RemoveByUid(self.uid()?),
            22 => Op::KeyOfUid(self.uid()?),
            // Enough that the uids of several chunks are given out.
            23 => {
                let pairs = self.many()?.into_iter();
                return Ok(pairs.map(|(key, value)| Op::SetUid(key, value)).collect());
            }
            24 => Op::SetWith(self.key()?, self.value()?, self.life()?, self.flags()?),
            25 => Op::Touch(self.key()?, self.life()?),
            26 => Op::GetAndTouch(self.key()?, self.life()?),
            27 => Op::Persist(self.key()?),
            28 => Op::Ttl(self.key()?),
            29 => Op::Walk,
            30 => Op::Check,
            31 => Op::Clear,
            32 => return Ok(vec![Op::Maintain, Op::RemoveExpired]),
            _ => Op::Stats,
        };
        Ok(vec![op])
    }

    fn any<T: Arbitrary<'b>>(&mut self) -> Result<T> {
        self.source.arbitrary()
    }

    fn key(&mut self) -> Result<Vec<u8>> {
        Ok(self.lengths.key(self.any()?))
    }

    fn value(&mut self) -> Result<Vec<u8>> {
        Ok(self.lengths.value(self.any()?))
    }

    fn more(&mut self) -> Result<Vec<u8>> {
        Ok(self.lengths.more(self.any()?))
    }

    /// Adds bytes to a value. The first byte says whether a missing key gets them, and with what
    /// attributes: the inputs that are kept have no other byte for it.
    fn joined(
        &mut self,
        plain: fn(Vec<u8>, Vec<u8>) -> Op,
        creating: fn(Vec<u8>, Vec<u8>, Life, u32) -> Op,
    ) -> Result<Op> {
        let (key, more) = (self.key()?, self.more()?);
        let first = more.first().copied().unwrap_or(0);
        let life = LIVES[usize::from(first >> 1) % LIVES.len()];
        Ok(match first % 2 {
            0 => plain(key, more),
            _ => creating(key, more, life, u32::from(first >> 3) % 4),
        })
    }

    /// Keys and values of an operation on many, short and so many that segments split.
    fn many(&mut self) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        Ok(self.lengths.many(self.any()?, self.any()?))
    }

    fn uid(&mut self) -> Result<Uid> {
        Ok(self.any::<Named>()?.uid(self.given))
    }

    fn life(&mut self) -> Result<Life> {
        Ok(LIVES[one_of(self.source, LIVES.len() as u64)? as usize])
    }

    /// Often none.
    fn flags(&mut self) -> Result<u32> {
        Ok(u32::from(self.any::<u8>()? % 4))
    }
}
