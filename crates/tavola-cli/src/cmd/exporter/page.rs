//! The page of all tables' metrics.

use super::figures::{Family, NamedFigures, Of};
use super::openmetrics::{Kind, Page};
use super::{durability, metrics};

/// The page: of each table its name, and what it said unless it could not be read.
pub fn page(tables: &[NamedFigures]) -> String {
    let mut page = Page::default();
    page.family("tavola_build", Kind::Info, "", "The exporter.", |out| {
        out.put(&[("version", env!("CARGO_PKG_VERSION"))], 1);
    });
    let help = "1 if the table could be read, 0 if it is missing or unreadable.";
    page.family("tavola_up", Kind::Gauge, "", help, |out| {
        for (name, now) in tables {
            out.put(&[("table", name)], u8::from(now.is_ok()));
        }
    });
    let help = "Why a table could not be read.";
    page.family("tavola_unreadable", Kind::Info, "", help, |out| {
        for (name, now) in tables {
            if let Err(error) = now {
                out.put(&[("table", name), ("reason", super::reason(error))], 1);
            }
        }
    });
    for family in metrics::FAMILIES.iter().chain(durability::FAMILIES) {
        let Family(name, kind, unit, help, of) = family;
        page.family(name, *kind, unit, help, |out| {
            for (table, now) in tables {
                if let Ok(now) = now {
                    of(now, &mut Of { table, out });
                }
            }
        });
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `the_dashboard_asks_for_what_is_there` in tests/command/exporter.rs holds it the other way
    /// round.
    #[test]
    fn the_dashboard_has_each_family() {
        let dashboard = include_str!("../../../../../contrib/grafana/tavola.json");
        let all = metrics::FAMILIES.iter().chain(durability::FAMILIES);
        let all = all.map(|family| (family.0, family.1));
        let others = [
            ("tavola_build", Kind::Info),
            ("tavola_up", Kind::Gauge),
            ("tavola_unreadable", Kind::Info),
        ];
        for (name, kind) in all.chain(others) {
            let sample = match kind {
                Kind::Info => format!("{name}_info"),
                Kind::Counter => format!("{name}_total"),
                Kind::Histogram => format!("{name}_bucket"),
                Kind::Gauge => name.to_string(),
            };
            let is_asked = dashboard.match_indices(&sample).any(|(at, _)| {
                let next = dashboard[at + sample.len()..].chars().next();
                next.is_some_and(|next| !next.is_ascii_alphanumeric() && next != '_')
            });
            assert!(is_asked, "the dashboard has no panel for {sample}");
        }
    }
}
