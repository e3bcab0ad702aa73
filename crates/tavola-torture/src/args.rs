//! The arguments.

use std::path::PathBuf;

pub(crate) const USAGE: &str = "\
tavola-torture: kills processes that use a table, and checks what is left

  --seconds N   about so long in all (600); below 300, long cases are sampled
  --kills N     at least so many random kills in the soak (10000)
  --every       every point of every case, however long that takes (hours)
  --lanes N     processes that take kill points side by side (4 for each CPU)
  --seed N      of random choices (drawn from the clock)
  --only TEXT   only kill-point cases with this in their name; `soak`: only the soak
  --point K     only this point of those cases
  --keep DIR    keeps the file a survivor found when it found a fault
";

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Args {
    pub(crate) seconds: u64,
    pub(crate) kills: u64,
    /// No case has too many points.
    pub(crate) every: bool,
    pub(crate) lanes: usize,
    pub(crate) seed: u64,
    pub(crate) only: Option<String>,
    pub(crate) point: Option<u64>,
    pub(crate) keep: Option<PathBuf>,
}

impl Args {
    fn new() -> Self {
        let cpus = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            seconds: 600,
            kills: 10_000,
            every: false,
            lanes: (4 * cpus).min(crate::board::LANES),
            seed: crate::system::now_ns(),
            only: None,
            point: None,
            keep: None,
        }
    }

    pub(crate) fn parse(args: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self::new();
        let mut args = args;
        while let Some(name) = args.next() {
            let mut value = || args.next().ok_or(format!("{name} needs a value"));
            match name.as_str() {
                "--seconds" => parsed.seconds = number(&value()?)?,
                "--kills" => parsed.kills = number(&value()?)?,
                "--every" => parsed.every = true,
                "--lanes" => parsed.lanes = lanes(&value()?)?,
                "--seed" => parsed.seed = number(&value()?)?,
                "--only" => parsed.only = Some(value()?),
                "--point" => parsed.point = Some(number(&value()?)?),
                "--keep" => parsed.keep = Some(value()?.into()),
                _ => return Err(format!("there is no argument {name}")),
            }
        }
        Ok(parsed)
    }

    /// Whether every point is killed at, or a sample of those of long cases.
    pub(crate) fn every_point(&self) -> bool {
        self.every || self.seconds >= 300
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
        Args::parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_are_read_and_wrong_ones_refused() {
        let args = parse("--seconds 60 --kills 300 --only split").unwrap();
        assert_eq!((args.seconds, args.kills), (60, 300));
        assert_eq!(args.only.as_deref(), Some("split"));
        assert!(!args.every_point() && parse("").unwrap().every_point());
        assert!(parse("--seconds 1 --every").unwrap().every_point());
        for bad in ["--kills", "--kills x", "--lanes 0", "--faster"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
