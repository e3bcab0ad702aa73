//! What a key may have beside its value: a time at which it expires, and flags.

use crate::buffer::{tavola_buffer, with_scratch};
use crate::entry::{Answer, OK, found};
use crate::given::{Out, SizedOut, SizedStruct, given};
use crate::status::Failure;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tavola_core::{Attributes, Details, Expiry, Table};

/// For `ttl_ms`: a key lives as long as the table says, see `tavola_options`.
pub const TAVOLA_TTL_DEFAULT: i64 = 0;

/// For `ttl_ms`: a key lives forever.
pub const TAVOLA_TTL_NEVER: i64 = -1;

/// What a key has beside its value. After the time at which it expires, the key is missing for all
/// processes. Begin with `tavola_attributes attributes = TAVOLA_INIT(tavola_attributes);`, which
/// means the same as NULL: the key lives as long as the table says, and its flags are 0. As an
/// argument, only one of `ttl_ms` and `expires_unix_ms` may be set; as a result, both are set. The
/// table measures times with a clock that nobody can set, so a change of the wall clock does not
/// affect existing keys. The clock has a resolution of 1 to 10 ms. After the machine was restarted,
/// a table on a disk uses the wall clock of that moment. The clock stands still while the machine
/// sleeps: after 8 hours of sleep, keys that were stored before live 8 hours longer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct tavola_attributes {
    /// `sizeof(tavola_attributes)`.
    pub size: usize,
    /// How many milliseconds the key lives from now on, at most a thousand years, or
    /// `TAVOLA_TTL_DEFAULT` or `TAVOLA_TTL_NEVER`. As a result: the milliseconds that are left, at
    /// least 1, or `TAVOLA_TTL_NEVER`.
    pub ttl_ms: i64,
    /// If not 0: when the key expires, in milliseconds since 1970 by the current wall clock; at
    /// once if this has passed. As a result: the same time as `ttl_ms`, or 0 for never.
    pub expires_unix_ms: u64,
    /// Any number; the table stores it and does not use it.
    pub flags: u32,
    /// Must be 0.
    pub reserved: u32,
}

// SAFETY: integers without padding (a `usize`, two of 64 bits, two `u32`), the size first.
unsafe impl SizedStruct for tavola_attributes {}

impl From<Attributes> for tavola_attributes {
    fn from(attributes: Attributes) -> Self {
        let ttl_ms = ttl_ms_of(attributes.expiry);
        Self {
            ttl_ms,
            expires_unix_ms: match ttl_ms {
                TAVOLA_TTL_NEVER => 0,
                left => unix_ms().saturating_add(left.unsigned_abs()),
            },
            flags: attributes.flags,
            ..Self::new()
        }
    }
}

fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let ms = since.unwrap_or_default().as_millis();
    u64::try_from(ms).unwrap_or(u64::MAX)
}

/// What is left to a key that is there.
pub(crate) fn ttl_ms_of(expiry: Expiry) -> i64 {
    match expiry {
        Expiry::After(left) => i64::try_from(left.as_millis()).unwrap_or(i64::MAX).max(1),
        _ => TAVOLA_TTL_NEVER,
    }
}

/// The attributes that a caller means; NULL: the defaults.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn attributes_of(
    attributes: *const tavola_attributes,
) -> Result<Attributes, Failure> {
    if attributes.is_null() {
        return Ok(Attributes::default());
    }
    let given = given!(sized attributes);
    if given.reserved != 0 {
        return Err(Failure::argument("`reserved` of attributes is not 0"));
    }
    let expiry = match (given.ttl_ms, given.expires_unix_ms) {
        (TAVOLA_TTL_DEFAULT, 0) => Expiry::Default,
        (TAVOLA_TTL_DEFAULT, at) => Expiry::At(UNIX_EPOCH + Duration::from_millis(at)),
        (_, 1..) => {
            return Err(Failure::argument(
                "attributes have both a `ttl_ms` and an `expires_unix_ms`; set one of them to 0",
            ));
        }
        (TAVOLA_TTL_NEVER, 0) => Expiry::Never,
        (ttl @ 1.., 0) => Expiry::After(Duration::from_millis(ttl.unsigned_abs())),
        _ => {
            return Err(Failure::argument(
                "a `ttl_ms` is above 0, or TAVOLA_TTL_DEFAULT, or TAVOLA_TTL_NEVER",
            ));
        }
    };
    Ok(Attributes {
        expiry,
        flags: given.flags,
    })
}

/// The time that a caller means, where no flags can be set.
///
/// # Safety
/// CAPI-1 of `given.rs`.
pub(crate) unsafe fn expiry_of(attributes: *const tavola_attributes) -> Result<Expiry, Failure> {
    // SAFETY: the caller's promise.
    match unsafe { attributes_of(attributes) }? {
        Attributes { expiry, flags: 0 } => Ok(expiry),
        _ => Err(Failure::argument(
            "a key's flags stay as they are here; set them with its value",
        )),
    }
}

/// Where the attributes and the token of a key go, if the caller wants them.
pub(crate) struct EntryOut<'a> {
    value: Option<&'a mut tavola_buffer>,
    attributes: Option<SizedOut<tavola_attributes>>,
    token: Out<'a, u64>,
}

impl<'a> EntryOut<'a> {
    /// # Safety
    /// CAPI-1 of `given.rs`.
    pub(crate) unsafe fn of(
        value: *mut tavola_buffer,
        attributes: *mut tavola_attributes,
        token: *mut u64,
    ) -> Result<Self, Failure> {
        Ok(Self {
            value: given!(maybe_buffer value),
            attributes: given!(maybe_sized_out attributes),
            token: given!(maybe token),
        })
    }

    /// A value and its token.
    pub(crate) fn with_token(value: &'a mut tavola_buffer, token: Out<'a, u64>) -> Self {
        Self {
            value: Some(value),
            attributes: None,
            token,
        }
    }

    /// Reads what is wanted: at once into the caller's memory where that can be, else by a copy.
    /// `source` is what the reading still needs.
    pub(crate) fn read(
        self,
        table: &Table,
        source: &[u8],
        to_slice: impl FnOnce(&mut [u8]) -> tavola_core::Result<Option<(usize, Details)>>,
        into: impl FnOnce(&mut Vec<u8>) -> tavola_core::Result<Option<Details>>,
    ) -> Answer {
        let room = match &self.value {
            Some(value) => value.room(source),
            None if self.token.is_wanted() => None,
            None => Some(&mut [][..]),
        };
        let Some(room) = room else {
            return self.read_apart(table, into);
        };
        let Some((len, details)) = to_slice(room)? else {
            return found(false);
        };
        let token = self.token_of(table, &details, room.get(..len).unwrap_or_default())?;
        if let Some(value) = self.value {
            value.written(len, room.len())?;
        }
        put_attributes(self.attributes, details.attributes, self.token, token)
    }

    /// By a copy.
    pub(crate) fn read_apart(
        self,
        table: &Table,
        into: impl FnOnce(&mut Vec<u8>) -> tavola_core::Result<Option<Details>>,
    ) -> Answer {
        with_scratch(|bytes| {
            let Some(details) = into(bytes)? else {
                return found(false);
            };
            let token = self.token_of(table, &details, bytes)?;
            if let Some(value) = self.value {
                value.put(bytes)?;
            }
            put_attributes(self.attributes, details.attributes, self.token, token)
        })
    }

    /// A token only for who wants one.
    fn token_of(&self, table: &Table, details: &Details, value: &[u8]) -> Result<u64, Failure> {
        Ok(match self.token.is_wanted() {
            true => table.token(details, value)?.0,
            false => 0,
        })
    }
}

/// Writes the attributes and the token of a key to the caller's places.
fn put_attributes(
    out: Option<SizedOut<tavola_attributes>>,
    attributes: Attributes,
    token_out: Out<'_, u64>,
    token: u64,
) -> Answer {
    if let Some(out) = out {
        out.put(&attributes.into());
    }
    token_out.put(token);
    OK
}
