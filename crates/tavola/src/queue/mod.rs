//! Queues: rings of the numbers of elements, pushed and popped under a lock each.
//!
//! Every element has a word that says who holds it: a participant, or 0, then it stands in one
//! queue. A push turns the holder's number into 0 and writes the ring, a pop reads the ring and
//! turns 0 into the holder's number; each is valid by one store, that of `tail` or `head`.
//!
//! | | before the store | after it |
//! |---|---|---|
//! | push | the elements are the pusher's, though words may say 0 | they stand in the queue |
//! | pop | they stand in the queue, though words may name the popper | they are the popper's |
//!
//! Which words these are, a journal tells. So **QUEUE-1** an end's journal counts as long as it has
//! the end's position: whoever takes the end's lock over from a dead one puts the words of the
//! elements it names back (`Ends::settle`). **QUEUE-2** only the holder of an element pushes it,
//! one of its threads at a time, so an element is in one queue at most and a ring, which has a slot
//! for each, is never full. **QUEUE-3** an element whose word names a participant that is no more
//! is lost property once each end was locked after that one's death; then whoever wants it takes it
//! ([`reclaim`]).

mod ends;
mod pool;
mod whole;

pub(crate) use ends::{Announced, Ends, RUN};
pub(crate) use pool::{add, create, mend, named, open};
pub(crate) use whole::{check, lost, reclaim, repair};
