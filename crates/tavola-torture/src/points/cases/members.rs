//! Participants that come, go, die, and are cleared away.

use super::super::builder::{Builder, key};
use super::super::case::{Case, Prepared, Start};
use super::super::{Lane, Run};
use crate::image::Image;
use crate::system::{fork, wait};
use crate::value::sealed;
use tavola::Table;
use tavola_model::Op;

/// Participant slots of a table.
const SLOTS: u32 = 1023;
/// The write after which a process looks for dead ones.
const CHECK_EVERY: u32 = 1024;

pub(super) fn cases(run: &Run<'_>) -> Prepared<Vec<Case>> {
    let mut cases = Vec::new();
    let some = Builder::some(run.scratch)?.image()?;
    let set = || Op::Set(key(1), sealed(&key(1), 2, 20));
    let attach = Case::new("open and attach", some.clone(), vec![set()]);
    cases.push(attach.armed_from_start());
    cases.push(Case::new("detach", some.clone(), Vec::new()).closes());
    dead(run, &some, &mut cases)?;
    let crowd = crowded(run, &some.0)?;
    let crowd = Case::new(
        "attach where all slots are dead ones'",
        (crowd, some.1),
        vec![set()],
    );
    cases.push(crowd.armed_from_start());
    Ok(cases)
}

/// Clearing away one that died with pages in its hands.
fn dead(run: &Run<'_>, some: &Start, cases: &mut Vec<Case>) -> Prepared<()> {
    let lane: Lane<'_> = run.lane(0);
    let large = Op::Set(b"large".to_vec(), sealed(b"large", 2, 200_000));
    let builds = Case::new("reclaim", some.clone(), vec![large]);
    // A third into the set of a large value, half of its pages are written.
    for (name, point) in [
        ("reclaim one that wrote a large value", 60),
        ("reclaim one just begun", 3),
    ] {
        let left = lane.aftermath(&builds, point)?;
        let mut case = left.ok_or("the one to be reclaimed did not die")?;
        case.name = name.to_owned();
        case.is_aftermath = false;
        case.ops = vec![Op::Reclaim];
        cases.push(case);
    }
    let left = lane.aftermath(&builds, 60)?;
    let mut case = left.ok_or("the one to be reclaimed did not die")?;
    case.name = "writes that stumble over a dead one".to_owned();
    case.is_aftermath = false;
    case.ops = (0..CHECK_EVERY + 20)
        .map(|n| Op::Set(key(n % 40), sealed(&key(n % 40), u64::from(n) + 2, 20)))
        .collect();
    case.prelude = CHECK_EVERY as usize - 20;
    cases.push(case);
    Ok(())
}

/// The file with every slot taken by a process that died.
fn crowded(run: &Run<'_>, image: &Image) -> Prepared<Image> {
    let path = run.scratch.path("prepared");
    image.store(&path)?;
    for _ in 0..SLOTS {
        // Ends without detaching; nobody takes its slot before it is cleared away.
        let pid = fork(|| match Table::options().open_existing(&path) {
            Ok(table) => {
                let attached = table.participants().is_ok();
                std::mem::forget(table);
                i32::from(!attached)
            }
            Err(_) => 1,
        })?;
        wait(pid)?;
    }
    let taken = Table::open_read_only(&path)?.stats()?.participants;
    if taken != SLOTS {
        return Err(format!("{taken} slots are taken, not all {SLOTS}").into());
    }
    Ok(Image::load(&path)?)
}
