//! Operations on a table.

use crate::held::{Life, Tags};
use tavola::Hint;

/// A uid to ask for.
#[derive(Clone, Debug)]
pub enum Uid {
    /// This one, with or without its generation.
    Hint(Hint),
    /// The uid of a key; uid 0 if the key is missing.
    Of(Vec<u8>),
}

/// What is done with a lease.
#[derive(Clone, Debug)]
pub enum End {
    /// Stores a value, which lives for four hours.
    Fill(Vec<u8>),
    /// Reports that there is no value.
    Fail,
    /// Lets others have it.
    GiveUp,
    /// Nothing: its owner has it until the owner dies.
    Keep,
}

/// One operation: a call of the library, or two where the second needs the answer of the first.
#[derive(Clone, Debug)]
pub enum Op {
    /// Reads a value.
    Get(Vec<u8>),
    /// Looks if a key is there.
    Contains(Vec<u8>),
    /// Reads many values.
    GetMany(Vec<Vec<u8>>),
    /// Reads when a key expires.
    Ttl(Vec<u8>),
    /// Sets a key.
    Set(Vec<u8>, Vec<u8>),
    /// Sets many keys.
    SetMany(Vec<(Vec<u8>, Vec<u8>)>),
    /// Reads keys, one after the other, and sets them, or removes those without a value: in one
    /// transaction.
    Transaction(Vec<(Vec<u8>, Option<Vec<u8>>)>),
    /// Sets a key whose old value is in view meanwhile, twice.
    SetViewed(Vec<u8>, Vec<u8>),
    /// Sets a key if it is missing.
    Add(Vec<u8>, Vec<u8>),
    /// Sets a key if it is there.
    Replace(Vec<u8>, Vec<u8>),
    /// Adds bytes after a value.
    Append(Vec<u8>, Vec<u8>),
    /// Adds bytes before a value.
    Prepend(Vec<u8>, Vec<u8>),
    /// Adds bytes after a value; a missing key gets them, with a time to live and flags.
    AppendWith(Vec<u8>, Vec<u8>, Life, u32),
    /// The same before a value.
    PrependWith(Vec<u8>, Vec<u8>, Life, u32),
    /// Sets a key and reads its old value.
    Swap(Vec<u8>, Vec<u8>),
    /// Takes the token of a key, sets the key to the second value if there is one, and swaps.
    CompareAndSwap(Vec<u8>, Vec<u8>, Option<Vec<u8>>),
    /// An update that adds bytes after a value, or sets a missing key to them.
    Update(Vec<u8>, Vec<u8>),
    /// An update that removes a key, or sets it if it is missing.
    Turn(Vec<u8>, Vec<u8>),
    /// Removes a key.
    Remove(Vec<u8>),
    /// Removes a key and reads its value.
    Take(Vec<u8>),
    /// Adds to a counter.
    Incr(Vec<u8>, u64),
    /// Subtracts from a counter.
    Decr(Vec<u8>, u64),
    /// Adds to a counter; a missing one gets a value, a time to live and flags, if there are any.
    IncrWith(Vec<u8>, u64, Option<u64>, Life, u32),
    /// The same, subtracting.
    DecrWith(Vec<u8>, u64, Option<u64>, Life, u32),
    /// Sets a key with a time to live and flags.
    SetWith(Vec<u8>, Vec<u8>, Life, u32),
    /// The same if the key is missing.
    AddWith(Vec<u8>, Vec<u8>, Life, u32),
    /// Changes when a key expires.
    Touch(Vec<u8>, Life),
    /// Reads a value and changes when its key expires.
    GetAndTouch(Vec<u8>, Life),
    /// Lets a key never expire.
    Persist(Vec<u8>),
    /// Sets marks.
    Mark(Vec<u8>, u32),
    /// Sets a key, with these marks and no others.
    SetMarked(Vec<u8>, Vec<u8>, u32),
    /// Fetches tags, which are made if they are missing, invalidates one if that is asked for, and
    /// sets a key with the tags.
    SetTagged(Vec<u8>, Vec<u8>, Tags, Option<Tags>),
    /// Invalidates a tag.
    Invalidate(Tags),
    /// Sets a key and asks for its uid.
    SetUid(Vec<u8>, Vec<u8>),
    /// Asks for the uid of a key, which may have to get one.
    UidOf(Vec<u8>),
    /// Reads a value by uid.
    GetByUid(Uid),
    /// Reads the key of a uid.
    KeyOfUid(Uid),
    /// Sets a key by its uid.
    SetByUid(Uid, Vec<u8>),
    /// Updates a key by its uid, to this value.
    UpdateByUid(Uid, Vec<u8>),
    /// Adds to the counter of a key by its uid.
    IncrByUid(Uid, u64),
    /// Subtracts from the counter of a key by its uid.
    DecrByUid(Uid, u64),
    /// Changes when a key expires, by its uid.
    TouchByUid(Uid, Life),
    /// Removes a key by its uid.
    RemoveByUid(Uid),
    /// Wins the lease of a key that is missing or stale, and ends it so.
    Lease(Vec<u8>, End),
    /// Removes all keys.
    Clear,
    /// Reads all keys.
    Walk,
    /// Reads the counters.
    Stats,
    /// Checks the table.
    Check,
    /// Repairs the table.
    Repair,
    /// Brings home what dead processes left.
    Reclaim,
    /// Gives back as much memory as possible.
    Compact,
    /// Housekeeping.
    Maintain,
    /// Removes what has expired.
    RemoveExpired,
    /// Changes the capacity of a cache.
    SetCapacity(u64),
}

impl Op {
    /// Returns the keys it names.
    pub fn keys(&self) -> Vec<&[u8]> {
        match self {
            Self::GetMany(keys) => keys.iter().map(|key| &key[..]).collect(),
            Self::SetMany(pairs) => pairs.iter().map(|(key, _)| &key[..]).collect(),
            Self::Transaction(changes) => changes.iter().map(|(key, _)| &key[..]).collect(),
            Self::Get(key) | Self::Contains(key) | Self::Ttl(key) | Self::Remove(key) => vec![key],
            Self::Take(key) | Self::Persist(key) | Self::UidOf(key) => vec![key],
            Self::Set(key, _) | Self::SetViewed(key, _) | Self::SetUid(key, _) => vec![key],
            Self::Add(key, _) | Self::Replace(key, _) | Self::Swap(key, _) => vec![key],
            Self::Append(key, _) | Self::Prepend(key, _) | Self::Update(key, _) => vec![key],
            Self::Turn(key, _) | Self::CompareAndSwap(key, ..) | Self::Lease(key, _) => vec![key],
            Self::Incr(key, _) | Self::Decr(key, _) | Self::Mark(key, _) => vec![key],
            Self::IncrWith(key, ..) | Self::DecrWith(key, ..) => vec![key],
            Self::AppendWith(key, ..) | Self::PrependWith(key, ..) => vec![key],
            Self::SetWith(key, ..) | Self::AddWith(key, ..) | Self::SetMarked(key, ..) => vec![key],
            Self::SetTagged(key, ..) | Self::Touch(key, _) | Self::GetAndTouch(key, _) => vec![key],
            _ => Vec::new(),
        }
    }

    /// Returns the uid it names.
    pub fn uid(&self) -> Option<&Uid> {
        match self {
            Self::GetByUid(uid) | Self::KeyOfUid(uid) | Self::RemoveByUid(uid) => Some(uid),
            Self::SetByUid(uid, _) | Self::UpdateByUid(uid, _) => Some(uid),
            Self::IncrByUid(uid, _) | Self::DecrByUid(uid, _) => Some(uid),
            Self::TouchByUid(uid, _) => Some(uid),
            _ => None,
        }
    }
}
