//! OpenMetrics text, read by the letter of its rules.

use std::collections::{BTreeMap, BTreeSet};

/// A name with its labels, sorted.
pub type Series = (String, BTreeMap<String, String>);

/// What a page says.
#[derive(Debug)]
pub struct Page {
    /// The kinds of all families.
    pub families: BTreeMap<String, String>,
    pub samples: BTreeMap<Series, f64>,
}

impl Page {
    /// The value of a sample; labels as `name=value`.
    #[track_caller]
    pub fn value(&self, name: &str, labels: &[&str]) -> f64 {
        let value = self.get(name, labels);
        value.unwrap_or_else(|| panic!("no {name} {labels:?}: {self:#?}"))
    }

    pub fn get(&self, name: &str, labels: &[&str]) -> Option<f64> {
        let labels = labels.iter().map(|label| label.split_once('=').unwrap());
        let labels = labels.map(|(name, value)| (name.to_string(), value.to_string()));
        self.samples
            .get(&(name.to_string(), labels.collect()))
            .copied()
    }
}

/// Reads a page, or says which rule it breaks.
pub fn read(text: &str) -> Result<Page, String> {
    let body = text
        .strip_suffix("# EOF\n")
        .ok_or("it does not end in # EOF")?;
    if !(body.is_empty() || body.ends_with('\n')) || body.contains('\r') {
        return Err("its lines do not end in one newline each".to_string());
    }
    let mut reader = Reader::default();
    for line in body.lines() {
        reader.line(line).map_err(|why| format!("{why}: {line}"))?;
    }
    reader.end_family()?;
    Ok(reader.page)
}

struct Reader {
    page: Page,
    name: String,
    kind: String,
    /// The descriptions of the family so far.
    described: BTreeSet<String>,
    /// The samples of the family, in their order.
    samples: Vec<(Series, f64)>,
}

impl Default for Reader {
    fn default() -> Reader {
        let page = Page {
            families: BTreeMap::new(),
            samples: BTreeMap::new(),
        };
        Reader {
            page,
            name: String::new(),
            kind: String::new(),
            described: BTreeSet::new(),
            samples: Vec::new(),
        }
    }
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        match line.strip_prefix("# ") {
            Some(described) => self.described(described),
            None if line.starts_with('#') => Err("a comment".to_string()),
            None => self.sample(line),
        }
    }

    fn described(&mut self, described: &str) -> Result<(), String> {
        let mut parts = described.splitn(3, ' ');
        let [what, name, text] = [(); 3].map(|()| parts.next().unwrap_or_default());
        check_name(name)?;
        if name != self.name {
            self.end_family()?;
            self.name = name.to_string();
            self.kind = "unknown".to_string();
        }
        if !self.samples.is_empty() || !self.described.insert(what.to_string()) {
            return Err("described twice, or behind samples".to_string());
        }
        match what {
            "TYPE" if ["gauge", "counter", "histogram", "info"].contains(&text) => {
                self.kind = text.to_string();
            }
            "UNIT" if name.ends_with(&format!("_{text}")) && !text.is_empty() => {}
            "HELP" if !text.is_empty() => {}
            _ => return Err("the description is wrong".to_string()),
        }
        Ok(())
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let end = line.find(['{', ' ']).ok_or("a name alone")?;
        let (name, rest) = line.split_at(end);
        check_name(name)?;
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(rest) => read_labels(rest)?,
            None => (BTreeMap::new(), rest),
        };
        let value = rest.strip_prefix(' ').ok_or("no space before the value")?;
        if value.contains(' ') {
            return Err("more than a value".to_string());
        }
        let value: f64 = value.parse().map_err(|_| "no number")?;
        let suffix = name.strip_prefix(self.name.as_str());
        let allowed: &[&str] = match self.kind.as_str() {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "info" => &["_info"],
            _ => &[""],
        };
        if self.name.is_empty() || !suffix.is_some_and(|suffix| allowed.contains(&suffix)) {
            return Err(format!("no name in the {} {}", self.kind, self.name));
        }
        let wrong = match self.kind.as_str() {
            "counter" | "histogram" => !value.is_finite() || value < 0.0,
            "info" => value != 1.0,
            _ => value.is_nan(),
        };
        if wrong {
            return Err(format!("no value of a {}", self.kind));
        }
        self.samples.push(((name.to_string(), labels), value));
        Ok(())
    }

    fn end_family(&mut self) -> Result<(), String> {
        let name = std::mem::take(&mut self.name);
        self.described.clear();
        if name.is_empty() {
            return Ok(());
        }
        if self.kind == "histogram" {
            check_histogram(&name, &self.samples)?;
        }
        if self
            .page
            .families
            .insert(name.clone(), self.kind.clone())
            .is_some()
        {
            return Err(format!("the family {name} is in two places"));
        }
        for (series, value) in self.samples.drain(..) {
            if let Some(twice) = self.page.samples.insert(series.clone(), value) {
                return Err(format!("{series:?} is there twice: {twice}"));
            }
        }
        Ok(())
    }
}

/// Buckets of one set of labels stand together, rise, hold those before, and end in infinity.
fn check_histogram(name: &str, samples: &[(Series, f64)]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut at = 0;
    while at < samples.len() {
        let without_end = |series: &Series| {
            let mut labels = series.1.clone();
            labels.remove("le");
            labels
        };
        let labels = without_end(&samples[at].0);
        if !seen.insert(labels.clone()) {
            return Err(format!("{name} has {labels:?} in two places"));
        }
        let (mut last_end, mut last_count) = (f64::NEG_INFINITY, 0.0);
        while at < samples.len() && without_end(&samples[at].0) == labels {
            let ((sample, with_end), count) = &samples[at];
            if sample.ends_with("_bucket") {
                let end = with_end.get("le").ok_or("a bucket without an end")?;
                let end = if end == "+Inf" { "inf" } else { end };
                let end: f64 = end.parse().map_err(|_| "an end that is no number")?;
                if end <= last_end || *count < last_count {
                    return Err(format!("{name} {labels:?} falls at {end}"));
                }
                (last_end, last_count) = (end, *count);
            }
            at += 1;
        }
        if last_end != f64::INFINITY {
            return Err(format!("{name} {labels:?} ends at {last_end}"));
        }
    }
    Ok(())
}

fn check_name(name: &str) -> Result<(), String> {
    let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let all = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (first && all)
        .then_some(())
        .ok_or(format!("no name: '{name}'"))
}

/// The labels up to the closing brace, and what follows it.
fn read_labels(text: &str) -> Result<(BTreeMap<String, String>, &str), String> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        let (name, after) = rest.split_once("=\"").ok_or("a label without a value")?;
        check_name(name)?;
        let mut value = String::new();
        let mut letters = after.char_indices();
        let end = loop {
            match letters.next().ok_or("a value without an end")? {
                (at, '"') => break at + 1,
                (_, '\\') => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, letter @ ('\\' | '"'))) => value.push(letter),
                    _ => return Err("a wrong escape".to_string()),
                },
                (_, letter) => value.push(letter),
            }
        };
        if labels.insert(name.to_string(), value).is_some() {
            return Err(format!("the label {name} twice"));
        }
        rest = &after[end..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Ok((labels, rest.strip_prefix('}').ok_or("no closing brace")?)),
        }
    }
}

#[test]
fn broken_rules_are_found() {
    let good = "# TYPE a counter\n# HELP a All a.\na_total{t=\"x\\\"\"} 1\n# EOF\n";
    let page = read(good).unwrap();
    assert_eq!(page.value("a_total", &["t=x\""]), 1.0);
    let heights = "# TYPE h histogram\nh_bucket{le=\"1\"} 2\nh_bucket{le=\"+Inf\"} 3\n# EOF\n";
    read(heights).unwrap();
    let broken = [
        good.replace("# EOF\n", ""),
        good.replace("# EOF\n", "\n# EOF\n"),
        good.replace("a_total", "a"),
        good.replace("} 1", "} -1"),
        good.replace("} 1", "} one"),
        good.replace("} 1", "}  1"),
        good.replace("\\\"", "\""),
        good.replace("# HELP a All a.", "# HELP a"),
        good.replace("# HELP a All a.", "# UNIT a bytes"),
        good.replace("# EOF\n", "# TYPE b gauge\nb 1\na_total 2\n# EOF\n"),
        good.replace(
            "# EOF\n",
            "# TYPE b gauge\nb 1\n# TYPE a counter\na_total 2\n# EOF\n",
        ),
        good.replace("# EOF\n", "a_total{t=\"x\\\"\"} 1\n# EOF\n"),
        heights.replace("+Inf", "2"),
        heights.replace("} 3", "} 1"),
        heights.replace("\"1\"", "\"+Inf\""),
    ];
    for text in broken {
        assert!(read(&text).is_err(), "{text}");
    }
}
