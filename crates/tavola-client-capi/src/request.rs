//! What goes with requests: flags, expiry times, whether an answer is needed.

use crate::given::{RawBytes, SizedStruct, bytes, sized};
use crate::options::flag;
use crate::status::Failure;
use tavola_client_core::{Batch, CountOptions, GetOptions, Initial, Reply, StoreOptions};

/// What is stored beside a value. All fields except `size` may be 0. Begin with
/// `tavola_mc_store_options how = TAVOLA_MC_INIT(tavola_mc_store_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_mc_store_options {
    /// `sizeof(tavola_mc_store_options)`.
    pub size: usize,
    /// Any number; a get returns it.
    pub flags: u32,
    /// When the item expires: in so many seconds, up to 30 days; above that, seconds since 1970.
    /// 0: never; below 0: at once.
    pub exptime: i32,
    /// 1: no answer is needed. If nothing else in the batch needs one, the request is held, and
    /// leaves with the next request of this thread to the same server, by `tavola_mc_flush`, or
    /// when more than 64 KiB are held. Its outcome is `TAVOLA_MC_QUEUED` then, whatever becomes of
    /// it.
    pub no_reply: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers without padding (a `usize`, four of 32 bits), the size first.
unsafe impl SizedStruct for tavola_mc_store_options {}

/// What a missing counter begins with, and whether an answer is needed. Begin with
/// `tavola_mc_count_options how = TAVOLA_MC_INIT(tavola_mc_count_options);`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_mc_count_options {
    /// `sizeof(tavola_mc_count_options)`.
    pub size: usize,
    /// The number that a missing counter begins with, if `has_initial` is 1.
    pub initial: u64,
    /// 1: a missing counter is made; 0: it stays missing.
    pub has_initial: u32,
    /// When a counter that is made expires, as that of `tavola_mc_store_options`.
    pub exptime: i32,
    /// 1: no answer is needed, as that of `tavola_mc_store_options`.
    pub no_reply: u32,
    /// 0.
    pub reserved: u32,
}

// SAFETY: integers without padding (a `usize`, a `u64`, four of 32 bits), the size first.
unsafe impl SizedStruct for tavola_mc_count_options {}

/// Whether an answer is needed.
pub(crate) fn reply(no_reply: u32) -> Result<Reply, Failure> {
    Ok(match flag(no_reply, "no_reply")? {
        true => Reply::None,
        false => Reply::Wait,
    })
}

fn unused(reserved: u32) -> Result<(), Failure> {
    match reserved {
        0 => Ok(()),
        _ => Err(Failure::argument(
            "`reserved` of a struct is not 0; begin with TAVOLA_MC_INIT",
        )),
    }
}

pub(crate) fn store_options(
    given: *const tavola_mc_store_options,
) -> Result<StoreOptions, Failure> {
    // SAFETY: MC-1 of `given.rs`, of the caller of the function that hands it in.
    let how = unsafe { sized(given, "how") }?;
    unused(how.reserved)?;
    let mut options = StoreOptions::ttl(how.exptime);
    options.flags = how.flags;
    options.reply = reply(how.no_reply)?;
    Ok(options)
}

pub(crate) fn count_options(
    delta: u64,
    given: *const tavola_mc_count_options,
) -> Result<CountOptions, Failure> {
    // SAFETY: MC-1 of `given.rs`, of the caller of the function that hands it in.
    let how = unsafe { sized(given, "how") }?;
    unused(how.reserved)?;
    let initial = Initial {
        value: how.initial,
        exptime: how.exptime,
    };
    let has_initial = flag(how.has_initial, "has_initial")?;
    let mut options = CountOptions::by(delta);
    options.initial = has_initial.then_some(initial);
    options.reply = reply(how.no_reply)?;
    Ok(options)
}

/// A key as it is handed in.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(crate) unsafe fn key_of<'a>(key: RawBytes) -> Result<&'a [u8], Failure> {
    // SAFETY: the promise of this function.
    unsafe { bytes(key.0, key.1, "key") }
}

/// What is stored.
pub(crate) struct Stored<'a> {
    key: &'a [u8],
    value: &'a [u8],
    options: StoreOptions,
}

/// What is stored, as it is handed in.
///
/// # Safety
/// MC-1 of `given.rs`.
pub(crate) unsafe fn stored<'a>(
    key: RawBytes,
    value: RawBytes,
    how: *const tavola_mc_store_options,
) -> Result<Stored<'a>, Failure> {
    // SAFETY: the promise of this function.
    let (key, value) = unsafe { (key_of(key)?, bytes(value.0, value.1, "value")?) };
    let options = store_options(how)?;
    Ok(Stored {
        key,
        value,
        options,
    })
}

/// The stores, by what decides whether they take place.
#[derive(Clone, Copy)]
pub(crate) enum Store {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

impl Store {
    /// Adds the request to a batch.
    pub(crate) fn prepare<'a>(self, batch: &mut Batch<'a>, stored: Stored<'a>) -> usize {
        let Stored {
            key,
            value,
            options,
        } = stored;
        match self {
            Self::Set => batch.set(key, value, options),
            Self::Add => batch.add(key, value, options),
            Self::Replace => batch.replace(key, value, options),
            Self::Append => batch.append(key, value, options.reply),
            Self::Prepend => batch.prepend(key, value, options.reply),
            Self::Cas(cas) => batch.cas(key, value, cas, options),
        }
    }
}

/// What a get asks for.
#[derive(Clone, Copy)]
pub(crate) struct Read {
    pub(crate) with_cas: bool,
    /// The new expiry time.
    pub(crate) touch: Option<i32>,
}

impl Read {
    pub(crate) const GET: Self = Self {
        with_cas: false,
        touch: None,
    };
    pub(crate) const GETS: Self = Self {
        with_cas: true,
        touch: None,
    };

    /// Gives the key a new expiry time as well.
    pub(crate) fn touching(self, exptime: i32) -> Self {
        let touch = Some(exptime);
        Self { touch, ..self }
    }

    /// Adds the request to a batch.
    pub(crate) fn prepare<'a>(self, batch: &mut Batch<'a>, key: &'a [u8]) -> usize {
        let options = match self.with_cas {
            true => GetOptions::with_cas(),
            false => GetOptions::default(),
        };
        match self.touch {
            Some(exptime) => batch.get_and_touch(key, exptime, options),
            None => batch.get(key, options),
        }
    }
}
