//! Results for people: fields of the lines that `--json` prints, as a table.
//!
//! A line that has few of the columns, such as the memory at the end or the reason why something
//! was left out, is printed as a list of all its fields.

use std::io::Write as _;

use serde::Serialize;
use serde_json::Value;
use tavola_program::units::count;

use crate::{Error, Result};

/// Takes each line of a result as soon as it is known.
pub type Emit<'a> = &'a mut dyn FnMut(&Value) -> Result<()>;

const WIDTH: usize = 9;

/// Prints lines as they come.
pub struct Printer {
    as_json: bool,
    /// Names of fields; `a.b` is the field `b` of the field `a`.
    columns: &'static [&'static str],
    widths: Vec<usize>,
}

impl Printer {
    pub fn new(as_json: bool, columns: &'static [&'static str]) -> Self {
        Self {
            as_json,
            columns,
            widths: Vec::new(),
        }
    }

    /// Runs a measurement and shows each of its lines as soon as it is known.
    pub fn each(mut self, run: impl FnOnce(Emit<'_>) -> Result<()>) -> Result<()> {
        run(&mut |line| self.line(line))
    }

    pub fn all<L: Serialize>(mut self, lines: &[L]) -> Result<()> {
        let lines = lines.iter().map(serde_json::to_value);
        lines
            .into_iter()
            .try_for_each(|line| self.line(&line.unwrap_or_default()))
    }

    fn line(&mut self, line: &Value) -> Result<()> {
        match self.as_json {
            true => show(line.to_string()),
            false => show(self.text(line)),
        }
    }

    fn text(&mut self, line: &Value) -> String {
        let cells: Vec<&Value> = self.columns.iter().map(|name| field(line, name)).collect();
        let missing = cells.iter().filter(|cell| cell.is_null()).count();
        if 2 * missing >= cells.len() {
            return format!("  {}", list(line));
        }
        let mut head = String::new();
        if self.widths.is_empty() {
            self.widths = cells
                .iter()
                .zip(self.columns)
                .map(|(cell, name)| WIDTH.max(name.len()).max(shown(cell).chars().count()))
                .collect();
            let names: Vec<String> = self.columns.iter().map(|name| (*name).to_owned()).collect();
            head = self.row(&names) + "\n";
        }
        let cells: Vec<String> = cells.into_iter().map(shown).collect();
        head + &self.row(&cells)
    }

    fn row(&self, cells: &[String]) -> String {
        let cells = cells.iter().zip(&self.widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:<width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    }
}

/// Prints a line.
pub fn show(text: String) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let shown = writeln!(out, "{text}").and_then(|()| out.flush());
    shown.map_err(Error::Output)
}

/// A line with the fields of another object as well.
pub fn joined(mut line: Value, more: &impl Serialize) -> Value {
    let more = serde_json::to_value(more).unwrap_or_default();
    if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
        line.extend(more);
    }
    line
}

fn field<'a>(line: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(line, |value, part| &value[part])
}

/// All fields of a line, with their names.
fn list(line: &Value) -> String {
    let fields = line.as_object().into_iter().flatten();
    let fields = fields.filter(|(_, value)| !value.is_null());
    let fields: Vec<String> = fields
        .map(|(name, value)| format!("{name}: {}", shown(value)))
        .collect();
    fields.join(", ")
}

/// A number with three digits after its first, a list of numbers as its least and most.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => count(whole),
            (_, Some(value)) if value.abs() >= 100.0 => format!("{value:.0}"),
            (_, Some(value)) if value.abs() >= 0.01 => format!("{value:.2}"),
            (_, value) => format!("{:.3e}", value.unwrap_or_default()),
        },
        Value::Array(all) => {
            let mut numbers: Vec<f64> = all.iter().filter_map(Value::as_f64).collect();
            numbers.sort_by(f64::total_cmp);
            match &numbers[..] {
                [] => String::new(),
                [one] => format!("{one:.2}"),
                [least, .., most] => format!("{least:.2}–{most:.2}"),
            }
        }
        Value::Object(_) => format!("({})", list(value)),
        Value::Bool(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_shown_below_their_names_and_other_lines_as_lists() {
        let mut table = Printer::new(false, &["phase", "ops", "rate.mops", "runs"]);
        let line = json!({"phase": "get", "ops": 12_345, "rate": {"mops": 1.2345}, "runs": [2, 1]});
        let expected = "phase      ops        rate.mops  runs\n\
                        get        12,345     1.23       1.00–2.00";
        assert_eq!(table.text(&line), expected);
        let left_out = json!({"phase": "put", "left_out": "no CPU", "ratio": null});
        assert_eq!(table.text(&left_out), "  phase: put, left_out: no CPU");
        let again = json!({"phase": "miss", "ops": 7, "rate": {"mops": 0.001}});
        assert_eq!(table.text(&again), "miss       7          1.000e-3   –");
    }
}
