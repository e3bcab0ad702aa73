//! The trials, on stores that are made to fail: each fault must be seen, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::ground::{Extent, Ground};
use super::job::Job;
use super::stores::Subject;
use super::worker::stores::Store;
use super::{Outcome, Program, Served, Trial, Trying, Verdict, kills, namespace, trials, worker};

/// What is wrong with each is in its name.
pub(super) const TOYS: &[Subject] = &[
    Subject::toy("sound", false),
    Subject::toy("loses", false),
    Subject::toy("hangs", false),
    Subject::toy("tears", false),
    Subject::toy("miscounts", false),
    Subject::toy("grows", false),
    Subject::toy("shortens", false),
    Subject::toy("dies", false),
    Subject::toy("dawdles", false),
    Subject::toy("serves", true),
    Subject::toy("forgets", true),
    Subject::toy("stays-away", true),
    Subject::toy("leaves-waiting", true),
];

const EXTENT: Extent = Extent {
    kills: 3,
    server_kills: 2,
    bound: Duration::from_secs(60),
    mourning: Duration::from_secs(60),
    churn: 2000,
    churn_time: Duration::from_secs(60),
    increments: 300,
};

/// Files written beside and renamed, with a fault.
struct Toy {
    folder: PathBuf,
    fault: String,
    puts: u64,
    /// A file that is there while its server lives.
    server: Option<PathBuf>,
}

impl Toy {
    fn open(job: &Job) -> Result<Box<dyn Store>, String> {
        fs::create_dir_all(&job.store).map_err(|error| error.to_string())?;
        let toy = Self {
            folder: job.store.clone(),
            fault: job.peer.clone(),
            puts: 0,
            server: (!job.address.is_empty()).then(|| PathBuf::from(&job.address)),
        };
        toy.ask_server()?;
        if toy.has("hangs") {
            fs::write(toy.mine(), "").map_err(|error| error.to_string())?;
        }
        Ok(Box::new(toy))
    }

    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// A file that is there while this process has the store open, or was killed having it.
    fn mine(&self) -> PathBuf {
        self.folder.join(format!("open-{}", std::process::id()))
    }

    /// Forever, if there are any.
    fn wait_for_the_dead(&self) {
        let is_dead = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap_or_default();
            let pid = name.strip_prefix("open-");
            pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists() && entry.path().exists())
        };
        let any_is = || fs::read_dir(&self.folder).is_ok_and(|all| all.flatten().any(is_dead));
        while self.has("hangs") && any_is() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn path(&self, key: &[u8]) -> PathBuf {
        let name = String::from_utf8_lossy(key);
        self.folder
            .join(format!("{}-{}", name.len(), &name[..name.len().min(60)]))
    }

    fn ask_server(&self) -> Result<(), String> {
        while self.server.as_ref().is_some_and(|file| !file.exists()) {
            if !self.has("leaves-waiting") {
                return Err("the server is gone".to_owned());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn replace(&self, key: &[u8], value: &[u8]) -> Result<(), String> {
        let beside = self.folder.join(format!("new-{}", std::process::id()));
        let done = fs::write(&beside, value).and_then(|()| fs::rename(&beside, self.path(key)));
        done.map_err(|error| error.to_string())
    }
}

impl Drop for Toy {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.mine());
    }
}

impl Store for Toy {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), String> {
        self.puts += 1;
        self.ask_server()?;
        if self.has("dawdles") {
            std::thread::sleep(Duration::from_millis(5));
        }
        if self.has("dies") && self.puts > 20 {
            std::process::abort();
        }
        self.wait_for_the_dead();
        // Not the first, by which a process sees whether a put works.
        let value = match self.has("tears") && self.puts % 3 != 1 {
            true => &value[..value.len() / 2],
            false => value,
        };
        if !(self.has("loses") && self.puts.is_multiple_of(3)) {
            self.replace(key, value)?;
        }
        if self.has("grows") {
            let grown = self.folder.join(format!("old-{}", self.puts));
            fs::write(grown, value).map_err(|error| error.to_string())?;
        }
        self.ask_server()
    }

    fn get(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>, String> {
        self.wait_for_the_dead();
        self.ask_server()?;
        let mut value = fs::read(self.path(key)).ok();
        if let Some(value) = &mut value
            && self.has("shortens")
        {
            value.truncate(1 << 20);
        }
        Ok(value)
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), String> {
        let _ = fs::remove_file(self.path(key));
        Ok(())
    }

    fn add_one(&mut self, key: &[u8]) -> Result<&'static str, String> {
        let lock = self.folder.join("count");
        let alone = !self.has("miscounts");
        while alone && fs::File::create_new(&lock).is_err() {
            std::thread::yield_now();
        }
        let text = fs::read_to_string(self.path(key)).unwrap_or_default();
        let number: u64 = text.parse().unwrap_or(0);
        if !alone {
            std::thread::sleep(Duration::from_micros(200));
        }
        self.replace(key, (number + 1).to_string().as_bytes())?;
        if alone {
            let _ = fs::remove_file(&lock);
        }
        Ok("a file that is there or not")
    }

    fn hold(&mut self, _key: &[u8]) -> Result<&'static str, String> {
        Ok("nothing")
    }
}

/// What a toy's server is: a file that is there or not.
struct ToyServer {
    fault: &'static str,
    store: PathBuf,
    lives: PathBuf,
    /// Where all that it forgets goes.
    lost: PathBuf,
}

impl Served for ToyServer {
    fn renew(&mut self) -> crate::Result<String> {
        fs::write(&self.lives, "").unwrap();
        Ok(self.lives.display().to_string())
    }

    fn kill(&mut self) -> crate::Result<()> {
        fs::remove_file(&self.lives).unwrap();
        if self.fault == "forgets" {
            // In one step: a process in the middle of a put finds no folder, and gets an error.
            let lost = tempfile::tempdir_in(&self.lost).unwrap().keep();
            fs::rename(&self.store, lost.join("store")).unwrap();
        }
        Ok(())
    }

    fn start_again(&mut self) -> Result<String, String> {
        match self.fault {
            "stays-away" => Err("it says no".to_owned()),
            _ => Ok(self.renew().unwrap()),
        }
    }

    fn size(&self) -> (u64, &'static str) {
        (0, "nothing")
    }

    fn within(&self, _room: &Path, _folder: &Path) -> Option<String> {
        None
    }
}

/// In a process of a trial: does its job. The runner of tests is asked to run this one test, and
/// the job is the last argument. In an ordinary run it looks whether a toy keeps a value.
#[test]
fn a_toy_does_its_job() {
    let last = std::env::args().next_back().unwrap_or_default();
    if last.starts_with('{') {
        worker::work_on(&last, Toy::open).unwrap();
        std::process::exit(0);
    }
    let dir = tempfile::tempdir().unwrap();
    let (_board, job) = ground("sound", dir.path()).round().unwrap();
    let mut toy = Toy::open(&job).unwrap();
    toy.put(b"a", b"1").unwrap();
    assert_eq!(toy.get(b"a").unwrap().as_deref(), Some(&b"1"[..]));
}

fn program() -> Program {
    let test = "compare::torment::tests::a_toy_does_its_job";
    Program {
        program: std::env::current_exe().unwrap(),
        args: [test, "--exact", "--nocapture", "--quiet"]
            .map(str::to_owned)
            .to_vec(),
        forks: false,
    }
}

fn ground(name: &str, folder: &Path) -> Ground<'static> {
    let subject = *TOYS.iter().find(|toy| toy.name == name).unwrap();
    Ground::new(subject, EXTENT, &program(), folder, None).unwrap()
}

type Run = fn(&mut Ground<'_>) -> Trying<Verdict>;

fn verdict(name: &str, run: Run) -> Verdict {
    let dir = tempfile::tempdir().unwrap();
    super::verdict(run(&mut ground(name, dir.path()))).unwrap()
}

#[track_caller]
fn comes_to(name: &str, run: Run, outcome: Outcome) {
    let verdict = verdict(name, run);
    assert_eq!(verdict.outcome, outcome, "{name}: {verdict:?}");
}

fn verdict_of_server(fault: &'static str, run: Run, mourning: Duration) -> Verdict {
    let dir = tempfile::tempdir().unwrap();
    let mut server = ToyServer {
        fault,
        store: dir.path().join("store"),
        lives: dir.path().join("lives"),
        lost: dir.path().to_owned(),
    };
    let subject = *TOYS.iter().find(|toy| toy.name == fault).unwrap();
    let extent = Extent { mourning, ..EXTENT };
    let server = Some(&mut server as &mut dyn Served);
    let mut ground = Ground::new(subject, extent, &program(), dir.path(), server).unwrap();
    super::verdict(run(&mut ground)).unwrap()
}

#[test]
fn keys_that_a_killed_server_keeps_or_loses_are_reported() {
    let verdict = |fault| verdict_of_server(fault, kills::of_servers, EXTENT.mourning);
    let kept = verdict("serves");
    assert_eq!(kept.outcome, Outcome::Holds, "{kept:?}");
    assert!(
        kept.detail.contains("none of 64 values was lost"),
        "{kept:?}"
    );
    assert_eq!(kept.trials, EXTENT.server_kills);
    let lost = verdict("forgets");
    assert_eq!(lost.outcome, Outcome::Loses, "{lost:?}");
    assert!(lost.detail.contains("all 64 values were lost"), "{lost:?}");
}

#[test]
fn a_server_that_does_not_start_again_is_asked_once() {
    let verdict = verdict_of_server("stays-away", kills::of_servers, EXTENT.mourning);
    assert_eq!((verdict.outcome, verdict.trials), (Outcome::Ruined, 1));
    assert!(
        verdict
            .detail
            .ends_with("it did not serve again; it says no")
    );
}

#[test]
fn a_wait_for_a_dead_server_is_noticed_in_time() {
    let begun = Instant::now();
    let mourning = Duration::from_secs(2);
    let verdict = verdict_of_server("leaves-waiting", kills::of_servers, mourning);
    assert_eq!(verdict.outcome, Outcome::Hangs, "{verdict:?}");
    assert!(verdict.detail.contains("6 clients hung"), "{verdict:?}");
    assert!(begun.elapsed() < 5 * EXTENT.bound);
}

#[test]
fn a_store_without_a_server_has_none_to_kill() {
    comes_to("sound", kills::of_servers, Outcome::NotApplicable);
}

/// What a server has in its own memory fills no disk.
#[test]
fn a_server_without_a_data_folder_fills_none() {
    let fill: Run = |ground| {
        let nowhere = Path::new("/nowhere");
        namespace::run(ground, &program(), &program(), nowhere, Trial::Full)
    };
    let verdict = verdict_of_server("serves", fill, EXTENT.mourning);
    assert_eq!(verdict.outcome, Outcome::NotApplicable, "{verdict:?}");
    assert!(verdict.detail.contains("in its own memory"), "{verdict:?}");
}

#[test]
fn a_sound_store_holds_in_all_trials() {
    for run in [
        kills::of_writers,
        trials::counters,
        trials::old_reader,
        trials::limits,
    ] as [Run; 4]
    {
        comes_to("sound", run, Outcome::Holds);
    }
}

#[test]
fn writes_that_are_lost_are_missed() {
    comes_to("loses", kills::of_writers, Outcome::Loses);
}

#[test]
fn values_cut_short_are_seen() {
    let verdict = verdict("tears", kills::of_writers);
    assert_eq!(verdict.outcome, Outcome::Loses, "{verdict:?}");
    assert!(verdict.detail.contains("cut short"), "{verdict:?}");
    assert!(
        verdict.detail.contains("% of"),
        "a reader sees them, too: {verdict:?}"
    );
}

#[test]
fn a_wait_for_a_dead_process_is_noticed_in_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut ground = ground("hangs", dir.path());
    ground.extent.mourning = Duration::from_secs(2);
    ground.extent.kills = 1;
    let verdict = super::verdict(kills::of_writers(&mut ground)).unwrap();
    assert_eq!(verdict.outcome, Outcome::Hangs, "{verdict:?}");
    assert!(
        verdict.detail.contains("after 1 a process hung"),
        "{verdict:?}"
    );
}

#[test]
fn a_death_is_reported() {
    comes_to("dies", trials::counters, Outcome::Holds);
    let verdict = verdict("dies", trials::old_reader);
    assert_eq!(verdict.outcome, Outcome::Dies, "{verdict:?}");
    assert!(verdict.detail.contains("SIGABRT"), "{verdict:?}");
}

#[test]
fn lost_increments_are_counted() {
    comes_to("miscounts", trials::counters, Outcome::Loses);
}

#[test]
fn growth_beside_a_reader_is_measured() {
    comes_to("grows", trials::old_reader, Outcome::Grows);
}

/// A slow process does less in its time, and is not said to hang.
#[test]
fn a_slow_writer_beside_a_reader_is_no_hang() {
    let dir = tempfile::tempdir().unwrap();
    let mut ground = ground("dawdles", dir.path());
    ground.extent.churn_time = Duration::from_secs(2);
    let verdict = super::verdict(trials::old_reader(&mut ground)).unwrap();
    assert_eq!(verdict.outcome, Outcome::Holds, "{verdict:?}");
    let puts = verdict.detail.split(' ').next().unwrap();
    assert!(puts.parse::<u64>().unwrap() < EXTENT.churn, "{verdict:?}");
}

#[test]
fn a_value_that_comes_back_shorter_is_no_success() {
    comes_to("shortens", trials::limits, Outcome::Loses);
}

/// Needs the right to mount; says so and passes where there is none.
#[test]
fn a_full_disk_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let mut ground = ground("sound", dir.path());
    let own = program();
    let tried = namespace::run(&mut ground, &own, &own, dir.path(), Trial::Full);
    let verdict = super::verdict(tried).unwrap();
    if verdict.outcome == Outcome::NotApplicable {
        assert!(verdict.detail.starts_with("not tried"), "{verdict:?}");
        return;
    }
    assert_eq!(verdict.outcome, Outcome::Refuses, "{verdict:?}");
    assert!(
        verdict.detail.contains("worked after half was removed"),
        "{verdict:?}"
    );
}

/// A store that does not sync its files loses values. Needs the right to mount, as above.
#[test]
fn a_power_cut_finds_what_was_not_synced() {
    let dir = tempfile::tempdir().unwrap();
    let mut ground = ground("sound", dir.path());
    let own = program();
    let tried = namespace::run(&mut ground, &own, &own, dir.path(), Trial::PowerCut);
    let verdict = super::verdict(tried).unwrap();
    if verdict.outcome == Outcome::NotApplicable {
        assert!(verdict.detail.starts_with("not tried"), "{verdict:?}");
        return;
    }
    assert_eq!(verdict.outcome, Outcome::Loses, "{verdict:?}");
}
