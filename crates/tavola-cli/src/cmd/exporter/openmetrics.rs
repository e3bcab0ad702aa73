//! OpenMetrics text, version 1.0.0: families of samples, one after the other.

use std::fmt::{Display, Write};

/// What the text is, for the header of the answer.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What the samples of a family mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What is the case now.
    Gauge,
    /// What only grows, from 0 when the table is made. Its samples end in `_total`.
    Counter,
    /// Counts of buckets; each holds those of the buckets before.
    Histogram,
    /// Text, in labels. Its samples end in `_info`.
    Info,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Gauge => "gauge",
            Kind::Counter => "counter",
            Kind::Histogram => "histogram",
            Kind::Info => "info",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Kind::Gauge => "",
            Kind::Counter => "_total",
            Kind::Histogram => "_bucket",
            Kind::Info => "_info",
        }
    }
}

/// A page that is being written: families in any order, each at once.
#[derive(Default)]
pub struct Page {
    text: String,
}

impl Page {
    /// Writes a family; one without samples is left out. A unit, if there is one, ends the name.
    pub fn family(
        &mut self,
        name: &str,
        kind: Kind,
        unit: &str,
        help: &str,
        samples: impl FnOnce(&mut Samples<'_>),
    ) {
        let before = self.text.len();
        let type_name = kind.name();
        self.line(format_args!("# TYPE {name} {type_name}"));
        if !unit.is_empty() {
            self.line(format_args!("# UNIT {name} {unit}"));
        }
        self.line(format_args!("# HELP {name} {}", escaped(help)));
        let head = self.text.len();
        samples(&mut Samples {
            page: self,
            name,
            kind,
        });
        if self.text.len() == head {
            self.text.truncate(before);
        }
    }

    /// The whole page.
    pub fn finish(mut self) -> String {
        self.line("# EOF");
        self.text
    }

    fn line(&mut self, text: impl Display) {
        writeln!(self.text, "{text}").expect("a String takes everything");
    }
}

/// The samples of one family.
pub struct Samples<'a> {
    page: &'a mut Page,
    name: &'a str,
    kind: Kind,
}

impl Samples<'_> {
    /// One sample of a gauge, a counter or an info.
    pub fn put(&mut self, labels: &[(&str, &str)], value: impl Display) {
        let (name, suffix) = (self.name, self.kind.suffix());
        let labels = written(labels);
        self.page
            .line(format_args!("{name}{suffix}{labels} {value}"));
    }

    /// The buckets of a histogram: the time in nanoseconds in which each ends, and its count. The
    /// sum of all times is not known, so there is none, and by the rules no count, either.
    pub fn buckets_ns(&mut self, labels: &[(&str, &str)], buckets: &[(u64, u64)]) {
        let mut sum = 0_u64;
        for &(below_ns, count) in buckets {
            sum = sum.saturating_add(count);
            if below_ns != u64::MAX {
                self.put_bucket(labels, &(below_ns as f64 / 1e9).to_string(), sum);
            }
        }
        self.put_bucket(labels, "+Inf", sum);
    }

    fn put_bucket(&mut self, labels: &[(&str, &str)], end: &str, count: u64) {
        let labels: Vec<(&str, &str)> = labels.iter().copied().chain([("le", end)]).collect();
        self.put(&labels, count);
    }
}

fn written(labels: &[(&str, &str)]) -> String {
    let each = |(name, value): &(&str, &str)| format!("{name}=\"{}\"", escaped(value));
    let all: Vec<String> = labels.iter().map(each).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", all.join(",")),
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"");
    text.replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_its_head_and_its_samples() {
        let mut page = Page::default();
        page.family("a_bytes", Kind::Gauge, "bytes", "Bytes of a.", |out| {
            out.put(&[("table", "x\"\\\n")], 7);
        });
        page.family("b", Kind::Counter, "", "All b.", |out| out.put(&[], 8));
        page.family("c", Kind::Gauge, "", "None.", |_| {});
        let expected = "# TYPE a_bytes gauge\n# UNIT a_bytes bytes\n# HELP a_bytes Bytes of a.\n\
                        a_bytes{table=\"x\\\"\\\\\\n\"} 7\n\
                        # TYPE b counter\n# HELP b All b.\nb_total 8\n# EOF\n";
        assert_eq!(page.finish(), expected);
    }

    #[test]
    fn buckets_add_up_and_end_in_infinity() {
        let mut page = Page::default();
        let buckets = [(128, 3), (1 << 30, 0), (u64::MAX, 2)];
        page.family("t_seconds", Kind::Histogram, "seconds", "Times.", |out| {
            out.buckets_ns(&[("op", "read")], &buckets);
            out.buckets_ns(&[("op", "write")], &[]);
        });
        let text = page.finish();
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let expected = [
            "t_seconds_bucket{op=\"read\",le=\"0.000000128\"} 3",
            "t_seconds_bucket{op=\"read\",le=\"1.073741824\"} 3",
            "t_seconds_bucket{op=\"read\",le=\"+Inf\"} 5",
            "t_seconds_bucket{op=\"write\",le=\"+Inf\"} 0",
        ];
        assert_eq!(samples, expected);
    }
}
