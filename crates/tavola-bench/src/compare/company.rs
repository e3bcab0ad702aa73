//! A file like a list of companies with their incomes: as many lines and records, about as long.

use std::fmt::Write as _;
use std::path::Path;

use crate::bytes::mix64;
use crate::{Error, Result};

/// Lines of the file.
const LINES: u64 = 2_341;
/// Those that are records: five fields, of which the third is the key and the fifth the value.
const RECORDS: u64 = 2_269;
/// Records have so many keys: some names are there twice, and the later value counts.
const NAMES: u64 = 2_250;

const SYLLABLES: [&str; 16] = [
    "日本", "東京", "工業", "電機", "製作", "大和", "富士", "三河", "化学", "銀行", "商事", "運輸",
    "食品", "通信", "建設", "不動",
];

/// Writes the file.
pub(super) fn write(path: &Path) -> Result<()> {
    std::fs::write(path, text()).map_err(Error::io("writing the company file"))
}

fn text() -> String {
    let mut text = String::new();
    let mut record = 0;
    for line in 0..LINES {
        // Records and other lines take turns as evenly as they can.
        let records_by_now = (line + 1) * RECORDS / LINES;
        if records_by_now == record {
            text.push_str(if line % 9 < 5 { "[業種]\n" } else { "\n" });
            continue;
        }
        let (name, word) = (record % NAMES, mix64(record));
        let syllable = |at: u64| SYLLABLES[(mix64(name) >> (4 * at)) as usize % 16];
        writeln!(
            text,
            "{}\t東証プライム\t{}{}{}{name}(株)\t{}.{}歳\t{},{:03}千円",
            1_300 + record,
            syllable(0),
            syllable(1),
            syllable(2),
            30 + word % 20,
            word / 32 % 10,
            4 + word / 512 % 9,
            word / 8_192 % 1_000
        )
        .expect("a string takes all");
        record += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn it_has_as_many_lines_records_and_names_as_it_should() {
        let text = text();
        assert_eq!(text.lines().count() as u64, LINES);
        let records: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split('\t').collect())
            .filter(|fields: &Vec<&str>| fields.len() == 5)
            .collect();
        assert_eq!(records.len() as u64, RECORDS);
        let names: HashSet<&str> = records.iter().map(|fields| fields[2]).collect();
        assert_eq!(names.len() as u64, NAMES);
        let bytes: usize = records.iter().map(|fields| fields[2].len()).sum();
        let mean = bytes as f64 / RECORDS as f64;
        assert!((20.0..32.0).contains(&mean), "{mean}");
    }
}
