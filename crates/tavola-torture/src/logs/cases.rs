//! The cases: what a log went through, and what a victim does with it.

use super::is::{DAMAGED, DEAD, DROPPED, Is, PLAIN, Turn};
use super::op::Op;
use tavola::Overload;

/// Sheets of a log, and lines of `BIG` filler that fill one.
pub(super) const SHEETS: usize = 5;
pub(super) const A_SHEET: usize = 4;
pub(super) const BIG: usize = 4000;
const ALL: usize = SHEETS * A_SHEET;
/// The longest line's filler.
pub(super) const WHOLE: usize = 16_360 - 24;

pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) overload: Overload,
    /// What the maker does.
    pub(super) before: Vec<Op>,
    pub(super) lead: Vec<Op>,
    pub(super) meant: Vec<Op>,
    pub(super) is: Is,
}

/// A case's fields in their order.
type Steps = (&'static str, Overload, Vec<Op>, Vec<Op>, Vec<Op>, Is);

pub(super) fn cases() -> Vec<Case> {
    let all = [writing(), ending(), full(), draining()];
    all.into_iter().flatten().map(Case::of).collect()
}

impl Case {
    fn of((name, overload, before, lead, meant, is): Steps) -> Self {
        Self {
            name,
            overload,
            before,
            lead,
            meant,
            is,
        }
    }
}

fn writing() -> Vec<Steps> {
    use Op::{Drain, Line, Lines, Thread};
    use Overload::DropOldest as Oldest;
    vec![
        (
            "log: a line",
            Oldest,
            vec![],
            vec![Drain, Line(40)],
            vec![Line(100), Line(0), Line(3000)],
            PLAIN,
        ),
        (
            "log: a line without a drain",
            Oldest,
            vec![],
            vec![Line(40)],
            vec![Line(100), Line(12_000), Line(5000)],
            PLAIN,
        ),
        (
            "log: the next sheet",
            Oldest,
            vec![],
            vec![Drain, Line(12_000)],
            vec![Line(9000), Line(WHOLE), Line(WHOLE), Line(40)],
            PLAIN,
        ),
        (
            "log: continue a sheet",
            Oldest,
            vec![Drain, Thread(200)],
            vec![Drain],
            vec![Line(200), Line(200)],
            PLAIN,
        ),
        (
            "log: continue a dead one's sheet",
            Oldest,
            vec![Drain, Lines(2, 200)],
            vec![Drain],
            vec![Line(200), Line(200)],
            DEAD,
        ),
    ]
}

fn ending() -> Vec<Steps> {
    use Op::{Drain, EndDrain, Finish, Line, Lines, Set, Thread};
    use Overload::DropOldest as Oldest;
    let beside = Is {
        beside: true,
        ..PLAIN
    };
    vec![
        (
            "log: the end of a thread",
            Oldest,
            vec![],
            vec![Drain, Line(40)],
            vec![Thread(300), Thread(8000), Line(9000)],
            PLAIN,
        ),
        (
            "log: drop the oldest without a drain",
            Oldest,
            vec![],
            vec![Drain, EndDrain, Lines(ALL, BIG)],
            vec![Lines(6, BIG)],
            DROPPED,
        ),
        (
            "log: beside a table",
            Oldest,
            vec![Drain, Lines(3, BIG)],
            vec![Drain, Set, Line(40)],
            vec![Set, Line(40), Set, Line(9000), Finish, Set],
            beside,
        ),
    ]
}

fn full() -> Vec<Steps> {
    use Op::{Drain, Line, Lines, Meanwhile, Pass};
    use Overload::{Block, DropNewest as Newest, DropOldest as Oldest};
    let kept = Is {
        turn: Turn::Kept,
        ..PLAIN
    };
    let dead = Is { dead: true, ..kept };
    let varying = Is {
        varying: true,
        ..kept
    };
    let drained = Is {
        drained: true,
        ..varying
    };
    let fill = || vec![Drain, Lines(ALL, BIG)];
    vec![
        (
            "log: drop the oldest",
            Oldest,
            fill(),
            vec![Drain, Line(BIG)],
            vec![Lines(9, BIG)],
            DROPPED,
        ),
        (
            "log: drop the newest",
            Newest,
            fill(),
            vec![Drain],
            vec![Lines(3, BIG), Pass, Lines(3, BIG)],
            kept,
        ),
        (
            "log: wait for the drain",
            Block,
            fill(),
            vec![Drain],
            vec![Meanwhile(BIG)],
            varying,
        ),
        (
            "log: wait for a drain beside",
            Block,
            fill(),
            vec![],
            vec![Lines(9, BIG)],
            drained,
        ),
        (
            "log: wait for a dead drain",
            Block,
            fill(),
            vec![],
            vec![Lines(2, BIG)],
            dead,
        ),
        (
            "log: drop the newest for a dead drain",
            Newest,
            fill(),
            vec![],
            vec![Lines(2, BIG)],
            dead,
        ),
    ]
}

fn draining() -> Vec<Steps> {
    use Op::{Check, Drain, EndDrain, Finish, Line, Lines, Pass, PassOver, Repair, Thread};
    use Overload::DropOldest as Oldest;
    vec![
        (
            "log: drain",
            Oldest,
            vec![Drain, Lines(5, BIG)],
            vec![Drain, Line(40)],
            vec![Pass, Line(5000), Finish, Line(40), Pass],
            PLAIN,
        ),
        (
            "log: drain what is dropped",
            Oldest,
            vec![Drain, Lines(ALL, BIG)],
            vec![Drain],
            vec![PassOver(9, BIG), Finish],
            DROPPED,
        ),
        (
            "log: the end of a drain",
            Oldest,
            vec![],
            vec![Drain, Line(40)],
            vec![EndDrain, Line(40), Drain, Line(40), EndDrain],
            PLAIN,
        ),
        (
            "log: drain after a dead drain",
            Oldest,
            vec![Drain, Lines(7, BIG)],
            vec![],
            vec![Drain, Line(40), Finish, Line(40)],
            DEAD,
        ),
        (
            "log: a line on a damaged log",
            Oldest,
            vec![Drain, Thread(BIG), Thread(BIG), Finish],
            vec![Drain],
            vec![Line(200), Thread(200), Thread(9000)],
            DAMAGED,
        ),
        (
            "log: check",
            Oldest,
            vec![Drain, Thread(BIG), Thread(BIG), Finish],
            vec![Drain],
            vec![Check],
            DAMAGED,
        ),
        (
            "log: repair",
            Oldest,
            vec![Drain, Thread(BIG), Thread(BIG), Finish],
            vec![Drain],
            vec![Repair, Thread(40), Line(40), Finish],
            DAMAGED,
        ),
    ]
}
