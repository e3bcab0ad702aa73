//! Sizes, times, counts and ages: read from arguments, written for people.

use std::time::Duration;

/// Reads a size such as `64M`, `8G`, `8GiB`, `500MB` or `4096`: letters alone and with `iB` are
/// powers of 1024, with `B` powers of 1000.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor = unit_factor(unit.trim_start()).ok_or_else(|| wrong_size(text))?;
    let number: u64 = number.parse().map_err(|_| wrong_size(text))?;
    number
        .checked_mul(factor)
        .ok_or_else(|| format!("{text} is more than 64 bits can count"))
}

fn unit_factor(unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let power = match lower.bytes().next() {
        None => return Some(1),
        Some(b'b') if lower.len() == 1 => return Some(1),
        Some(letter) => 1 + b"kmgt".iter().position(|&known| known == letter)?,
    };
    let base: u64 = match &lower[1..] {
        "" | "ib" => 1024,
        "b" => 1000,
        _ => return None,
    };
    Some(base.pow(power as u32))
}

fn wrong_size(text: &str) -> String {
    format!("'{text}' is not a size; write 4096, 64M, 8G or 8GiB")
}

/// Reads a time such as `90`, `1.5`, `250ms`, `30m`, `2h` or `1d 12h`; seconds without a unit.
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || format!("'{text}' is not a time; write 90, 1.5, 250ms, 30m, 2h or 7d");
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| wrong()),
        Err(_) => humantime::parse_duration(text).map_err(|_| wrong()),
    }
}

/// Reads a count such as `34924`, `10K`, `1M` or `2G`: letters are powers of 1000.
///
/// # Errors
///
/// A sentence for people when the text is no count.
pub fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1_000),
        Some((at, 'm' | 'M')) => (&text[..at], 1_000_000),
        Some((at, 'g' | 'G')) => (&text[..at], 1_000_000_000),
        _ => (text, 1_u64),
    };
    let number: Option<u64> = digits.parse().ok();
    let product = number.and_then(|number| number.checked_mul(factor));
    product.ok_or_else(|| format!("'{text}' is not a count; write 34924, 10K or 1M"))
}

/// `1536` as `1.5 KiB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1023.95 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    let text = format!("{amount:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    format!("{text} {}", UNITS[unit])
}

/// `34924` as `34,924`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `count` with its noun, in the singular for one: `1 key`, `2 keys`.
pub fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(number))
}

/// Seconds as the largest whole unit: `3 days`, `1 hour`, `12 seconds`.
pub fn age(seconds: u64) -> String {
    let (number, noun) = match seconds {
        0..60 => (seconds, "second"),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    counted(number, noun)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_or_have_units() {
        let ms = |text| parse_time(text).map(|time| time.as_millis());
        assert_eq!(ms("90"), Ok(90_000));
        assert_eq!(ms("1.5"), Ok(1500));
        assert_eq!(ms("250ms"), Ok(250));
        assert_eq!(ms("1d 12h"), Ok(36 * 3_600_000));
        for wrong in ["", "soon", "-1", "1 fortnight", "nan", "inf"] {
            assert!(parse_time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read_in_every_spelling() {
        let cases: [(&str, u64); 10] = [
            ("0", 0),
            ("4096", 4096),
            ("4096B", 4096),
            ("64M", 64 << 20),
            ("64m", 64 << 20),
            ("8G", 8 << 30),
            ("8GiB", 8 << 30),
            ("8 GiB", 8 << 30),
            ("500MB", 500_000_000),
            ("1T", 1 << 40),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        for text in ["", "G", "8X", "8Gi", "8GG", "-1", "1.5G", "99999999999T"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_written_short() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1 KiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size((1 << 20) - 1), "1 MiB");
        assert_eq!(size(64 << 30), "64 GiB");
    }

    #[test]
    fn counts_have_separators_and_nouns() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(counted(1, "key"), "1 key");
        assert_eq!(counted(2, "key"), "2 keys");
        assert_eq!(age(7_300), "2 hours");
        assert_eq!(age(86_400), "1 day");
    }

    #[test]
    fn counts_are_read_in_thousands() {
        assert_eq!(parse_count("34924"), Ok(34_924));
        assert_eq!(parse_count("10k"), Ok(10_000));
        assert_eq!(parse_count("4M"), Ok(4_000_000));
        assert_eq!(parse_count("4G"), Ok(4_000_000_000));
        for wrong in ["", "M", "1.5M", "-1", "99999999999999G", "7µ"] {
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
    }
}
