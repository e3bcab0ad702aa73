//! The end of a game: all elements come home, and are counted.

use super::job::{Done, Plan};
use super::turns::{Way, take, touch, without_mark};
use crate::{Error, Result};

pub(super) fn wrong<T>(what: String) -> Result<T> {
    Err(Error::wrong("queue", what))
}

/// The elements that are home again.
pub(super) struct Home<'a> {
    plan: &'a Plan,
    is_here: Vec<bool>,
    /// Without the end mark.
    pub(super) held: Vec<u32>,
    touches: u64,
}

impl<'a> Home<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            is_here: vec![false; plan.elements as usize],
            held: Vec::with_capacity(plan.elements as usize),
            touches: 0,
        }
    }

    /// Takes what is on the way.
    pub(super) fn until_mark(
        &mut self,
        way: &mut impl Way,
        run: &mut [u32],
        done: &mut Done,
    ) -> Result<()> {
        loop {
            let count = take(way, run)?;
            let (elements, is_end) = without_mark(&run[..count], self.plan);
            done.taken += elements.len() as u64;
            touch(way, self.plan, elements)?;
            self.note(way, elements)?;
            if is_end {
                return Ok(());
            }
        }
    }

    /// Takes what never moved.
    pub(super) fn rest(&mut self, way: &mut impl Way, run: &mut [u32]) -> Result<()> {
        loop {
            match way.fresh(run)? {
                0 => return Ok(()),
                count => self.note(way, &run[..count])?,
            }
        }
    }

    fn note(&mut self, way: &mut impl Way, run: &[u32]) -> Result<()> {
        for (at, &element) in run.iter().enumerate() {
            match self.is_here.get_mut(element as usize) {
                Some(is_here) if !*is_here => *is_here = true,
                Some(_) => return wrong(format!("element {element} came home twice")),
                None => return wrong(format!("there is no element {element}")),
            }
            if self.plan.touched {
                self.touches += u64::from(way.touches(at, element));
            }
        }
        self.held.extend_from_slice(run);
        Ok(())
    }

    pub(super) fn check(&self, done: &Done) -> Result<()> {
        let (held, elements) = (self.held.len(), self.plan.elements);
        if held != elements as usize {
            return wrong(format!("{held} of {elements} elements came home"));
        }
        if done.taken != done.sent {
            let Done { sent, taken, .. } = done;
            return wrong(format!("{sent} moves there and {taken} back"));
        }
        let expected = if self.plan.touched { 2 * done.sent } else { 0 };
        if self.touches != expected {
            let touches = self.touches;
            return wrong(format!(
                "{touches} touches of {expected} are in the elements"
            ));
        }
        Ok(())
    }
}
