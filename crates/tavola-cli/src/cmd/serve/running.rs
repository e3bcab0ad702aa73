//! A server from its start to its end.

use std::fs;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tavola::Table;
use tavola_server::memcached::{Memcached, Rules, Users};
use tavola_server::resp::{self, Resp, RespRules};
use tavola_server::{Address, Options, Server, Split, Tls};

use super::guessing;
use super::identity::{self, PidFile};
use super::notice;
use super::plan::Plan;
use super::signals::{Event, Signals};
use super::sockets::{self, Socket};
use super::succession::{self, Predecessor, Program, Reason};
use super::upkeep::Upkeep;
use super::warm::Saver;
use crate::error::CliError;
use crate::output;

/// The answer to connections above the limit, as in memcached.
const TOO_MANY: &[u8] = b"ERROR Too many open connections\r\n";
/// The same, as in Redis.
const TOO_MANY_RESP: &[u8] = b"-ERR max number of clients reached\r\n";
/// The bytes of a request of memcached beside its value.
const BESIDE_BYTES: usize = 2 << 20;

/// Serves until a signal ends it.
pub fn run(plan: &Plan) -> Result<ExitCode, CliError> {
    let program = Program::of_this_process().map_err(failed("finding this program"))?;
    let mut predecessor = Predecessor::find()?;
    if plan.daemon && predecessor.is_none() {
        return detach(&program);
    }
    let signals = Signals::install().map_err(failed("installing signal handlers"))?;
    if plan.core_files {
        identity::allow_core_files();
    }
    if let Some(user) = &plan.user {
        identity::become_user(user)?;
    }
    let succeeded = predecessor
        .as_mut()
        .map(|one| std::mem::take(&mut one.sockets));
    let sockets = sockets::all(plan, succeeded.unwrap_or_default())?;
    let is_handed_over = predecessor
        .as_ref()
        .is_some_and(|one| one.reason == Reason::InItsPlace);
    let running = Running::start(plan, program, signals, sockets, is_handed_over)?;
    let pid_file = plan.pid_file.as_deref().map(PidFile::write).transpose()?;
    if let Some(path) = &plan.port_file {
        identity::write_whole(path, &running.ports())?;
    }
    running.announce();
    notice::notify("READY=1");
    if let Some(predecessor) = predecessor {
        let is_daemon = plan.daemon || predecessor.reason == Reason::InBackground;
        predecessor.ready();
        if is_daemon && !plan.voice.is_verbose {
            succession::fall_silent().map_err(failed("leaving the terminal"))?;
        }
    }
    running.serve()?;
    drop(pid_file);
    Ok(ExitCode::SUCCESS)
}

fn failed(action: &'static str) -> impl FnOnce(io::Error) -> CliError {
    move |source| CliError::Sentence(format!("{action} failed ({source})"))
}

/// Starts the server in the background, and waits until it serves.
fn detach(program: &Program) -> Result<ExitCode, CliError> {
    let started = program.start(Reason::InBackground, &[]);
    let mut successor = started.map_err(failed("starting in the background"))?;
    if successor.serves() {
        return Ok(ExitCode::SUCCESS);
    }
    // It has said why.
    let ended = successor
        .end()
        .map_err(failed("starting in the background"))?;
    let code = ended.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(crate::ERROR)))
}

fn refused(error: tavola_server::Error) -> CliError {
    CliError::Sentence(error.to_string())
}

fn read_file(path: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(path).map_err(|source| CliError::Read {
        path: path.into(),
        source,
    })
}

fn bad_users(path: &Path, why: impl std::fmt::Display) -> CliError {
    CliError::Sentence(format!("{}: {why}", path.display()))
}

/// The rights of clients, without names and passwords.
fn rules_of(plan: &Plan) -> Rules {
    Rules {
        value_bytes: plan.value_bytes,
        requests: plan.requests.unwrap_or(Rules::default().requests),
        protocol: plan.protocol,
        users: None,
        flush: plan.flush,
        dumps: plan.dumps,
        watch: plan.watch,
        prefixes: plan.prefixes,
        verbosity: plan.verbosity,
        shutdown: None,
        on_guessing: Some(Arc::new(guessing::warning(plan.voice))),
        saves: None,
    }
}

/// The same of clients of Redis.
fn resp_rules_of(plan: &Plan, users: Option<Arc<Users>>) -> RespRules {
    RespRules {
        value_bytes: plan.value_bytes,
        commands: plan.requests.unwrap_or(RespRules::default().commands),
        users,
        flush: plan.flush,
        dumps: plan.dumps,
        on_guessing: Some(Arc::new(guessing::warning(plan.voice))),
    }
}

/// The threads and limits. A command of Redis has at most `resp_bytes`.
fn options_of(plan: &Plan, resp_bytes: usize) -> Options {
    let input_bytes = plan.value_bytes.saturating_add(BESIDE_BYTES);
    let mut options = Options::new()
        .threads(plan.threads)
        .max_connections(plan.max_connections)
        .backlog(plan.backlog)
        .spin(plan.spin)
        .io(plan.io)
        .input_bound(input_bytes.max(resp_bytes));
    if plan.refuses {
        options = options.refuse_with(TOO_MANY);
    }
    if let Some(timeout) = plan.idle_timeout {
        options = options.idle_timeout(timeout);
    }
    options
}

/// A server that serves.
struct Running<'a> {
    plan: &'a Plan,
    program: Program,
    signals: Signals,
    table: Arc<Table>,
    users: Option<Arc<Users>>,
    tls: Option<Arc<Tls>>,
    server: Server,
    saver: Option<Saver>,
    /// Of each listening socket, whether its file is ours.
    ours: Vec<bool>,
    /// The numbers of the listening sockets for clients of Redis.
    redis_sockets: Vec<usize>,
}

impl<'a> Running<'a> {
    fn start(
        plan: &'a Plan,
        program: Program,
        signals: Signals,
        sockets: Vec<Socket>,
        is_handed_over: bool,
    ) -> Result<Self, CliError> {
        let users = match &plan.users {
            None => None,
            Some(path) => {
                let users = Users::read(&read_file(path)?);
                Some(Arc::new(users.map_err(|why| bad_users(path, why))?))
            }
        };
        let tls = plan.tls.clone().map(Tls::read).transpose();
        let tls = tls.map_err(refused)?.map(Arc::new);
        let table = Arc::new(plan.open_table()?);
        let saver = match &plan.snapshot {
            Some(snapshot) => Saver::begin(snapshot, &table, plan.voice, is_handed_over)?,
            None => None,
        };
        let mut rules = Rules {
            users: users.clone(),
            saves: saver.as_ref().map(Saver::saves),
            ..rules_of(plan)
        };
        if plan.shutdown {
            let end = signals
                .end()
                .map_err(failed("installing signal handlers"))?;
            rules.shutdown = Some(Arc::new(end));
        }
        let resp_rules = resp_rules_of(plan, users.clone());
        let mut options = options_of(plan, resp_rules.input_bytes());
        let (mut ours, mut redis_sockets) = (Vec::new(), Vec::new());
        for socket in sockets {
            options = match &tls {
                Some(tls) if socket.is_tls => options.listen_tls(socket.listen, tls),
                _ => options.listen(socket.listen),
            };
            if socket.is_resp {
                redis_sockets.push(ours.len());
                options = options
                    .refuse_there_with(TOO_MANY_RESP)
                    .output_bound_there(resp::OUTPUT_BYTES);
            }
            ours.push(socket.is_ours);
        }
        let memcached = Memcached::with_rules(Arc::clone(&table), rules);
        let redis = Resp::with_rules(Arc::clone(&table), resp_rules);
        let service = Split::new(memcached, redis, &redis_sockets);
        let server = options.start(service).map_err(refused)?;
        Ok(Self {
            plan,
            program,
            signals,
            table,
            users,
            tls,
            server,
            saver,
            ours,
            redis_sockets,
        })
    }

    /// Says where it listens.
    fn announce(&self) {
        let meter = self.server.meter();
        let all = self.server.addresses().iter().zip(&meter.setup().tls);
        let addresses = all.enumerate().map(|(number, (address, tls))| {
            let address = match address {
                Address::Tcp(address) => address.to_string(),
                Address::Unix(path) => format!("unix:{}", path.display()),
            };
            match (self.redis_sockets.contains(&number), tls.is_some()) {
                (false, false) => address,
                (false, true) => format!("{address} (TLS)"),
                (true, false) => format!("{address} (RESP)"),
                (true, true) => format!("{address} (RESP with TLS)"),
            }
        });
        let addresses: Vec<String> = addresses.collect();
        let name = output::printable(self.plan.table.name.as_bytes());
        let line = format!("serving {name} on {}", addresses.join(", "));
        if self.plan.voice.announces {
            // The process that started a predecessor may not listen any more.
            let mut out = io::stdout().lock();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
        if !self.plan.voice.announces {
            self.plan.voice.report(&line);
        }
    }

    /// What memcached writes for those who let it choose a port.
    fn ports(&self) -> String {
        let ports = self.server.addresses().iter().map(|address| match address {
            Address::Tcp(address) if address.is_ipv4() => format!("TCP INET: {}\n", address.port()),
            Address::Tcp(address) => format!("TCP INET6: {}\n", address.port()),
            Address::Unix(_) => String::new(),
        });
        ports.collect()
    }

    /// Serves until it is to end, or another process serves in its place.
    fn serve(mut self) -> Result<(), CliError> {
        let mut upkeep = Upkeep::new();
        let mut pause = Duration::ZERO;
        loop {
            let event = self.signals.wait(pause);
            match event.map_err(failed("waiting for signals"))? {
                None => pause = upkeep.turn(&self.table, &self.server.counters()),
                Some(Event::Reload) => self.reload(),
                Some(Event::End) => {
                    notice::notify("STOPPING=1");
                    break;
                }
                Some(Event::Succeed) => {
                    if self.succeed() {
                        break;
                    }
                }
            }
        }
        let drained = self.server.drain(self.plan.drain);
        self.plan.voice.report(match drained.complete {
            true => "stopped; all requests are answered",
            false => "stopped; clients that took too long were disconnected",
        });
        self.saver.map_or(Ok(()), Saver::finish)
    }

    /// Reads the files of users and of certificates again.
    fn reload(&self) {
        let voice = self.plan.voice;
        if let (Some(path), Some(users)) = (&self.plan.users, &self.users) {
            let read = read_file(path).and_then(|text| {
                let replaced = users.replace(&text);
                replaced.map_err(|why| bad_users(path, why))
            });
            match read {
                Ok(()) => voice.report("reloaded the users"),
                Err(error) => voice.warn(&format!("{error}; the users were not reloaded")),
            }
        }
        if let Some(tls) = &self.tls {
            match tls.reread() {
                Ok(()) => voice.report("reloaded the certificates"),
                Err(error) => voice.warn(&format!("{error}; the certificates were not reloaded")),
            }
        }
    }

    /// Starts another process that listens instead; true when it does.
    fn succeed(&mut self) -> bool {
        match self.try_succeed() {
            Ok(true) => true,
            Ok(false) => {
                let said = "no other process took over; this process continues to serve";
                self.plan.voice.warn(said);
                false
            }
            Err(error) => {
                self.plan
                    .voice
                    .warn(&format!("{error}; this process continues to serve"));
                false
            }
        }
    }

    fn try_succeed(&mut self) -> Result<bool, CliError> {
        let sockets = self.server.sockets().map_err(refused)?;
        let sockets: Vec<_> = sockets.into_iter().zip(self.ours.iter().copied()).collect();
        let started = self.program.start(Reason::InItsPlace, &sockets);
        let mut successor = started.map_err(failed("starting the program"))?;
        let until = Instant::now() + succession::PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = Some(successor.line());
            let event = self.signals.wait_with(line, left);
            let event = event.map_err(failed("waiting for signals"));
            match event {
                Ok(Some(Event::Reload)) => self.reload(),
                // It is just being done.
                Ok(Some(Event::Succeed)) => {}
                Ok(None) if !left.is_zero() => break,
                Ok(Some(Event::End) | None) | Err(_) => {
                    let _ = successor.end();
                    return event.map(|_| false);
                }
            }
        }
        if !successor.serves() {
            let _ = successor.end();
            return Ok(false);
        }
        notice::notify(&format!("MAINPID={}", successor.number()));
        self.server.hand_over();
        let number = successor.number();
        self.plan
            .voice
            .report(&format!("process {number} took over the sockets"));
        Ok(true)
    }
}
