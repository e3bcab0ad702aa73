//! All that a client sends and hears in a run, made before it.

use tavola_proto::binary::{self, Command, Get, Header};
use tavola_proto::meta::ask::{Flag, Flags};
use tavola_proto::text::{Store, StoreVerb, answer, ask};
use tavola_proto::{binary as packets, meta};

use super::Load;
use super::keys::{Kind, key, value};
use crate::order::Order;

/// Where the unique number is in a binary answer.
const CAS: std::ops::Range<usize> = 16..24;
/// The binary opcodes of a quiet get and of a no-op.
const GETQ: u8 = 0x09;
const NOOP: u8 = 0x0a;

/// Trips one after the other, from the first to the last and again.
#[derive(Debug, Default)]
pub(super) struct Script {
    asks: Vec<u8>,
    answers: Vec<u8>,
    /// Where the asks and the answers of each trip end.
    ends: Vec<(usize, usize)>,
    /// The keys in their order, some a trip.
    pub(super) indices: Vec<u64>,
    /// The bytes of one binary answer with a value, in which the unique number is not compared.
    stride: Option<usize>,
}

/// Of which keys and values a script is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sort {
    pub(super) kind: Kind,
    pub(super) generation: u64,
    pub(super) value_bytes: usize,
}

impl Script {
    /// All keys in a random order, as many a trip as the load has; some may be left out at the end.
    pub(super) fn of(load: Load, keys: u64, seed: u64, sort: Sort) -> Self {
        let mut order = Order::shuffled(0..keys, seed);
        let mut indices = vec![0; keys as usize];
        let mut filled = 0;
        while filled < indices.len() {
            filled += order.fill(&mut indices[filled..]);
        }
        Self::over(load, indices, sort)
    }

    /// These keys in this order.
    pub(super) fn over(load: Load, mut indices: Vec<u64>, sort: Sort) -> Self {
        indices.truncate(indices.len() / load.depth() * load.depth());
        let mut script = Self::default();
        for indices in indices.chunks(load.depth()) {
            script.trip(load, indices, sort);
            script.ends.push((script.asks.len(), script.answers.len()));
        }
        if load == Load::Binary {
            // A header, flags, the value.
            script.stride = Some(24 + 4 + sort.value_bytes);
        }
        script.indices = indices;
        script
    }

    fn trip(&mut self, load: Load, indices: &[u64], sort: Sort) {
        if load == Load::Multiget {
            let keys = indices.iter().map(|index| key(sort.kind, *index));
            ask::get(&mut self.asks, keys, false).expect("keys are words");
        }
        let last = indices.len() - 1;
        for (at, index) in indices.iter().enumerate() {
            let key = key(sort.kind, *index);
            let mut data = Vec::with_capacity(sort.value_bytes);
            value(*index, sort.generation, sort.value_bytes, &mut data);
            match load {
                Load::Get | Load::Get50 | Load::Pipe10 | Load::Pipe100 => {
                    ask::get(&mut self.asks, [key], false).expect("keys are words");
                    answer::value(&mut self.answers, &key, 0, &data, None);
                    self.answers.extend_from_slice(answer::END);
                }
                Load::Multiget => answer::value(&mut self.answers, &key, 0, &data, None),
                Load::Meta => self.meta(&key, &data),
                Load::Binary => self.binary(&key, &data, at as u32),
                Load::Set | Load::SetPipe => self.set(&key, &data, false),
                Load::SetNoreply => self.set(&key, &data, at != last),
                // It has no trips.
                Load::Memory => {}
            }
        }
        match load {
            Load::Multiget => self.answers.extend_from_slice(answer::END),
            Load::Binary => {
                let asked = binary::ask::request(&mut self.asks, [9; 4], &Command::Noop, false);
                asked.expect("there is nothing to refuse");
                packets::answer::done(&mut self.answers, &header(NOOP, [9; 4]), 0);
            }
            _ => {}
        }
    }

    fn meta(&mut self, key: &[u8], data: &[u8]) {
        let flags = Flags::of(&[Flag::ReturnKey, Flag::ReturnValue]);
        meta::ask::get(&mut self.asks, key, &flags).expect("keys are words");
        let head = format!("VA {} k", data.len());
        for part in [head.as_bytes(), key, b"\r\n", data, b"\r\n"] {
            self.answers.extend_from_slice(part);
        }
    }

    fn binary(&mut self, key: &[u8], data: &[u8], opaque: u32) {
        let get = Command::Get(Get {
            key,
            with_key: false,
            touch: None,
        });
        let opaque = opaque.to_be_bytes();
        binary::ask::request(&mut self.asks, opaque, &get, true).expect("keys are short");
        packets::answer::value(&mut self.answers, &header(GETQ, opaque), &[], 0, data, 0);
    }

    fn set(&mut self, key: &[u8], data: &[u8], noreply: bool) {
        let store = Store {
            verb: StoreVerb::Set,
            key,
            flags: 0,
            exptime: 0,
            data,
            noreply,
        };
        ask::store(&mut self.asks, &store).expect("keys are words");
        if !noreply {
            self.answers.extend_from_slice(answer::STORED);
        }
    }

    pub(super) fn trips(&self) -> usize {
        self.ends.len()
    }

    /// What is sent in a trip, and what comes back.
    pub(super) fn trip_at(&self, at: usize) -> (&[u8], &[u8]) {
        let (ask_start, answer_start) = match at {
            0 => (0, 0),
            _ => self.ends[at - 1],
        };
        let (ask_end, answer_end) = self.ends[at];
        (
            &self.asks[ask_start..ask_end],
            &self.answers[answer_start..answer_end],
        )
    }

    /// The bytes of the longest answer.
    pub(super) fn longest(&self) -> usize {
        let trips = 0..self.trips();
        trips.map(|at| self.trip_at(at).1.len()).max().unwrap_or(0)
    }

    /// Takes away from `received` what need not be as expected, from the byte `from` on.
    pub(super) fn forget_numbers(&self, received: &mut [u8], from: usize) {
        let Some(stride) = self.stride else { return };
        let mut start = from / stride * stride;
        while start < received.len() {
            let end = (start + CAS.end).min(received.len());
            if let Some(cas) = received.get_mut(start + CAS.start..end) {
                cas.fill(0);
            }
            start += stride;
        }
    }
}

fn header(opcode: u8, opaque: [u8; 4]) -> Header {
    Header { opcode, opaque }
}
