//! EXPIRE, TTL and their kin.

use tavola::Expiry;
use tavola::serving::{ExpiryCondition, ServeTable};

use super::call::{Call, Done, is};
use super::refusal::Refusal;
use super::time::{self, Origin, Unit};

const GT_AND_LT: Refusal =
    Refusal::plain("ERR GT and LT options at the same time are not compatible");
const NX_AND_OTHERS: Refusal =
    Refusal::plain("ERR NX and XX, GT or LT options at the same time are not compatible");
/// The replies for a key that is missing, and for one that does not expire.
const MISSING: i64 = -2;
const NO_TIME: i64 = -1;

pub(super) fn expire(call: &mut Call<'_>) -> Done {
    expire_at(call, Unit::Seconds, Origin::Now)
}

pub(super) fn pexpire(call: &mut Call<'_>) -> Done {
    expire_at(call, Unit::Millis, Origin::Now)
}

pub(super) fn expireat(call: &mut Call<'_>) -> Done {
    expire_at(call, Unit::Seconds, Origin::Epoch)
}

pub(super) fn pexpireat(call: &mut Call<'_>) -> Done {
    expire_at(call, Unit::Millis, Origin::Epoch)
}

fn expire_at(call: &mut Call<'_>, unit: Unit, from: Origin) -> Done {
    let condition = condition(call)?;
    let number = call.number(2)?;
    let expiry = time::expiry(number, unit, from);
    let expiry = expiry.ok_or_else(|| Refusal::expire_time(call.command.name))?;
    let (table, key) = (call.work.table(), &call.args[1]);
    let is_changed = match (expiry, condition) {
        // A time that has passed removes the key.
        (Expiry::PAST, ExpiryCondition::Always) => table.remove(key)?,
        _ => table.touch_if(key, expiry, condition)? == Some(true),
    };
    call.truth(is_changed)
}

fn condition(call: &Call<'_>) -> Result<ExpiryCondition, Refusal> {
    let (mut never, mut expires, mut later, mut earlier) = (false, false, false, false);
    for word in call.args.after(3) {
        let flag = match word {
            word if is(word, "nx") => &mut never,
            word if is(word, "xx") => &mut expires,
            word if is(word, "gt") => &mut later,
            word if is(word, "lt") => &mut earlier,
            word => {
                let word = String::from_utf8_lossy(word);
                return Err(Refusal::text(format!("ERR Unsupported option {word}")));
            }
        };
        *flag = true;
    }
    match (never, expires, later, earlier) {
        (true, false, false, false) => Ok(ExpiryCondition::Never),
        (true, ..) => Err(NX_AND_OTHERS),
        (_, _, true, true) => Err(GT_AND_LT),
        // A key that does not expire has the latest time of all.
        (_, _, true, _) => Ok(ExpiryCondition::Later),
        (_, true, _, true) => Ok(ExpiryCondition::ExpiresAndEarlier),
        (_, _, _, true) => Ok(ExpiryCondition::Earlier),
        (_, true, ..) => Ok(ExpiryCondition::Expires),
        _ => Ok(ExpiryCondition::Always),
    }
}

pub(super) fn ttl(call: &mut Call<'_>) -> Done {
    report(call, time::in_seconds)
}

pub(super) fn pttl(call: &mut Call<'_>) -> Done {
    report(call, |left_ms| left_ms)
}

pub(super) fn expiretime(call: &mut Call<'_>) -> Done {
    report(call, |left_ms| time::in_seconds(left_ms + time::now_ms()))
}

pub(super) fn pexpiretime(call: &mut Call<'_>) -> Done {
    report(call, |left_ms| left_ms + time::now_ms())
}

fn report(call: &mut Call<'_>, number: impl Fn(i64) -> i64) -> Done {
    let found = call.work.table().ttl(&call.args[1])?;
    call.work.count_read(found.is_some());
    let number = match found {
        None => MISSING,
        Some(expiry) => time::left_ms(expiry).map_or(NO_TIME, number),
    };
    call.integer(number)
}

pub(super) fn persist(call: &mut Call<'_>) -> Done {
    let (table, key) = (call.work.table(), &call.args[1]);
    let changed = table.touch_if(key, Expiry::Never, ExpiryCondition::Expires)?;
    call.truth(changed == Some(true))
}
