//! Progress bars on standard error, for people only: never in a pipe, a file or a log.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};

const BYTES: &str = "{bar:40} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
const BYTES_OPEN: &str = "{spinner} {bytes}, {bytes_per_sec}";
const ENTRIES: &str = "{bar:40} {human_pos} of {human_len} keys, {per_sec}, {eta} left";

/// A bar over bytes read; without a total it counts up.
pub fn over_bytes(total: Option<u64>) -> ProgressBar {
    match total {
        Some(total) => bar(ProgressBar::new(total), BYTES),
        None => bar(ProgressBar::new_spinner(), BYTES_OPEN),
    }
}

/// A bar over keys written out.
pub fn over_keys(total: u64) -> ProgressBar {
    bar(ProgressBar::new(total), ENTRIES)
}

fn bar(bar: ProgressBar, template: &str) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.expect("the templates of this file are well formed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_well_formed() {
        for template in [BYTES, BYTES_OPEN, ENTRIES] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }
}
