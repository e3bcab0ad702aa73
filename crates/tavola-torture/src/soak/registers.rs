//! Operations on registers, each noted before and after.

use super::keys::{self, any_register, register};
use super::worker::{Done, Worker, failed};
use tavola::{CasOutcome, Error, Table};

impl Worker<'_> {
    pub(super) fn get(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let begun = self.seat.begin(number, None);
        let value = self.read_register(table, &key)?;
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
            _ => table.set(&key, &value).map_err(failed)?,
        }
        self.seat.end(begun, None, left);
        Ok(())
    }

    /// The value of a register, half of the time by its uid. Where that leads nowhere any more, the
    /// register was missing at some moment of this call.
    fn read_register(&mut self, table: &Table, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        if self.numbers.below(2) == 0 {
            return table.get(key).map_err(failed);
        }
        match table.uid_of(key) {
            Ok(Some(hint)) => table.get_by_uid(hint).map_err(failed),
            Ok(None) => Ok(None),
            // It has none, and who only reads gives none.
            Err(Error::ReadOnly) => table.get(key).map_err(failed),
            Err(error) => Err(failed(error)),
        }
    }

    /// False: the register was missing.
    fn set_by_uid(&self, table: &Table, key: &[u8], value: &[u8]) -> Result<bool, String> {
        match table.uid_of(key).map_err(failed)? {
            Some(hint) => table.set_by_uid(hint, value).map_err(failed),
            None => Ok(false),
        }
    }

    /// False: the register was missing.
    fn remove_by_uid(&self, table: &Table, key: &[u8]) -> Result<bool, String> {
        match table.uid_of(key).map_err(failed)? {
            Some(hint) => table.remove_by_uid(hint).map_err(failed),
            None => Ok(false),
        }
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
            CasOutcome::Missing => self.seat.end(begun, Some(None), None),
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
