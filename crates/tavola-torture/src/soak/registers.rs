//! Operations on registers, each noted before and after.

use super::keys::{self, any_register, register};
use super::worker::{Done, Worker, failed};
use std::time::Duration;
use tavola::{Attributes, CasOutcome, Error, Expiry, Table};

/// No key that is to live for so long expires in a soak.
const LONG: Expiry = Expiry::After(Duration::from_secs(86_400));
const PAST: Expiry = Expiry::PAST;

impl Worker<'_> {
    pub(super) fn get(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let begun = self.seat.begin(number, None);
        let value = self.read_register(table, number, &key)?;
        self.seat
            .end(begun, Some(self.opened(&key, value.as_deref())?), None);
        Ok(())
    }

    pub(super) fn set(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let (version, value) = self.value(&key);
        let left = Some(Some(version));
        let begun = self.seat.begin(number, left);
        match self.numbers.below(8) {
            0 => drop(table.set_uid(&key, &value).map_err(failed)?),
            1 if self.set_by_uid(table, &key, &value)? => {}
            2 => {
                let (expiry, flags) = (LONG, keys::flags(number));
                let set = table.set_with(&key, &value, Attributes { expiry, flags });
                set.map_err(failed)?;
            }
            _ => table.set(&key, &value).map_err(failed)?,
        }
        self.seat.end(begun, None, left);
        Ok(())
    }

    /// The value of a register, at times by its uid, at times with what is beside it. Where the
    /// uid leads nowhere any more, the register was missing at some moment of this call.
    fn read_register(
        &mut self,
        table: &Table,
        number: u32,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, String> {
        match self.numbers.below(4) {
            0 => return table.get(key).map_err(failed),
            1 => {
                let entry = table.get_entry(key).map_err(failed)?;
                return entry.map(|entry| read_value(number, entry)).transpose();
            }
            _ => {}
        }
        match table.uid_of(key) {
            Ok(Some(hint)) => table.get_by_uid(hint).map_err(failed),
            Ok(None) => Ok(None),
            // It has none, and who only reads gives none.
            Err(Error::ReadOnly) => table.get(key).map_err(failed),
            Err(error) => Err(failed(error)),
        }
    }

    /// Returns false if the register was missing.
    fn set_by_uid(&self, table: &Table, key: &[u8], value: &[u8]) -> Result<bool, String> {
        match table.uid_of(key).map_err(failed)? {
            Some(hint) => table.set_by_uid(hint, value).map_err(failed),
            None => Ok(false),
        }
    }

    /// Returns false if the register was missing.
    fn remove_by_uid(&self, table: &Table, key: &[u8]) -> Result<bool, String> {
        match table.uid_of(key).map_err(failed)? {
            Some(hint) => table.remove_by_uid(hint).map_err(failed),
            None => Ok(false),
        }
    }

    /// What it writes has expired: the register is missing, and its version is never seen.
    pub(super) fn set_expired(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let (_, value) = self.value(&key);
        let begun = self.seat.begin(number, Some(None));
        let attributes = Attributes::from(PAST).with_flags(keys::flags(number));
        table.set_with(&key, &value, attributes).map_err(failed)?;
        self.seat.end(begun, None, Some(None));
        Ok(())
    }

    /// Lets a register live forever or for long; at times it is to expire at once, which is as
    /// good as a removal.
    pub(super) fn touch(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let expiry = [PAST, LONG, LONG, Expiry::Never][self.numbers.below(4) as usize];
        let left = (expiry == PAST).then_some(None);
        let begun = self.seat.begin(number, left);
        let found = match self.numbers.below(2) {
            0 => table.touch(&key, expiry).map_err(failed)?.then_some(None),
            _ => {
                let entry = table.get_and_touch(&key, expiry).map_err(failed)?;
                let value = entry.map(|entry| read_value(number, entry)).transpose()?;
                self.opened(&key, value.as_deref())?.map(Some)
            }
        };
        match found {
            None => self.seat.end(begun, Some(None), None),
            Some(version) => self.seat.end(begun, version.map(Some), left),
        }
        Ok(())
    }

    pub(super) fn add(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let (version, value) = self.value(&key);
        let begun = self.seat.begin(number, Some(Some(version)));
        match table.add(&key, &value).map_err(failed)? {
            true => self.seat.end(begun, Some(None), Some(Some(version))),
            false => self.seat.end(begun, None, None),
        }
        Ok(())
    }

    pub(super) fn replace(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let (version, value) = self.value(&key);
        let begun = self.seat.begin(number, Some(Some(version)));
        match table.replace(&key, &value).map_err(failed)? {
            true => self.seat.end(begun, None, Some(Some(version))),
            false => self.seat.end(begun, Some(None), None),
        }
        Ok(())
    }

    pub(super) fn remove(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let by_uid = self.numbers.below(4) == 0;
        let begun = self.seat.begin(number, Some(None));
        let removed = match by_uid {
            true => self.remove_by_uid(table, &key)?,
            false => table.remove(&key).map_err(failed)?,
        };
        match removed {
            true => self.seat.end(begun, None, Some(None)),
            false => self.seat.end(begun, Some(None), None),
        }
        Ok(())
    }

    pub(super) fn take(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let begun = self.seat.begin(number, Some(None));
        let value = table.take(&key).map_err(failed)?;
        match self.opened(&key, value.as_deref())? {
            None => self.seat.end(begun, Some(None), None),
            found => self.seat.end(begun, Some(found), Some(None)),
        }
        Ok(())
    }

    pub(super) fn update(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let (version, value) = self.value(&key);
        let begun = self.seat.begin(number, Some(Some(version)));
        let mut found = Ok(None);
        let new = |old: Option<&[u8]>| {
            found = self.opened(&key, old);
            Some(value.clone())
        };
        table.update(&key, new).map_err(failed)?;
        self.seat.end(begun, Some(found?), Some(Some(version)));
        Ok(())
    }

    pub(super) fn compare_and_swap(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let Some((old, token)) = table.get_with_token(&key).map_err(failed)? else {
            return Ok(());
        };
        let old = self.version(&key, &old)?;
        let (version, value) = self.value(&key);
        let begun = self.seat.begin(number, Some(Some(version)));
        match table
            .compare_and_swap(&key, token, &value)
            .map_err(failed)?
        {
            CasOutcome::Swapped => self.seat.end(begun, Some(Some(old)), Some(Some(version))),
            CasOutcome::NotFound => self.seat.end(begun, Some(None), None),
            CasOutcome::Changed => self.seat.end(begun, None, None),
        }
        Ok(())
    }

    /// Several registers in one call: each is noted as if it had been set alone.
    pub(super) fn set_many(&mut self, table: &Table) -> Done {
        let from = any_register(&mut self.numbers).min(keys::REGISTERS - 8);
        let (mut pairs, mut begun) = (Vec::new(), Vec::new());
        for number in from..from + 8 {
            if !self.seat.has_room() {
                break;
            }
            let key = register(number);
            let (version, value) = self.value(&key);
            begun.push((self.seat.begin(number, Some(Some(version))), version));
            pairs.push((key, value));
        }
        table.set_many(&pairs).map_err(failed)?;
        for (begun, version) in begun {
            self.seat.end(begun, None, Some(Some(version)));
        }
        Ok(())
    }
}

/// The value of an entry, beside which is what may.
fn read_value(number: u32, entry: tavola::Entry) -> Result<Vec<u8>, String> {
    let Attributes { expiry, flags } = entry.attributes;
    let is_long = match expiry {
        Expiry::After(left) => left > Duration::from_secs(3600),
        other => other == Expiry::Never,
    };
    match is_long && [0, keys::flags(number)].contains(&flags) {
        true => Ok(entry.value),
        false => Err(format!(
            "TORN: register {number} has {:?}",
            entry.attributes
        )),
    }
}
