//! One peer does one case once: its processes are started, begin together, and are heard.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::given::{self, Given};
use super::job::{Case, EndLine, Job, PhaseLine, Placement, Said, Transport};
use super::peers::{Found, Peer, Place, Together};
use super::program::Program;
use super::runs::{PhaseOfAll, Run};
use super::servers::{Running, start};
use super::usage::file_bytes;
use super::workloads::Trial;
use crate::clock::monotonic_ns;
use crate::{Error, Result};

/// Between the last word to the processes and their common start.
const LEAD_NS: u64 = 3_000_000;
/// More of it for each process.
const LEAD_EACH_NS: u64 = 300_000;

/// Where turns are taken.
pub(super) struct Ground {
    /// A folder in memory.
    pub(super) memory: PathBuf,
    /// A folder on a disk.
    pub(super) disk: PathBuf,
    /// The CPUs there are.
    pub(super) cpus: Vec<usize>,
    /// The command `tavola`, to serve a table.
    pub(super) tavola: PathBuf,
    /// Servers that are there already.
    pub(super) given: Given,
    pub(super) quick: bool,
}

impl Ground {
    /// A repetition of a trial by a peer. Failures are reported in the run.
    pub(super) fn turn(&self, trial: &Trial, found: &Found, repetition: u32) -> Result<Run> {
        let folder = match found.peer.place {
            Place::Memory => &self.memory,
            Place::Disk => &self.disk,
        };
        let dir = folder.join("store");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).map_err(Error::io("making a folder for a store"))?;
        let done = self.in_folder(trial, found, repetition, &dir);
        let removed = fs::remove_dir_all(&dir);
        removed.map_err(Error::io("removing the folder of a store"))?;
        let case = self.case(trial, &found.peer);
        let blank = Run {
            placement: case.placement,
            transport: case.transport,
            workload: trial.workload.to_string(),
            title: trial.title.clone(),
            peer: found.peer.name.to_owned(),
            repetition,
            keys: trial.case.keys,
            ..Run::default()
        };
        Ok(match done {
            Ok(done) => Run {
                phases: done.phases,
                end: done.end,
                server_bytes: done.server_bytes,
                ..blank
            },
            Err(why) => Run {
                failed: Some(why),
                ..blank
            },
        })
    }

    fn in_folder(
        &self,
        trial: &Trial,
        found: &Found,
        repetition: u32,
        dir: &Path,
    ) -> std::result::Result<Done, String> {
        let mut job = self.job(trial, found, repetition, dir);
        let server = self.server(found, &job, dir)?;
        let given = found.peer.server.and_then(|kind| self.given.address(kind));
        job.address = match &server {
            Some(server) => Some(server.address.clone()),
            None => given.map(str::to_owned),
        };
        let until = Instant::now() + self.patience(trial);
        let bytes_before = server.as_ref().and_then(|server| bytes_with(server, dir));
        let mut crew = Crew::start(self, found, &job, until)?;
        let (mut phases, mut end) = crew.work(until, server.as_ref(), job.case.slice_ns())?;
        let server_bytes = server.as_ref().and_then(|server| bytes_with(server, dir));
        crew.0.into_iter().for_each(Program::end);
        for phase in phases.iter_mut().filter(|_| given.is_some()) {
            given::note(&mut phase.sum.note);
        }
        if let Some(server) = &server {
            end.version = format!("{} {}", server.version, end.version)
                .trim()
                .to_owned();
        }
        if end.bytes == 0 {
            end.bytes = match (server_bytes, bytes_before) {
                (Some(now), Some(before)) => now.saturating_sub(before),
                _ => file_bytes(dir),
            };
        }
        Ok(Done {
            phases,
            end,
            server_bytes,
        })
    }

    /// The case as this peer does it: a server that is started for it is reached in one way, and is
    /// on its client's CPU unless the case says otherwise.
    fn case(&self, trial: &Trial, peer: &Peer) -> Case {
        let mut case = trial.case.clone();
        let server = peer
            .server
            .filter(|kind| self.given.address(*kind).is_none());
        if server.is_some() {
            let transports = [case.transport, peer.transport, Some(Transport::Unix)];
            case.transport = transports.into_iter().flatten().next();
            case.placement = case.placement.or(Some(Placement::One));
        }
        case
    }

    fn job(&self, trial: &Trial, found: &Found, repetition: u32, dir: &Path) -> Job {
        Job {
            peer: found.peer.name.to_owned(),
            workload: trial.workload.to_string(),
            case: self.case(trial, &found.peer),
            dir: dir.to_owned(),
            cpu: Some(self.cpu(0)),
            address: None,
            seed: 7 + u64::from(repetition),
            quick: self.quick,
        }
    }

    fn server(
        &self,
        found: &Found,
        job: &Job,
        dir: &Path,
    ) -> std::result::Result<Option<Running>, String> {
        let Some(kind) = found.peer.server else {
            return Ok(None);
        };
        if self.given.address(kind).is_some() {
            return Ok(None);
        }
        let at = match job.case.placement {
            Some(Placement::Two) => self.cpu(1),
            _ => self.cpu(0),
        };
        let transport = job.case.transport.unwrap_or(Transport::Unix);
        start(kind, transport, at, dir, &self.tavola).map(Some)
    }

    /// The last first: the system's own work is most often done by the first.
    fn cpu(&self, at: usize) -> usize {
        let count = self.cpus.len();
        self.cpus[count - 1 - at % count]
    }

    /// How long one turn may take, with making its store and checking it.
    fn patience(&self, trial: &Trial) -> Duration {
        let limit = trial.case.limit_ms;
        let limit = limit.unwrap_or(if self.quick { 2_000 } else { 100_000 });
        // A put may take eight times the limit.
        let all = limit * (trial.case.phases.len() as u64 + 8);
        Duration::from_millis(2 * all) + Duration::from_secs(20)
    }
}

/// What came of a turn.
struct Done {
    phases: Vec<PhaseOfAll>,
    end: EndLine,
    server_bytes: Option<u64>,
}

/// The processes of a turn.
struct Crew(Vec<Program>);

impl Crew {
    /// The first makes the store before the others are started.
    fn start(
        ground: &Ground,
        found: &Found,
        job: &Job,
        until: Instant,
    ) -> std::result::Result<Self, String> {
        let procs = match found.peer.together {
            Together::Threads => 1,
            _ => job.case.procs.max(1),
        };
        let mut crew = Self(Vec::new());
        for proc in 0..procs {
            let mut job = job.clone();
            job.case.proc = proc;
            job.cpu = match found.peer.together {
                Together::Threads if job.case.procs > 1 => None,
                _ => Some(ground.cpu(proc as usize)),
            };
            let errors = job.dir.with_extension(format!("{proc}.err"));
            let program = Program::start(found, &job, &errors);
            crew.0.push(program.map_err(|error| error.to_string())?);
            if procs > 1 {
                crew.ready(proc as usize, until)?;
            }
        }
        Ok(crew)
    }

    fn ready(&mut self, at: usize, until: Instant) -> std::result::Result<(), String> {
        match self.0[at].hear(until)? {
            Said::Ready => Ok(()),
            _ => Err("it began before the others were there".to_owned()),
        }
    }

    /// All phases, to the last word of each, and what the server did in each. Between them clients
    /// ask for nothing; that they connect is in the first.
    fn work(
        &mut self,
        until: Instant,
        server: Option<&Running>,
        slice_ns: u64,
    ) -> std::result::Result<(Vec<PhaseOfAll>, EndLine), String> {
        let mut phases = Vec::new();
        let mut cpu_before = server.and_then(Running::cpu_seconds);
        loop {
            let start_ns = self.begin()?;
            let mut lines = Vec::new();
            let mut ends = Vec::new();
            for program in &mut self.0 {
                match program.hear(until)? {
                    Said::Phase(line) => lines.push(*line),
                    Said::End(end) => ends.push(end),
                    _ => return Err("it spoke out of turn".to_owned()),
                }
            }
            match (lines.len(), ends.len()) {
                (0, _) => return Ok((phases, sum_of_ends(&ends))),
                (_, 0) => {
                    let cpu_now = server.and_then(Running::cpu_seconds);
                    let both = cpu_now.zip(cpu_before);
                    phases.push(PhaseOfAll {
                        server_cpu_seconds: both.map(|(now, before)| (now - before).max(0.0)),
                        ..together(lines, start_ns, slice_ns)
                    });
                    cpu_before = cpu_now;
                }
                _ => return Err("its processes are not in the same phase".to_owned()),
            }
            if self.0.len() > 1 {
                for at in 0..self.0.len() {
                    self.ready(at, until)?;
                }
            }
        }
    }

    /// Lets all continue at one instant; a single one continues by itself.
    fn begin(&mut self) -> std::result::Result<Option<u64>, String> {
        if self.0.len() == 1 {
            return Ok(None);
        }
        let start_ns = monotonic_ns() + LEAD_NS + LEAD_EACH_NS * self.0.len() as u64;
        for program in &mut self.0 {
            program.begin_at(start_ns)?;
        }
        Ok(Some(start_ns))
    }
}

fn sum_of_ends(ends: &[EndLine]) -> EndLine {
    EndLine {
        keys: ends.iter().map(|end| end.keys).sum(),
        peak_rss_bytes: ends.iter().map(|end| end.peak_rss_bytes).max().unwrap_or(0),
        ..ends.first().cloned().unwrap_or_default()
    }
}

/// One line of the lines of all processes.
fn together(lines: Vec<PhaseLine>, start_ns: Option<u64>, slice_ns: u64) -> PhaseOfAll {
    let ops: u64 = lines.iter().map(|line| line.ops).sum();
    let share = |part: u64| part as f64 / ops.max(1) as f64;
    // A program whose threads take the place of processes is the only one.
    let parts = match &lines[..] {
        [line] if !line.of_threads.is_empty() => line.of_threads.clone(),
        lines => lines.iter().map(|line| line.slices.clone()).collect(),
    };
    let shares = match parts.len() == lines.len() {
        true => lines.iter().map(|line| share(line.ops)).collect(),
        false => parts.iter().map(|part| share(part.iter().sum())).collect(),
    };
    let last = lines.iter().filter_map(|line| line.end_ns).max();
    let slowest = lines.iter().map(|line| line.seconds).fold(0.0, f64::max);
    let seconds = match (start_ns, last) {
        (Some(start), Some(end)) => end.saturating_sub(start) as f64 / 1e9,
        _ => slowest,
    };
    let found = |pick: fn(&PhaseLine) -> Option<String>| lines.iter().find_map(pick);
    PhaseOfAll {
        shares,
        per_second: parts
            .iter()
            .zip(lines.iter().cycle())
            .map(|(slices, line)| per_second(slices, line, slice_ns))
            .collect(),
        sum: PhaseLine {
            phase: lines[0].phase.clone(),
            ops,
            seconds,
            cpu_seconds: lines.iter().map(|line| line.cpu_seconds).sum(),
            verified: lines.iter().all(|line| line.verified),
            refused: found(|line| line.refused.clone()),
            note: found(|line| line.note.clone()),
            pause_ns: lines.iter().filter_map(|line| line.pause_ns).max(),
            latency: lines[0].latency.clone(),
            ..PhaseLine::default()
        },
        ..PhaseOfAll::default()
    }
}

/// Rates of the slices. The last is shorter than the others: it counts where half of it was.
fn per_second(slices: &[u64], line: &PhaseLine, slice_ns: u64) -> Vec<u64> {
    let whole = slices.len().saturating_sub(1) as u64 * slice_ns;
    let took = match (line.begin_ns, line.end_ns) {
        (Some(begin), Some(end)) => end.saturating_sub(begin),
        _ => whole + slice_ns,
    };
    let rest = took.saturating_sub(whole).clamp(1, slice_ns);
    let count = match rest < slice_ns / 2 && slices.len() > 1 {
        true => slices.len() - 1,
        false => slices.len(),
    };
    let rate = |ops: u64, ns: u64| (ops as f64 * 1e9 / ns as f64) as u64;
    let each = slices.iter().enumerate().take(count);
    each.map(|(at, &ops)| match at + 1 == slices.len() {
        true => rate(ops, rest),
        false => rate(ops, slice_ns),
    })
    .collect()
}

/// What a server's processes have in memory, and its files.
fn bytes_with(server: &Running, dir: &Path) -> Option<u64> {
    Some(server.memory_bytes(dir)? + file_bytes(dir))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::peers;
    use crate::compare::workloads::{QUICK, plan};

    #[test]
    fn processes_are_summed_up_to_the_end_of_the_last() {
        let line = |ops, end_ns, verified| PhaseLine {
            phase: "put".to_owned(),
            ops,
            seconds: 1.0,
            verified,
            end_ns: Some(end_ns),
            ..PhaseLine::default()
        };
        let both = vec![line(30, 3_000_000_000, true), line(10, 2_000_000_000, true)];
        let sum = together(both, Some(1_000_000_000), 1_000_000_000);
        assert_eq!((sum.sum.ops, sum.sum.seconds), (40, 2.0));
        assert_eq!(sum.shares, [0.75, 0.25]);
        assert!(sum.sum.verified);
        let one_lies = vec![line(1, 1, true), line(1, 1, false)];
        assert!(!together(one_lies, None, 1_000_000_000).sum.verified);
    }

    #[test]
    fn slices_become_rates_and_a_short_last_one_is_left_out() {
        let line = |end_ns| PhaseLine {
            begin_ns: Some(0),
            end_ns: Some(end_ns),
            slices: vec![40, 60, 10],
            ..PhaseLine::default()
        };
        let rates = |end_ns| together(vec![line(end_ns)], None, 200_000_000).per_second;
        assert_eq!(rates(500_000_000), [[200, 300, 100]]);
        assert_eq!(rates(490_000_000), [vec![200, 300]]);
        let threads = PhaseLine {
            ops: 110,
            of_threads: vec![vec![30, 60, 10], vec![10]],
            ..line(600_000_000)
        };
        let both = together(vec![threads], None, 200_000_000);
        assert_eq!(both.per_second[0], [150, 300, 50]);
        assert_eq!(both.per_second.len(), 2);
        assert!((both.shares[0] - 10.0 / 11.0).abs() < 1e-9);
    }

    pub(in crate::compare) fn ground(dir: &Path) -> Ground {
        Ground {
            memory: dir.join("memory"),
            disk: dir.join("disk"),
            cpus: crate::duty::usable_cpus().unwrap(),
            tavola: PathBuf::new(),
            given: Given::default(),
            quick: true,
        }
    }

    /// A peer whose program is a line of the shell.
    pub(in crate::compare) fn toy(script: &str) -> Found {
        Found {
            peer: peers::all().find(|peer| peer.name == "lmdb").unwrap(),
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
        }
    }

    /// What comes of it.
    fn turn_of(script: &str, procs: u32) -> Run {
        let dir = tempfile::tempdir().unwrap();
        let ground = ground(dir.path());
        let mut trial = plan("e", QUICK, Path::new("")).remove(0);
        trial.case.procs = procs;
        let run = ground.turn(&trial, &toy(script), 0).unwrap();
        assert!(!ground.memory.join("store").exists(), "its folder is gone");
        run
    }

    pub(in crate::compare) const PHASE: &str =
        r#"echo '{"phase":"put","ops":5,"seconds":0.1,"verified":true}';"#;
    pub(in crate::compare) const END: &str = r#"echo '{"end":true,"version":"7","keys":5}';"#;

    #[test]
    fn the_address_is_given_unless_the_server_ran_already() {
        let trial = plan("a", QUICK, Path::new("f")).remove(0);
        let mut ground = ground(Path::new(""));
        let transport = |ground: &Ground, name: &str| {
            let peer = peers::all().find(|peer| peer.name == name).unwrap();
            let case = ground.case(&trial, &peer);
            case.transport.zip(case.placement)
        };
        let unix = Some((Transport::Unix, Placement::One));
        assert_eq!(transport(&ground, "memcached"), unix);
        let tcp = Some((Transport::Tcp, Placement::One));
        assert_eq!(transport(&ground, "postgres-tcp"), tcp);
        assert_eq!(transport(&ground, "lmdb"), None);
        ground.given.postgres = Some("postgres://elsewhere".to_owned());
        assert_eq!(transport(&ground, "postgres-tcp"), None);
    }

    #[test]
    fn what_a_program_says_is_kept() {
        let run = turn_of(&format!("{PHASE} {END}"), 1);
        assert_eq!(run.failed, None);
        assert_eq!((run.phases.len(), run.phases[0].sum.ops), (1, 5));
        assert_eq!((run.end.version.as_str(), run.end.keys), ("7", 5));
    }

    #[test]
    fn failures_of_a_program_are_reported() {
        let why = |script: &str| turn_of(script, 1).failed.unwrap();
        assert!(why("echo oops >&2; exit 3").contains("oops"));
        assert!(why(r#"echo '{"error":"no room"}'"#).contains("no room"));
        assert!(why("echo hello").contains("what is no result: hello"));
        assert!(why(&format!("{PHASE} kill -9 $$")).contains("signal: 9"));
    }

    #[test]
    fn several_processes_begin_each_phase_together() {
        let ready = r#"echo '{"ready":"put"}'; read line; echo "$line" >&2;"#;
        let run = turn_of(&format!("{ready} {PHASE} {ready} {END}"), 3);
        assert_eq!(run.failed, None);
        assert_eq!(run.phases[0].sum.ops, 15);
        let alone = turn_of(&format!("{PHASE} {END}"), 2);
        assert!(alone.failed.unwrap().contains("before the others"));
    }
}
