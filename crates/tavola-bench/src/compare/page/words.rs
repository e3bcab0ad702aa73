//! Numbers as people read them; a space that does not break keeps a unit with its number.

/// A unit of the results, and which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit<'a>(pub(super) &'a str);

impl Unit<'_> {
    /// Rates are better when higher; times and sizes when lower.
    pub(super) fn higher_is_better(self) -> bool {
        self.0.ends_with("/s")
    }

    pub(super) fn direction(self) -> &'static str {
        match self.higher_is_better() {
            true => "more is better",
            false => "less is better",
        }
    }

    /// `value` with its unit: `6.20 M/s`, `812 K/s`, `17 µs`.
    pub(super) fn show(self, value: f64) -> String {
        match self.0 {
            "ops/s" => format!("{}/s", count(value)),
            "s" => time(value * 1e9),
            "ms" => time(value * 1e6),
            "us" => time(value * 1e3),
            "us/op" => format!("{} an operation", time(value * 1e3)),
            "ns" => time(value),
            "bytes" => bytes(value),
            other => format!("{} {other}", digits(value)),
        }
    }
}

/// Three digits that count, and no more: `6.20`, `41.5`, `812`.
pub(super) fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 99.95 {
        format!("{value:.0}")
    } else if size >= 9.995 {
        format!("{value:.1}")
    } else if size == 0.0 || size >= 0.0995 {
        format!("{value:.2}")
    } else {
        format!("{value:.1e}")
    }
}

/// `1.20 M`, `100 K`, `17`.
pub(super) fn count(value: f64) -> String {
    match value.abs() {
        size if size >= 999.5e6 => format!("{}\u{a0}G", digits(value / 1e9)),
        size if size >= 999.5e3 => format!("{}\u{a0}M", digits(value / 1e6)),
        size if size >= 999.5 => format!("{}\u{a0}K", digits(value / 1e3)),
        _ => digits(value),
    }
}

/// A time given in nanoseconds.
pub(super) fn time(ns: f64) -> String {
    match ns.abs() {
        size if size >= 999.5e6 => format!("{}\u{a0}s", digits(ns / 1e9)),
        size if size >= 999.5e3 => format!("{}\u{a0}ms", digits(ns / 1e6)),
        size if size >= 999.5 => format!("{}\u{a0}µs", digits(ns / 1e3)),
        _ => format!("{}\u{a0}ns", digits(ns)),
    }
}

pub(super) fn bytes(value: f64) -> String {
    const KIB: f64 = 1024.0;
    match value.abs() {
        size if size >= KIB * KIB * KIB => format!("{}\u{a0}GiB", digits(value / KIB / KIB / KIB)),
        size if size >= KIB * KIB => format!("{}\u{a0}MiB", digits(value / KIB / KIB)),
        size if size >= KIB => format!("{}\u{a0}KiB", digits(value / KIB)),
        _ => format!("{value:.0}\u{a0}B"),
    }
}

/// `2.3 ×`; beyond a hundred without a fraction.
pub(super) fn ratio(value: f64) -> String {
    match value {
        value if value >= 99.5 => format!("{value:.0}\u{a0}×"),
        value if value >= 9.95 => format!("{value:.1}\u{a0}×"),
        value => format!("{value:.2}\u{a0}×"),
    }
}

/// `1 store`, `2 stores`.
pub(super) fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The least and the most that one of several processes had.
pub(super) fn shares(shares: &[f64]) -> Option<String> {
    let all: f64 = shares.iter().sum();
    let least = shares.iter().copied().reduce(f64::min)?;
    let most = shares.iter().copied().reduce(f64::max)?;
    let percent = |share: f64| 100.0 * share / all;
    let told = format!("{:.0} – {:.0}\u{a0}%", percent(least), percent(most));
    (shares.len() > 1 && all > 0.0).then_some(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: String) -> String {
        text.replace('\u{a0}', " ")
    }

    #[test]
    fn numbers_keep_three_digits() {
        let shown = [0.0, 0.0123, 0.5, 6.2, 41.54, 99.96, 812.4].map(digits);
        assert_eq!(
            shown,
            ["0.00", "1.2e-2", "0.50", "6.20", "41.5", "100", "812"]
        );
        assert_eq!(
            [999.0, 999.6, 1.2e6, 3e9].map(|value| plain(count(value))),
            ["999", "1.00 K", "1.20 M", "3.00 G"]
        );
        assert_eq!(
            [17.0, 17e3, 1.5e6, 2e9].map(|value| plain(time(value))),
            ["17.0 ns", "17.0 µs", "1.50 ms", "2.00 s"]
        );
        assert_eq!(
            [88.0, 4096.0, 3.5e6].map(|value| plain(bytes(value))),
            ["88 B", "4.00 KiB", "3.34 MiB"]
        );
        assert_eq!(
            [1.0, 12.34, 340.2].map(|value| plain(ratio(value))),
            ["1.00 ×", "12.3 ×", "340 ×"]
        );
    }

    #[test]
    fn units_have_a_direction() {
        assert!(Unit("ops/s").higher_is_better());
        for less in ["s", "ms", "us/op", "bytes"] {
            assert!(!Unit(less).higher_is_better(), "{less}");
        }
        assert_eq!(plain(Unit("s").show(0.21)), "210 ms");
        assert_eq!(plain(Unit("us/op").show(603.0)), "603 µs an operation");
        assert_eq!(plain(Unit("pages").show(3.0)), "3.00 pages");
    }

    #[test]
    fn shares_are_of_several() {
        assert_eq!(shares(&[1.0]), None);
        assert_eq!(shares(&[0.0, 0.0]), None);
        assert_eq!(
            shares(&[0.5, 0.25, 0.25]).map(plain).as_deref(),
            Some("25 – 50 %")
        );
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(plural(1, "store", "stores"), "1 store");
        assert_eq!(plural(0, "store", "stores"), "0 stores");
    }
}
