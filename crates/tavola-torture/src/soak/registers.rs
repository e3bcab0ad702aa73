//! Operations on registers, each noted before and after.

use super::keys::{self, any_register, register};
use super::worker::{Done, Worker, failed};
use tavola::{CasOutcome, Table};

impl Worker<'_> {
    pub(super) fn get(&mut self, table: &Table) -> Done {
        let number = any_register(&mut self.numbers);
        let key = register(number);
        let begun = self.seat.begin(number, None);
        let value = table.get(&key).map_err(failed)?;
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
        table.set(&key, &value).map_err(failed)?;
        self.seat.end(begun, None, left);
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
        let begun = self.seat.begin(number, Some(None));
        match table.remove(&register(number)).map_err(failed)? {
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
