//! The arguments.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
tavola-torture: kills processes that use a table, and checks what is left

  --seconds N   below 3600: about so long in all, with a sample of the points of long cases;
                else (3600) every point is killed at, however long that takes, and the soaks
                take half of it
  --kills N     at least so many random kills in the soak (10000)
  --lanes N     processes that take kill points side by side (16 for each CPU)
  --seed N      of random choices (drawn from the clock)
  --only TEXT   only kill-point cases with this in their name; `soak`: only the soaks;
                `log soak`, `lock soak`, `cache soak`, `lease soak`, `durable soak`, `list soak`:
                only that one, so long in all; `disk cuts`: the list soak on a file system that
                is cut (root);
                `surroundings`: daemons, namespaces, files, or one by `surroundings NAME`
  --from TEXT   not the kill-point cases before the first with this in its name: continues a
                run that was ended
  --point K     only this point of those cases, as a fault names it
  --finder J    and of the recovery from it only this point
  --keep DIR    keeps the file a survivor found when it found a fault
  --help        this
";

/// Seconds from which on every point is killed at.
const EVERY: u64 = 3600;
/// Points of a long case in a sample: so many for each of the seconds, and never fewer.
const POINTS_A_SECOND: u64 = 1;
const LEAST_POINTS: u64 = 32;
/// Of a case whose end is not known, so many of the first points are in a sample.
const ALL_OF_THE_FIRST: u64 = 80;

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) seconds: u64,
    pub(crate) kills: u64,
    pub(crate) lanes: usize,
    pub(crate) seed: u64,
    pub(crate) only: Option<String>,
    pub(crate) from: Option<String>,
    pub(crate) point: Option<u64>,
    pub(crate) finder: Option<u64>,
    pub(crate) keep: Option<PathBuf>,
}

impl Args {
    fn new() -> Self {
        let cpus = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            seconds: EVERY,
            kills: 10_000,
            lanes: (16 * cpus).min(crate::board::LANES),
            seed: crate::system::now_ns(),
            only: None,
            from: None,
            point: None,
            finder: None,
            keep: None,
        }
    }

    /// Returns the arguments, or `None` if help is wanted.
    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut parsed = Self::new();
        let mut args = args;
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--seconds" => parsed.seconds = number(&value()?)?,
                "--kills" => parsed.kills = number(&value()?)?,
                "--lanes" => parsed.lanes = lanes(&value()?)?,
                "--seed" => parsed.seed = number(&value()?)?,
                "--only" => parsed.only = Some(value()?),
                "--from" => parsed.from = Some(value()?),
                "--point" => parsed.point = Some(number(&value()?)?),
                "--finder" => parsed.finder = Some(number(&value()?)?),
                "--keep" => parsed.keep = Some(value()?.into()),
                "--help" => return Ok(None),
                _ => return Err(format!("there is no argument {name}")),
            }
        }
        Ok(Some(parsed))
    }

    /// Whether every point is killed at, or a sample of those of long cases.
    pub(crate) fn every_point(&self) -> bool {
        self.seconds >= EVERY
    }

    /// Returns the points of a case that makes so many stores: all, or a sample, spread evenly from
    /// the first to the last.
    pub(crate) fn points(&self, total: u64) -> Vec<u64> {
        match self.point {
            Some(point) => vec![point],
            None if self.every_point() || total <= self.sample() => (1..=total).collect(),
            None => {
                let count = self.sample();
                let nth = |n| 1 + n * (total - 1) / (count - 1);
                (0..count).map(nth).collect()
            }
        }
    }

    /// Returns the points of a case whose end is found by running into it: all, or the first of
    /// them and then one in eight.
    pub(crate) fn points_until_the_end(&self) -> impl Iterator<Item = u64> {
        let step = if self.every_point() { 1 } else { 8 };
        (1..ALL_OF_THE_FIRST).chain((ALL_OF_THE_FIRST..).step_by(step))
    }

    /// How many points of a long case make a sample.
    pub(crate) fn sample(&self) -> u64 {
        (POINTS_A_SECOND * self.seconds).max(LEAST_POINTS)
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("`{text}` is no number"))
}

fn lanes(text: &str) -> Result<usize, String> {
    match number(text)? as usize {
        count @ 1..=crate::board::LANES => Ok(count),
        _ => Err(format!("1 to {} lanes", crate::board::LANES)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Args, String> {
        let args = Args::parse(text.split_whitespace().map(str::to_owned))?;
        args.ok_or("help".to_owned())
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_refused() {
        let args = parse("--seconds 60 --kills 300 --only split").unwrap();
        assert_eq!((args.seconds, args.kills), (60, 300));
        assert_eq!(args.only.as_deref(), Some("split"));
        assert_eq!(
            parse("--from reclaim").unwrap().from.as_deref(),
            Some("reclaim")
        );
        assert!(!args.every_point() && args.sample() == 60);
        assert_eq!(args.points(3), [1, 2, 3]);
        let sample = args.points(1000);
        assert_eq!((sample.len(), sample[0], sample[59]), (60, 1, 1000));
        assert_eq!(parse("--point 7").unwrap().points(3), [7]);
        assert!(parse("").unwrap().every_point());
        assert_eq!(parse("--help").unwrap_err(), "help");
        for bad in ["--kills", "--kills x", "--lanes 0", "--faster"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
