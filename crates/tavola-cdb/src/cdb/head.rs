//! The head of a cdb file: where its tables are.

use super::{Format, TABLES};
use crate::error::{Error, Result};
use crate::map::Map;

/// Where a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) start: u64,
    pub(crate) slots: u64,
}

/// The tables of a file, all inside it.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) tables: Box<[Table; TABLES]>,
    /// Where the records end.
    pub(crate) records_end: u64,
}

impl Head {
    /// Reads the head of a file that is known to have this format.
    pub(crate) fn read(map: &Map, format: Format) -> Result<Head> {
        let tables = read_tables(map, format).ok_or_else(|| {
            let bytes = map.len();
            not_constant(
                map,
                format!("it has {bytes} bytes, less than the head of such a file"),
            )
        })?;
        let mut records_end = map.len();
        for table in tables.iter().filter(|table| table.slots > 0) {
            let bytes = table.slots.checked_mul(format.pair_bytes());
            let end = bytes.and_then(|bytes| table.start.checked_add(bytes));
            if table.start < format.head_bytes() || end.is_none_or(|end| end > map.len()) {
                let why = "its tables are not all inside it: it is cut short, or something else";
                return Err(not_constant(map, why.to_string()));
            }
            records_end = records_end.min(table.start);
        }
        if tables.iter().all(|table| table.slots == 0) {
            records_end = format.head_bytes();
        }
        map.check()?;
        Ok(Head {
            tables: Box::new(tables),
            records_end,
        })
    }

    /// Finds out which format a file has.
    ///
    /// There is no magic number. What counts is that each table begins where the one before it
    /// ends. No file is of both formats then: read with numbers of 32 bits, the tables of a 64-bit
    /// file would all begin at the same place, and have slots.
    pub(crate) fn recognise(map: &Map) -> Result<Format> {
        for format in [Format::Cdb, Format::Cdb64] {
            let tables = read_tables(map, format);
            if tables.is_some_and(|tables| is_seamless(&tables, format)) {
                return Ok(format);
            }
        }
        let why = "its head is not that of a cdb file".to_string();
        Err(not_constant(map, why))
    }
}

fn read_tables(map: &Map, format: Format) -> Option<[Table; TABLES]> {
    if map.len() < format.head_bytes() {
        return None;
    }
    let mut tables = [Table { start: 0, slots: 0 }; TABLES];
    for (index, table) in tables.iter_mut().enumerate() {
        let at = index as u64 * format.pair_bytes();
        let (start, slots) = pair_at(map, format, at)?;
        *table = Table { start, slots };
    }
    Some(tables)
}

fn is_seamless(tables: &[Table; TABLES], format: Format) -> bool {
    let mut next = tables[0].start;
    next >= format.head_bytes()
        && tables.iter().all(|table| {
            let is_next = table.start == next;
            let bytes = table.slots.checked_mul(format.pair_bytes());
            match bytes.and_then(|bytes| next.checked_add(bytes)) {
                Some(end) => next = end,
                None => return false,
            }
            is_next
        })
}

/// Loads two numbers. Returns `None` if they are not inside the file.
#[inline]
pub(crate) fn pair_at(map: &Map, format: Format, at: u64) -> Option<(u64, u64)> {
    Some(match format {
        Format::Cdb => {
            let both = map.u64_at(at)?;
            (both & u64::from(u32::MAX), both >> 32)
        }
        Format::Cdb64 | Format::Cdb64Long => (map.u64_at(at)?, map.u64_at(at.checked_add(8)?)?),
    })
}

fn not_constant(map: &Map, why: String) -> Error {
    let path = map.path().to_path_buf();
    Error::NotConstant { path, why }
}
