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

pub(super) fn cases() -> Vec<Case> {
    let all = [writing(), ending(), full(), draining()];
    all.into_iter().flatten().collect()
}

fn writing() -> Vec<Case> {
    use Op::{Drain, Line, Lines, Thread};
    use Overload::DropOldest as Oldest;
    vec![
        Case {
            name: "log: a line",
            overload: Oldest,
            before: vec![],
            lead: vec![Drain, Line(40)],
            meant: vec![Line(100), Line(0), Line(3000)],
            is: PLAIN,
        },
        Case {
            name: "log: a line without a drain",
            overload: Oldest,
            before: vec![],
            lead: vec![Line(40)],
            meant: vec![Line(100), Line(12_000), Line(5000)],
            is: PLAIN,
        },
        Case {
            name: "log: the next sheet",
            overload: Oldest,
            before: vec![],
            lead: vec![Drain, Line(12_000)],
            meant: vec![Line(9000), Line(WHOLE), Line(WHOLE), Line(40)],
            is: PLAIN,
        },
        Case {
            name: "log: continue a sheet",
            overload: Oldest,
            before: vec![Drain, Thread(200)],
            lead: vec![Drain],
            meant: vec![Line(200), Line(200)],
            is: PLAIN,
        },
        Case {
            name: "log: continue a dead one's sheet",
            overload: Oldest,
            before: vec![Drain, Lines(2, 200)],
            lead: vec![Drain],
            meant: vec![Line(200), Line(200)],
            is: DEAD,
        },
    ]
}

fn ending() -> Vec<Case> {
    use Op::{Drain, EndDrain, Finish, Line, Lines, Set, Thread};
    use Overload::DropOldest as Oldest;
    let beside = Is {
        beside: true,
        ..PLAIN
    };
    vec![
        Case {
            name: "log: the end of a thread",
            overload: Oldest,
            before: vec![],
            lead: vec![Drain, Line(40)],
            meant: vec![Thread(300), Thread(8000), Line(9000)],
            is: PLAIN,
        },
        Case {
            name: "log: drop the oldest without a drain",
            overload: Oldest,
            before: vec![],
            lead: vec![Drain, EndDrain, Lines(ALL, BIG)],
            meant: vec![Lines(6, BIG)],
            is: DROPPED,
        },
        Case {
            name: "log: beside a table",
            overload: Oldest,
            before: vec![Drain, Lines(3, BIG)],
            lead: vec![Drain, Set, Line(40)],
            meant: vec![Set, Line(40), Set, Line(9000), Finish, Set],
            is: beside,
        },
    ]
}

fn full() -> Vec<Case> {
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
        Case {
            name: "log: drop the oldest",
            overload: Oldest,
            before: fill(),
            lead: vec![Drain, Line(BIG)],
            meant: vec![Lines(9, BIG)],
            is: DROPPED,
        },
        Case {
            name: "log: drop the newest",
            overload: Newest,
            before: fill(),
            lead: vec![Drain],
            meant: vec![Lines(3, BIG), Pass, Lines(3, BIG)],
            is: kept,
        },
        Case {
            name: "log: wait for the drain",
            overload: Block,
            before: fill(),
            lead: vec![Drain],
            meant: vec![Meanwhile(BIG)],
            is: varying,
        },
        Case {
            name: "log: wait for a drain beside",
            overload: Block,
            before: fill(),
            lead: vec![],
            meant: vec![Lines(9, BIG)],
            is: drained,
        },
        Case {
            name: "log: wait for a dead drain",
            overload: Block,
            before: fill(),
            lead: vec![],
            meant: vec![Lines(2, BIG)],
            is: dead,
        },
        Case {
            name: "log: drop the newest for a dead drain",
            overload: Newest,
            before: fill(),
            lead: vec![],
            meant: vec![Lines(2, BIG)],
            is: dead,
        },
    ]
}

fn draining() -> Vec<Case> {
    use Op::{Check, Drain, EndDrain, Finish, Line, Lines, Pass, PassOver, Repair, Thread};
    use Overload::DropOldest as Oldest;
    vec![
        Case {
            name: "log: drain",
            overload: Oldest,
            before: vec![Drain, Lines(5, BIG)],
            lead: vec![Drain, Line(40)],
            meant: vec![Pass, Line(5000), Finish, Line(40), Pass],
            is: PLAIN,
        },
        Case {
            name: "log: drain what is dropped",
            overload: Oldest,
            before: vec![Drain, Lines(ALL, BIG)],
            lead: vec![Drain],
            meant: vec![PassOver(9, BIG), Finish],
            is: DROPPED,
        },
        Case {
            name: "log: the end of a drain",
            overload: Oldest,
            before: vec![],
            lead: vec![Drain, Line(40)],
            meant: vec![EndDrain, Line(40), Drain, Line(40), EndDrain],
            is: PLAIN,
        },
        Case {
            name: "log: drain after a dead drain",
            overload: Oldest,
            before: vec![Drain, Lines(7, BIG)],
            lead: vec![],
            meant: vec![Drain, Line(40), Finish, Line(40)],
            is: DEAD,
        },
        Case {
            name: "log: a line on a damaged log",
            overload: Oldest,
            before: vec![Drain, Thread(BIG), Thread(BIG), Finish],
            lead: vec![Drain],
            meant: vec![Line(200), Thread(200), Thread(9000)],
            is: DAMAGED,
        },
        Case {
            name: "log: check",
            overload: Oldest,
            before: vec![Drain, Thread(BIG), Thread(BIG), Finish],
            lead: vec![Drain],
            meant: vec![Check],
            is: DAMAGED,
        },
        Case {
            name: "log: repair",
            overload: Oldest,
            before: vec![Drain, Thread(BIG), Thread(BIG), Finish],
            lead: vec![Drain],
            meant: vec![Repair, Thread(40), Line(40), Finish],
            is: DAMAGED,
        },
    ]
}
