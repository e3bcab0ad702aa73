//! Operations on queues that may be damaged.

use super::place::Which;
use super::template::template;
use crate::memory::file;
use crate::op::{Key, Value};
use arbitrary::Arbitrary;
use std::collections::BTreeSet;
use std::time::Duration;
use tavola::{Error, Queue, QueueOptions, QueuePool, Result, Table};

/// Pools that one input may make: each may have to wait for another's.
const MOST_MADE: usize = 2;
/// Checks of one input: each takes a tenth of a second where it finds something.
const MOST_CHECKS: usize = 1;
/// More than the elements of a pool, and less than a run that is pushed at once.
const MOST: usize = 200;
const TIMEOUT: Duration = Duration::from_micros(300);

/// An element by its number, or by its place among those that were popped.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(super) enum Element {
    Number(u8),
    Held(u8),
    Any(u32),
}

/// An operation on one of the pools.
#[derive(Arbitrary, Clone, Debug)]
pub(super) enum Op {
    Push(u8, Element),
    PushMany(u8, [Element; 4]),
    PushAll(u8),
    Pop(u8),
    PopMany(u8, u8),
    PopWait(u8),
    Pass(u8, u8, u16),
    Len(u8),
    Lost,
    Reclaim,
    Read(Element, u16),
    Write(Element, u16),
    Open,
    /// Another pool, or one that is there.
    Create(Option<Which>),
    Get(Key),
    Set(Key, Value),
    Remove(Key),
    Check,
    Describe,
    /// Whatever can be seen without a participant.
    ReadOnly,
}

/// Damage may be reported; nothing else may go wrong.
pub(super) fn tolerate<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(answer) => Some(answer),
        Err(
            Error::Corrupt { .. }
            | Error::Full { .. }
            | Error::NotHeld { .. }
            | Error::NotThere { .. }
            | Error::AlreadyThere { .. }
            | Error::BadName { .. },
        ) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A pool as it was opened, if it could be, and the elements that were popped of it.
pub(super) struct Held {
    pub(super) pool: Option<QueuePool>,
    pub(super) elements: BTreeSet<u32>,
}

pub(super) struct Player<'a> {
    table: &'a Table,
    pub(super) pools: [Held; 2],
    made: usize,
    checked: usize,
}

impl<'a> Player<'a> {
    pub(super) fn new(table: &'a Table) -> Self {
        let pools = template().pools.map(|pool| Held {
            pool: tolerate(table.pool(pool.name)),
            elements: BTreeSet::new(),
        });
        Self {
            table,
            pools,
            made: 0,
            checked: 0,
        }
    }

    pub(super) fn play(&mut self, which: Which, op: &Op) -> Result<()> {
        let table = self.table;
        match *op {
            Op::Get(key) => table.get(&key.bytes()).map(drop),
            Op::Set(key, value) => table.set(&key.bytes(), &value.bytes()),
            Op::Remove(key) => table.remove(&key.bytes()).map(drop),
            Op::Check | Op::ReadOnly if self.checked == MOST_CHECKS => Ok(()),
            Op::Check => {
                self.checked += 1;
                table.check().map(drop)
            }
            Op::Open => {
                let held = &mut self.pools[which as usize];
                // The same handle as before: what was popped by it is still held.
                table
                    .pool(template().pools[which as usize].name)
                    .map(|pool| {
                        held.pool = Some(pool);
                    })
            }
            Op::Create(which) => self.create(which),
            Op::ReadOnly => {
                self.checked += 1;
                read_only(template().pools[which as usize].name)
            }
            _ => match self.pools[which as usize].pool.clone() {
                Some(pool) => self.pools[which as usize].play(&pool, op),
                None => Ok(()),
            },
        }
    }

    fn create(&mut self, which: Option<Which>) -> Result<()> {
        if self.made == MOST_MADE {
            return Ok(());
        }
        self.made += 1;
        let name = which.map_or("more", |which| template().pools[which as usize].name);
        let pool = QueueOptions::new(3, 9).create_in(self.table, name)?;
        let free = pool.queue("free")?;
        let element = free.pop()?.expect("a pool that was just made has elements");
        pool.write(element, 1, b"element")?;
        free.push(element)
    }
}

impl Held {
    fn number(&self, pool: &QueuePool, element: Element) -> u32 {
        match element {
            // One more: a number that is no element's.
            Element::Number(n) => u32::from(n) % (pool.elements() + 1),
            Element::Held(n) => {
                let nth = usize::from(n) % self.elements.len().max(1);
                self.elements.iter().nth(nth).copied().unwrap_or(0)
            }
            Element::Any(n) => n,
        }
    }

    fn play(&mut self, pool: &QueuePool, op: &Op) -> Result<()> {
        match *op {
            Op::Push(queue, element) => {
                let element = self.number(pool, element);
                queue_of(pool, queue)?.push(element)?;
                self.elements.remove(&element);
            }
            Op::PushMany(queue, elements) => {
                let elements = elements.map(|element| self.number(pool, element));
                self.push(&queue_of(pool, queue)?, &elements)?;
            }
            Op::PushAll(queue) => {
                let elements: Vec<u32> = self.elements.iter().copied().collect();
                self.push(&queue_of(pool, queue)?, &elements)?;
            }
            Op::Pop(queue) => self.elements.extend(queue_of(pool, queue)?.pop()?),
            Op::PopMany(queue, most) => {
                let mut run = [0; MOST];
                let count =
                    queue_of(pool, queue)?.pop_many(&mut run[..usize::from(most) % MOST])?;
                self.elements.extend(&run[..count]);
            }
            Op::PopWait(queue) => {
                let popped = queue_of(pool, queue)?.pop_wait(TIMEOUT)?;
                self.elements.extend(popped);
            }
            Op::Pass(from, to, most) => {
                let (from, to) = (queue_of(pool, from)?, queue_of(pool, to)?);
                from.pass(&to, usize::from(most))?;
            }
            Op::Reclaim => self.elements.extend(pool.reclaim()?),
            Op::Read(element, at) => self.touch(pool, element, at, false)?,
            Op::Write(element, at) => self.touch(pool, element, at, true)?,
            _ => inspect(pool, op)?,
        }
        Ok(())
    }

    fn push(&mut self, queue: &Queue, elements: &[u32]) -> Result<()> {
        queue.push_many(elements)?;
        self.elements.retain(|element| !elements.contains(element));
        Ok(())
    }

    /// Some bytes of an element, which need not be held.
    fn touch(&self, pool: &QueuePool, element: Element, at: u16, write: bool) -> Result<()> {
        let element = self.number(pool, element);
        let at = u32::from(at) % (pool.element_bytes() + 1);
        let mut bytes = vec![7; 9.min(pool.element_bytes() - at) as usize];
        match write {
            true => pool.write(element, at, &bytes),
            false => pool.read(element, at, &mut bytes),
        }
    }
}

/// Runs an operation that changes nothing.
fn inspect(pool: &QueuePool, op: &Op) -> Result<()> {
    match *op {
        Op::Len(queue) => {
            let len = queue_of(pool, queue)?.len();
            assert!(len <= pool.elements() as usize, "more than all elements");
        }
        Op::Lost => {
            let lost = pool.lost()?;
            assert!(lost.iter().all(|element| *element < pool.elements()));
        }
        Op::Describe => drop(format!("{pool:?} {:?}", pool.queues())),
        _ => {}
    }
    Ok(())
}

fn read_only(name: &str) -> Result<()> {
    let table = Table::open_read_only(&file().1)?;
    table.check()?;
    table.pools()?;
    let pool = table.pool(name)?;
    assert!(matches!(pool.lost(), Err(Error::ReadOnly)));
    let queue = queue_of(&pool, 0)?;
    assert!(
        queue.len() <= pool.elements() as usize,
        "more than all elements"
    );
    assert!(matches!(queue.pop(), Err(Error::ReadOnly)));
    Ok(())
}

/// A queue by its number, as far as its name says which it is.
fn queue_of(pool: &QueuePool, number: u8) -> Result<Queue> {
    let names = pool.queues();
    let nth = usize::from(number) % names.len().max(1);
    pool.queue(names.get(nth).map_or("", String::as_str))
}
