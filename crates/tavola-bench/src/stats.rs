//! Medians and spreads of runs.

/// Least, median and most of some figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) least: f64,
    pub(crate) median: f64,
    pub(crate) most: f64,
}

impl Spread {
    /// Returns the spread of the figures, of which there is at least one. The median of an even
    /// number is the middle between the two in the middle.
    pub(crate) fn of(figures: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = figures.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len() - 1;
        Self {
            least: sorted[0],
            median: f64::midpoint(sorted[last / 2], sorted[sorted.len() / 2]),
            most: sorted[last],
        }
    }
}

/// The median of some figures, of which there is at least one.
pub(crate) fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    Spread::of(figures).median
}

/// The run of median rate; of an even number, the slower of the two in the middle.
pub(crate) fn median_run<T>(runs: &[T], rate: impl Fn(&T) -> f64) -> &T {
    let mut sorted: Vec<&T> = runs.iter().collect();
    sorted.sort_by(|one, other| rate(one).total_cmp(&rate(other)));
    sorted[(sorted.len() - 1) / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        let (least, median, most) = (1.0, 2.0, 4.0);
        assert_eq!(
            Spread::of([4.0, 1.0, 2.0]),
            Spread {
                least,
                median,
                most
            }
        );
        assert_eq!(super::median([3.0, 1.0]), 2.0);
        assert_eq!(*median_run(&[4.0, 1.0, 2.0, 8.0], |run| *run), 2.0);
    }
}
