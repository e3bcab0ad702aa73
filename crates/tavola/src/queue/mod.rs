//! Queues: rings of element numbers, with one lock for pushing and one for popping.
//!
//! Every element has an owner's word: the participant that holds it, or 0 if it is in a queue. A
//! push changes the word to 0 and writes the number into the ring; a pop reads the number and
//! stores the popper in the word. Each becomes valid by one store: that of `tail` for a push, that
//! of `head` for a pop.
//!
//! | | before the store | after it |
//! |---|---|---|
//! | push | the pusher holds the elements, though words may say 0 | they are in the queue |
//! | pop | they are in the queue, though words may name the popper | the popper holds them |
//!
//! A journal says which words these are.
//!
//! **QUEUE-1** The journal of an end counts as long as it has the end's position. A process that
//! takes the end's lock over from a dead owner restores the words of the elements that the journal
//! names (`Ends::finish`).
//!
//! **QUEUE-2** Only the participant that holds an element pushes it, one of its threads at a time.
//! So an element is in one queue at most, and a ring, which has a slot for every element, is never
//! full.
//!
//! **QUEUE-3** An element whose word names a dead participant is lost once each end was locked
//! after the death; then any participant may take it ([`reclaim`]).

mod ends;
mod pool;
mod whole;

pub(crate) use ends::{Announced, Ends, RUN};
pub(crate) use pool::{add, create, mend, named, open};
pub(crate) use whole::{check, lost, reclaim, repair};
