//! Sections of lines, and what is in them: numbers in few letters, and bars.

/// How a line is shown where there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tint {
    Plain,
    Bar,
    Bad,
}

/// A title with the lines below it.
pub struct Section {
    pub title: String,
    pub lines: Vec<(Tint, String)>,
}

impl Section {
    pub fn new(title: impl Into<String>) -> Section {
        Section {
            title: title.into(),
            lines: Vec::new(),
        }
    }

    pub fn line(&mut self, tint: Tint, text: impl Into<String>) {
        self.lines.push((tint, text.into()));
    }
}

/// Letters for bars: of heights from nothing to all, and for one that lies.
pub struct Letters {
    heights: [char; 9],
    lying: char,
}

/// For terminals that know block elements.
pub const BLOCKS: Letters = Letters {
    heights: [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
    lying: '█',
};
/// For all others.
pub const ASCII: Letters = Letters {
    heights: [' ', '.', '.', ':', ':', '+', '+', '#', '#'],
    lying: '#',
};

impl Letters {
    /// The letter in a row of a bar of that part of all rows. What is there at all is seen.
    pub fn of_row(&self, part: f64, row: usize, rows: usize) -> char {
        let eighths = (part.clamp(0.0, 1.0) * (rows * 8) as f64).round() as usize;
        let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
        self.heights[eighths.saturating_sub(row * 8).min(8)]
    }

    pub fn bar(&self, part: f64, width: usize) -> String {
        let length = (part * width as f64).round() as usize;
        let length = if part > 0.0 { length.max(1) } else { 0 };
        std::iter::repeat_n(self.lying, length.min(width)).collect()
    }
}

/// A number in few letters: `950`, `812 k`, `7.61 M`; `-` when it is not known.
pub fn rate(number: Option<f64>) -> String {
    match number {
        None => "-".to_owned(),
        Some(n) if n >= 1e9 => format!("{:.2} G", n / 1e9),
        Some(n) if n >= 999_500.0 => format!("{:.2} M", n / 1e6),
        Some(n) if n >= 9_999.5 => format!("{:.0} k", n / 1e3),
        Some(n) if n >= 9.95 || n == 0.0 => format!("{n:.0}"),
        Some(n) => format!("{n:.1}"),
    }
}

/// ` (+12/s)`; nothing where it is not known.
pub fn signed(number: Option<f64>, written: impl Fn(f64) -> String) -> String {
    let Some(number) = number else {
        return String::new();
    };
    let sign = if number < 0.0 { '-' } else { '+' };
    format!(" ({sign}{}/s)", written(number.abs()))
}

/// What is there at all is not nothing.
pub fn percent(part: f64) -> String {
    match part {
        _ if part > 0.0 && part < 0.0005 => "<0.1 %".to_owned(),
        _ => format!("{:.1} %", part * 100.0),
    }
}

/// Where the last percent is what matters: all is only what is all.
pub fn fine_percent(part: f64) -> String {
    match part {
        1.0.. => "100 %".to_owned(),
        _ => format!("{:.2} %", (part * 1e4).floor() / 100.0),
    }
}

/// A time in few letters: `212 ns`, `3.1 us`, `14 ms`.
pub fn time(ns: u64) -> String {
    let (number, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    match number {
        ..9.95 => format!("{number:.1} {unit}"),
        _ => format!("{number:.0} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let rates = [
            0.0,
            0.25,
            9.96,
            950.4,
            9_999.6,
            999_499.0,
            999_501.0,
            7_612_345.0,
            2.5e9,
        ];
        let written = [
            "0", "0.2", "10", "950", "10 k", "999 k", "1.00 M", "7.61 M", "2.50 G",
        ];
        assert_eq!(rates.map(|number| rate(Some(number))), written);
        assert_eq!(rate(None), "-");
        let times = [0, 999, 1_000, 9_949, 14_000_000, 2_500_000_000];
        let written = ["0 ns", "999 ns", "1.0 us", "9.9 us", "14 ms", "2.5 s"];
        assert_eq!(times.map(time), written);
        assert_eq!(
            [0.0, 0.0001, 0.25, 1.0].map(percent),
            ["0.0 %", "<0.1 %", "25.0 %", "100.0 %"]
        );
        assert_eq!([0.99999, 1.0].map(fine_percent), ["99.99 %", "100 %"]);
        let grown = |number| signed(number, |n| rate(Some(n)));
        assert_eq!(grown(Some(-12.0)), " (-12/s)");
        assert_eq!(grown(Some(0.0)), " (+0/s)");
        assert_eq!(grown(None), "");
    }

    #[test]
    fn bars_grow_with_what_they_show() {
        let of = |part| [1, 0].map(|row| BLOCKS.of_row(part, row, 2));
        assert_eq!(of(0.0), [' ', ' ']);
        assert_eq!(of(1e-9), [' ', '▁']);
        assert_eq!(of(0.5), [' ', '█']);
        assert_eq!(of(0.75), ['▄', '█']);
        assert_eq!(of(7.0), ['█', '█']);
        assert_eq!(ASCII.of_row(f64::NAN, 0, 1), ' ');
        assert_eq!(ASCII.bar(0.5, 6), "###");
        assert_eq!(ASCII.bar(1e-9, 6), "#");
        assert_eq!(ASCII.bar(0.0, 6), "");
    }
}
