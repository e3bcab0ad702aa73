//! Values of the types that are not loaded.

use std::io::BufRead;

use super::super::BadInput;
use super::input::Input;

/// What passes over a value.
type Skip<R> = fn(&mut Input<R>) -> Result<(), BadInput>;

impl<R: BufRead> Input<R> {
    /// Passes over a value. Returns what its type is called.
    pub fn skip_value(&mut self, kind: u8, is_valkey: bool) -> Result<&'static str, BadInput> {
        let (name, skip): (_, Skip<R>) = match kind {
            0 => ("string", Self::skip_string),
            1 | 14 => ("list", |input| input.each(Self::skip_string)),
            10 => ("list", Self::skip_string),
            18 => ("list", |input| {
                input.each(|input| {
                    input.length()?;
                    input.skip_string()
                })
            }),
            2 => ("set", |input| input.each(Self::skip_string)),
            11 | 20 => ("set", Self::skip_string),
            3 => ("sorted set", |input| {
                input.each(|input| {
                    input.skip_string()?;
                    input.skip_score()
                })
            }),
            5 => ("sorted set", |input| {
                input.each(|input| {
                    input.skip_string()?;
                    input.skip(8)
                })
            }),
            12 | 17 => ("sorted set", Self::skip_string),
            4 => ("hash", |input| input.each(Self::skip_pair)),
            9 | 13 | 16 => ("hash", Self::skip_string),
            22 if is_valkey => ("hash", |input| {
                input.each(|input| {
                    input.skip_pair()?;
                    input.skip(8)
                })
            }),
            24 => ("hash", |input| {
                input.skip(8)?;
                input.each(|input| {
                    input.length()?;
                    input.skip_pair()
                })
            }),
            25 => ("hash", |input| {
                input.skip(8)?;
                input.skip_string()
            }),
            15 => ("stream", |input| input.skip_stream(1)),
            19 => ("stream", |input| input.skip_stream(2)),
            21 => ("stream", |input| input.skip_stream(3)),
            7 => ("module", |input| {
                input.length()?;
                input.skip_module()
            }),
            kind => {
                return Err(self.bad(&format!(
                    "a value of the type {kind}, which this program does not know; delete such \
                    keys, and make the snapshot again"
                )));
            }
        };
        skip(self)?;
        Ok(name)
    }

    /// Reads a number, and passes over so many items. Each takes bytes, so it ends with the file.
    fn each(
        &mut self,
        mut skip: impl FnMut(&mut Self) -> Result<(), BadInput>,
    ) -> Result<(), BadInput> {
        let count = self.length()?;
        (0..count).try_for_each(|_| skip(self))
    }

    fn skip_pair(&mut self) -> Result<(), BadInput> {
        self.skip_string()?;
        self.skip_string()
    }

    fn skip_lengths(&mut self, count: u32) -> Result<(), BadInput> {
        (0..count).try_for_each(|_| self.length().map(drop))
    }

    /// A number as text, or infinity or none in the place of its length.
    fn skip_score(&mut self) -> Result<(), BadInput> {
        match self.byte()? {
            253..=255 => Ok(()),
            length => self.skip(u64::from(length)),
        }
    }

    /// A stream, its groups and their consumers; the form has grown twice.
    fn skip_stream(&mut self, form: u32) -> Result<(), BadInput> {
        self.each(Self::skip_pair)?;
        self.skip_lengths(if form >= 2 { 8 } else { 3 })?;
        self.each(|input| {
            input.skip_string()?;
            input.skip_lengths(if form >= 2 { 3 } else { 2 })?;
            input.each(|input| {
                input.skip(24)?;
                input.length().map(drop)
            })?;
            input.each(|input| {
                input.skip_string()?;
                input.skip(if form >= 3 { 16 } else { 8 })?;
                input.each(|input| input.skip(16))
            })
        })
    }

    /// What a module wrote: items with their type before them, up to a 0.
    pub fn skip_module(&mut self) -> Result<(), BadInput> {
        loop {
            match self.length()? {
                0 => return Ok(()),
                1 | 2 => self.length().map(drop)?,
                3 => self.skip(4)?,
                4 => self.skip(8)?,
                5 => self.skip_string()?,
                _ => return Err(self.bad("an unknown item of a module")),
            }
        }
    }
}
