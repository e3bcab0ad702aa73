//! What binary requests ask for.

/// A binary request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// What the answer repeats.
    pub header: Header,
    /// What is asked for.
    pub command: Command<'a>,
    /// Whether the answer is left out where it says little: a miss of get and of get and touch,
    /// the success of the others. Errors are always answered.
    pub quiet: bool,
}

/// What the answer to a request repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The opcode as it came, quiet or not.
    pub opcode: u8,
    /// What the client knows the request by, in the order of the wire.
    pub opaque: [u8; 4],
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command<'a> {
    /// A value.
    Get(Get<'a>),
    /// A value for a key.
    Store(Store<'a>),
    /// No value any more for a key.
    Delete {
        /// The key.
        key: &'a [u8],
        /// The unique number that the item must have; any for 0.
        cas: u64,
    },
    /// More or less in a value that is a number.
    Count(Count<'a>),
    /// A new expiry time for a key.
    Touch {
        /// The key.
        key: &'a [u8],
        /// As the client sent it, relative or absolute.
        exptime: u32,
    },
    /// The end of the connection.
    Quit,
    /// All that is there now expires.
    Flush {
        /// When: as an expiry time; at once for 0.
        delay: u32,
    },
    /// An answer, after which all before it are answered.
    Noop,
    /// The server's version.
    Version,
    /// Figures about the server.
    Stat {
        /// The topic and its arguments, parted by spaces.
        topic: &'a [u8],
    },
    /// The mechanisms of SASL.
    SaslList,
    /// The first step of SASL.
    SaslAuth {
        /// The name of the mechanism.
        mechanism: &'a [u8],
        /// What it needs.
        data: &'a [u8],
    },
    /// A further step of SASL.
    SaslStep {
        /// The name of the mechanism.
        mechanism: &'a [u8],
        /// What it needs.
        data: &'a [u8],
    },
}

/// Get, and get and touch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Get<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Whether the answer has the key too.
    pub with_key: bool,
    /// The new expiry time, as the client sent it.
    pub touch: Option<u32>,
}

/// Set and its kin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store<'a> {
    /// Under which condition, and what becomes of the old value.
    pub verb: StoreVerb,
    /// The key.
    pub key: &'a [u8],
    /// What the client wants to find beside the value.
    pub flags: u32,
    /// As the client sent it, relative or absolute.
    pub exptime: u32,
    /// The unique number that the item must have; any for 0. Set, add and replace with one compare
    /// it and nothing else.
    pub cas: u64,
    /// The value.
    pub data: &'a [u8],
}

/// What a request to store does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreVerb {
    /// Stores in any case.
    Set,
    /// Stores where there is nothing.
    Add,
    /// Stores where there is something.
    Replace,
    /// Puts the data behind what is there.
    Append,
    /// Puts the data before what is there.
    Prepend,
}

/// Increment and decrement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count<'a> {
    /// The key.
    pub key: &'a [u8],
    /// By how much.
    pub delta: u64,
    /// Whether the number is to become smaller; not below 0.
    pub down: bool,
    /// The number that is made where there is none.
    pub initial: u64,
    /// Its expiry time, as the client sent it; none is made for `u32::MAX`.
    pub exptime: u32,
    /// The unique number that the item must have; any for 0.
    pub cas: u64,
}
