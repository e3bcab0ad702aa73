//! The way over two publish-subscribe services of iceoryx2, a sample an element.

use iceoryx2::port::{publisher::Publisher, subscriber::Subscriber};
use iceoryx2::prelude::{
    BackpressureStrategy, Config, LogLevel, Node, NodeBuilder, SignalHandlingMode, ipc,
    set_log_level,
};
use iceoryx2::service::port_factory::publish_subscribe::PortFactory;

use super::Fresh;
use crate::queue::element;
use crate::queue::job::{Plan, Side};
use crate::queue::turns::Way;
use crate::{Error, Result};

/// One side's ports.
pub(in crate::queue) struct Services {
    from: Subscriber<ipc::Service, [u8], ()>,
    to: Publisher<ipc::Service, [u8], ()>,
    each: usize,
    touched: bool,
    /// The elements of the run that was taken last, or was fresh; untouched, room for one.
    held: Vec<u8>,
    fresh: Fresh,
    _node: Node<ipc::Service>,
}

impl Services {
    pub(in crate::queue) fn open(name: &str, side: Side, plan: &Plan) -> Result<Self> {
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
            held: vec![0; plan.element_bytes],
            fresh: Fresh::new(plan.elements),
            _node: node,
        })
    }

    fn send_sample(&self, bytes: &[u8]) -> Result<()> {
        let loan = self.to.loan_slice_uninit(self.each).map_err(refused)?;
        match loan.write_from_slice(bytes).send().map_err(refused)? {
            1 => Ok(()),
            subscribers => Err(refused(format!("{subscribers} subscribers got a sample"))),
        }
    }
}

type Service = PortFactory<ipc::Service, [u8], ()>;

/// With room for all elements and the end mark, and for two sides.
fn service(node: &Node<ipc::Service>, name: &str, plan: &Plan) -> Result<Service> {
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

impl Way for Services {
    fn fresh(&mut self, out: &mut [u32]) -> Result<usize> {
        let count = self.fresh.fill(out);
        if self.touched {
            self.held.resize(count * self.each, 0);
            for (place, &element) in self.held.chunks_exact_mut(self.each).zip(&out[..count]) {
                element::fill(place, element);
            }
        }
        Ok(count)
    }

    fn take(&mut self, out: &mut [u32]) -> Result<usize> {
        if self.touched {
            self.held.clear();
        }
        let mut count = 0;
        for slot in out {
            let Some(sample) = self.from.receive().map_err(refused)? else {
                break;
            };
            *slot = element::number(element::first(sample.payload()));
            if self.touched {
                self.held.extend_from_slice(sample.payload());
            }
            count += 1;
        }
        Ok(count)
    }

    fn wait_and_take(&mut self, out: &mut [u32]) -> Result<usize> {
        std::thread::yield_now();
        self.take(out)
    }

    fn send(&mut self, run: &[u32]) -> Result<()> {
        for (at, &element) in run.iter().enumerate() {
            if !self.touched {
                let word = element::word(element, 0).to_le_bytes();
                self.held[..element::WORD].copy_from_slice(&word);
            }
            let begin = if self.touched { at * self.each } else { 0 };
            self.send_sample(&self.held[begin..begin + self.each])?;
        }
        Ok(())
    }

    fn send_end(&mut self) -> Result<()> {
        self.held.resize(self.each, 0);
        element::fill(&mut self.held, self.fresh.elements);
        self.send_sample(&self.held)
    }

    fn touch(&mut self, run: &[u32]) -> bool {
        let mut both = self.held.chunks_exact_mut(self.each).zip(run);
        both.all(|(bytes, &element)| element::is_touched(bytes, element))
    }

    fn touches(&mut self, at: usize, _: u32) -> u32 {
        element::touches(element::first(&self.held[at * self.each..]))
    }

    fn put_away(&mut self, _: &[u32]) -> Result<()> {
        Ok(())
    }
}
