//! The loop of a writer: lines in a row, some of which are timed singly.

use std::thread;

use super::job::{Plan, Written};
use super::texts::Texts;
use crate::Result;
use crate::clock::{monotonic_ns, wait_until};
use crate::latency::Latency;

/// One line of so many is timed by itself: seldom, so that two looks at the clock cost little, and
/// a prime, so that it meets every place of what has a period.
const SAMPLE_EVERY: u64 = 61;

/// What a writer writes with.
pub(super) trait Pen {
    fn line(&mut self, text: &str) -> Result<()>;
}

/// Has each thread of this process write its share with a pen that it makes itself.
pub(super) fn write_all<P: Pen>(
    plan: &Plan,
    first: u32,
    start_ns: u64,
    pen: impl Fn() -> Result<P> + Sync,
) -> Result<Vec<Written>> {
    let pen = &pen;
    thread::scope(|scope| {
        let writers = (first..first + plan.threads).map(|writer| {
            scope.spawn(move || {
                let texts = Texts::new(writer, plan.text_bytes);
                write(&mut pen()?, &texts, plan.share, start_ns)
            })
        });
        let writers: Vec<_> = writers.collect();
        let written = writers.into_iter().map(|writer| writer.join());
        written
            .map(|joined| joined.expect("the threads do not panic"))
            .collect()
    })
}

fn write(pen: &mut impl Pen, texts: &Texts, share: u64, start_ns: u64) -> Result<Written> {
    let mut latency = Latency::new();
    wait_until(start_ns);
    let begin_ns = monotonic_ns();
    let mut line = 0;
    while line < share {
        let sampled = (line + SAMPLE_EVERY - 1).min(share);
        while line < sampled {
            pen.line(texts.of(line))?;
            line += 1;
        }
        if line < share {
            let before = monotonic_ns();
            pen.line(texts.of(line))?;
            latency.record(monotonic_ns() - before);
            line += 1;
        }
    }
    Ok(Written {
        begin_ns,
        end_ns: monotonic_ns(),
        latency: latency.summary(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::latency::Merged;

    struct Kept(Vec<String>);

    impl Pen for Kept {
        fn line(&mut self, text: &str) -> Result<()> {
            self.0.push(text.to_owned());
            Ok(())
        }
    }

    #[test]
    fn every_line_is_written_once_and_one_of_61_is_timed() {
        for share in [1, 60, 61, 62, 1000] {
            let (texts, mut pen) = (Texts::new(0, 16), Kept(Vec::new()));
            let written = write(&mut pen, &texts, share, 0).unwrap();
            let all: Vec<&str> = (0..share).map(|line| texts.of(line)).collect();
            assert_eq!(pen.0, all);
            let mut merged = Merged::new();
            merged.add(&written.latency);
            assert_eq!(merged.count(), share / SAMPLE_EVERY);
        }
    }
}
