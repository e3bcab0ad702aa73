//! The ways of other crates: over two bounded queues between threads, and over two
//! publish-subscribe services of iceoryx2, a sample an element.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crossbeam_queue::ArrayQueue;
use iceoryx2::port::{publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::{
    BackpressureStrategy, Config, LogLevel, Node, NodeBuilder, SignalHandlingMode, ipc,
    set_log_level,
};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use super::together;
use super::turns::{self, Channel, Done, Plan, Run, Side, WORD, fill, number, word};
use crate::clock::monotonic_ns;
use crate::duty::stay_on;
use crate::{Error, Result};

/// Before the common start of the threads.
const LEAD_NS: u64 = 3_000_000;

/// Plays a case by two threads.
pub(super) fn over_threads(plan: &Plan, cpus: [Option<usize>; 2]) -> Result<Done> {
    let sides = Array::pair(plan).into_iter().zip(cpus);
    let start_ns = monotonic_ns() + LEAD_NS;
    let play = |((side, mut channel), cpu)| {
        stay_on(cpu)?;
        turns::play(side, &mut channel, plan, start_ns)
    };
    std::thread::scope(|scope| {
        let threads = sides.map(|side| scope.spawn(move || play(side)));
        let threads: Vec<_> = threads.collect();
        let mut done = threads
            .into_iter()
            .map(|thread| thread.join().expect("the threads do not panic"));
        let mut next = || done.next().expect("there are two sides");
        together(next(), next())
    })
}

/// One side's queues, and the elements of both sides.
///
/// Words of elements are atomics, read and written relaxed, as the queues order who has which
/// element; that costs no more than plain words.
struct Array {
    from: Arc<ArrayQueue<u32>>,
    to: Arc<ArrayQueue<u32>>,
    words: Arc<Vec<AtomicU64>>,
    words_each: usize,
}

impl Array {
    /// Both sides, the starter first.
    fn pair(plan: &Plan) -> [(Side, Self); 2] {
        let queue = || Arc::new(ArrayQueue::new(plan.elements as usize + 1));
        let (there, back) = (queue(), queue());
        let words_each = plan.element_bytes / WORD;
        let of_element = |element| (0..words_each).map(move |_| AtomicU64::new(word(element, 0)));
        let words: Arc<Vec<_>> = Arc::new((0..=plan.elements).flat_map(of_element).collect());
        let side = |from: &Arc<_>, to: &Arc<_>| Self {
            from: Arc::clone(from),
            to: Arc::clone(to),
            words: Arc::clone(&words),
            words_each,
        };
        [
            (Side::Starter, side(&back, &there)),
            (Side::Returner, side(&there, &back)),
        ]
    }
}

impl Channel for Array {
    #[inline]
    fn take(&mut self, run: &mut Run, most: usize, waits: bool) -> Result<()> {
        if waits {
            std::thread::yield_now();
        }
        run.numbers.clear();
        while run.numbers.len() < most
            && let Some(element) = self.from.pop()
        {
            run.numbers.push(element);
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, run: &Run) -> Result<()> {
        let full = |_| Error::wrong("queue", "a queue with room for all elements is full");
        let mut all = run.numbers.iter();
        all.try_for_each(|&element| self.to.push(element).map_err(full))
    }

    #[inline]
    fn words(&self, element: u32) -> Option<&[AtomicU64]> {
        let begin = element as usize * self.words_each;
        Some(&self.words[begin..begin + self.words_each])
    }
}

/// One side's ports.
pub(super) struct Services {
    from: Subscriber<ipc::Service, [u8], ()>,
    to: Publisher<ipc::Service, [u8], ()>,
    each: usize,
    touched: bool,
    /// Untouched, room for an element.
    blank: Vec<u8>,
    _node: Node<ipc::Service>,
}

impl Services {
    pub(super) fn open(name: &str, side: Side, plan: &Plan) -> Result<Self> {
        set_log_level(LogLevel::Error);
        let node = NodeBuilder::new()
            .config(&Config::default())
            .signal_handling_mode(SignalHandlingMode::Disabled)
            .create::<ipc::Service>()
            .map_err(refused)?;
        let there = service(&node, &format!("{name}/a2b"), plan)?;
        let back = service(&node, &format!("{name}/b2a"), plan)?;
        let (from, to) = match side {
            Side::Starter => (back, there),
            Side::Returner => (there, back),
        };
        let to = to
            .publisher_builder()
            .initial_max_slice_len(plan.element_bytes)
            .max_loaned_samples(1)
            .backpressure_strategy(BackpressureStrategy::RetryUntilDelivered)
            .create();
        Ok(Self {
            from: from.subscriber_builder().create().map_err(refused)?,
            to: to.map_err(refused)?,
            each: plan.element_bytes,
            touched: plan.touched,
            blank: vec![0; plan.element_bytes],
            _node: node,
        })
    }
}

/// With room for all elements and the end mark, and for two sides.
fn service(
    node: &Node<ipc::Service>,
    name: &str,
    plan: &Plan,
) -> Result<PortFactory<ipc::Service, [u8], ()>> {
    node.service_builder(&name.try_into().map_err(refused)?)
        .publish_subscribe::<[u8]>()
        .max_publishers(1)
        .max_subscribers(1)
        .max_nodes(2)
        .history_size(0)
        .subscriber_max_buffer_size(plan.elements as usize + 1)
        .subscriber_max_borrowed_samples(1)
        .enable_safe_overflow(false)
        .open_or_create()
        .map_err(refused)
}

fn refused(error: impl std::fmt::Display) -> Error {
    Error::worker(format!("iceoryx2: {error}"))
}

impl Channel for Services {
    fn take(&mut self, run: &mut Run, most: usize, waits: bool) -> Result<()> {
        if waits {
            std::thread::yield_now();
        }
        run.numbers.clear();
        run.bytes.clear();
        while run.numbers.len() < most
            && let Some(sample) = self.from.receive().map_err(refused)?
        {
            run.numbers.push(number(sample.payload()));
            if self.touched {
                run.bytes.extend_from_slice(sample.payload());
            }
        }
        Ok(())
    }

    fn send(&mut self, run: &Run) -> Result<()> {
        for (at, &element) in run.numbers.iter().enumerate() {
            let bytes = if self.touched {
                &run.bytes[at * self.each..(at + 1) * self.each]
            } else {
                fill(&mut self.blank[..WORD], element);
                &self.blank
            };
            let loan = self.to.loan_slice_uninit(self.each).map_err(refused)?;
            let got = loan.write_from_slice(bytes).send().map_err(refused)?;
            if got != 1 {
                return Err(refused(format!("{got} subscribers got a sample")));
            }
        }
        Ok(())
    }

    fn words(&self, _: u32) -> Option<&[AtomicU64]> {
        None
    }
}
