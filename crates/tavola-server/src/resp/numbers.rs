//! INCR and its kin. Numbers are decimal text, which other clients and processes can read.

use tavola_proto::resp::{answer, read_i64};

use super::call::{After, Call, Done};
use super::change::{Change, change};
use super::decimal::{Decimal, Parsed};
use super::refusal::{
    NEGATIVE_OVERFLOW, NOT_A_FLOAT, NOT_AN_INTEGER, NOT_FINITE, OVERFLOW, Refusal,
};

/// The bytes of the longest reply: 20 for a number.
const NUMBER_BYTES: usize = 32;

pub(super) fn incr(call: &mut Call<'_>) -> Done {
    add(call, 1)
}

pub(super) fn decr(call: &mut Call<'_>) -> Done {
    add(call, -1)
}

pub(super) fn incrby(call: &mut Call<'_>) -> Done {
    add(call, call.number(2)?)
}

pub(super) fn decrby(call: &mut Call<'_>) -> Done {
    let by = call.number(2)?.checked_neg().ok_or(NEGATIVE_OVERFLOW)?;
    add(call, by)
}

fn add(call: &mut Call<'_>, by: i64) -> Done {
    let sum = change(call.work, &call.args[1], |old| {
        let was = match old {
            Some((text, _)) => read_i64(text).ok_or(NOT_AN_INTEGER)?,
            None => 0,
        };
        let sum = was.checked_add(by).ok_or(OVERFLOW)?;
        Ok((Change::keeping(sum.to_string().into_bytes()), sum))
    })?;
    answer::integer(call.output.room(NUMBER_BYTES), sum);
    Ok(After::NextCommand)
}

pub(super) fn incrbyfloat(call: &mut Call<'_>) -> Done {
    let read = |text: &[u8]| Parsed::read(text).ok_or(NOT_A_FLOAT);
    let by = call.args.get(2).unwrap_or_default();
    let sum = change(call.work, &call.args[1], |old| {
        // As in Redis, the value comes first.
        let was = old.map_or(Ok(Parsed::Finite(Decimal::ZERO)), |(text, _)| read(text))?;
        let (Parsed::Finite(was), Parsed::Finite(by)) = (was, read(by)?) else {
            return Err::<_, Refusal>(NOT_FINITE);
        };
        let sum = was.plus(&by).to_string().into_bytes();
        Ok((Change::keeping(sum.clone()), sum))
    })?;
    call.bulk(&sum)
}
