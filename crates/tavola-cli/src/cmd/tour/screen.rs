//! What the tour shows: plain lines; colours only for a person at a terminal.

use std::io::{self, IsTerminal, Write};

use super::verify::Verdict;
use crate::error::CliError;

/// More processes than this share two columns, the slowest and the fastest.
const COLUMNS: usize = 8;

pub struct Screen {
    colours: bool,
    columns: usize,
}

/// A second of the live part.
pub struct Row {
    pub second: f64,
    /// Operations a second of each process; none while nobody sits there.
    pub rates: Vec<Option<f64>>,
    pub keys: String,
    pub memory: String,
    pub growth: String,
}

impl Screen {
    pub fn new(processes: usize) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let colours = io::stdout().is_terminal() && !plain;
        Self {
            colours,
            columns: if processes <= COLUMNS { processes } else { 0 },
        }
    }

    /// Prints and flushes: a line is seen when it happens, in a pipe, too.
    pub fn line(&self, text: &str) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        Ok(out.flush()?)
    }

    pub fn title(&self, text: &str) -> Result<(), CliError> {
        self.line(&format!("\n{}", self.paint("1", text)))
    }

    /// Something that is done to the table's users.
    pub fn event(&self, text: &str) -> Result<(), CliError> {
        self.line(&self.paint("33", &format!("     {text}")))
    }

    pub fn verdict(&self, verdict: &Verdict) -> Result<(), CliError> {
        let mark = match verdict.holds {
            true => self.paint("32", "  ok  "),
            false => self.paint("1;31", "FAILED"),
        };
        self.line(&format!("{mark}  {}", verdict.text))
    }

    /// A command to try, and what it is good for.
    pub fn hint(&self, command: &str, width: usize, purpose: &str) -> Result<(), CliError> {
        let space = " ".repeat(width.saturating_sub(command.chars().count()) + 3);
        self.line(&format!("  {}{space}{purpose}", self.paint("36", command)))
    }

    pub fn table_head(&self) -> Result<(), CliError> {
        let mut text = format!("{:>6}", "second");
        match self.columns {
            0 => text.push_str(&format!("{:>9}{:>9}", "slowest", "fastest")),
            columns => {
                (1..=columns).for_each(|at| text.push_str(&format!("{:>8}", format!("p{at}"))))
            }
        }
        text.push_str(&format!(
            "{:>8}{:>11}{:>10}{:>11}",
            "all", "keys", "memory", "growth"
        ));
        self.line(&self.paint("2", &text))
    }

    pub fn row(&self, row: &Row) -> Result<(), CliError> {
        let working = row.rates.iter().flatten().copied();
        let mut text = format!("{:>6.0}", row.second);
        if self.columns == 0 {
            let slowest = working.clone().fold(f64::INFINITY, f64::min);
            let fastest = working.clone().fold(0.0, f64::max);
            text.push_str(&format!("{:>9}{:>9}", rate(slowest), rate(fastest)));
        } else {
            let cell = |rate_now: &Option<f64>| rate_now.map_or("killed".to_owned(), rate);
            row.rates
                .iter()
                .for_each(|now| text.push_str(&format!("{:>8}", cell(now))));
        }
        let all = self.paint("1", &format!("{:>8}", rate(working.sum())));
        let Row {
            keys,
            memory,
            growth,
            ..
        } = row;
        self.line(&format!("{text}{all}{keys:>11}{memory:>10}{growth:>11}"))
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        match self.colours {
            true => format!("\x1b[{colour}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// A number in three or four digits: `812 k`, `7.61 M`.
pub fn rate(a_second: f64) -> String {
    match a_second {
        _ if !a_second.is_finite() => "-".to_owned(),
        0.0..10_000.0 => format!("{a_second:.0}"),
        10_000.0..1_000_000.0 => format!("{:.0} k", a_second / 1e3),
        _ => format!("{:.2} M", a_second / 1e6),
    }
}

/// A time as short as it is: `912 µs`, `3.1 ms`.
pub fn duration(ns: u64) -> String {
    match ns {
        0..1_000_000 => format!("{} µs", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.2} s", ns as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_times_are_short() {
        assert_eq!(rate(950.0), "950");
        assert_eq!(rate(812_345.0), "812 k");
        assert_eq!(rate(7_612_345.0), "7.61 M");
        assert_eq!(rate(f64::INFINITY), "-");
        assert_eq!(duration(912_345), "912 µs");
        assert_eq!(duration(3_123_456), "3.1 ms");
        assert_eq!(duration(2_500_000_000), "2.50 s");
    }
}
