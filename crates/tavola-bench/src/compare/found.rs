//! Which peers are here: compiled, probed, or left out with the reason.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::given::Given;
use super::peers::{Found, Peer, Server, Start};
use super::program::in_path;
use crate::command;

/// Where programs are made and looked for.
pub(super) struct Workshop {
    /// The peers' sources.
    pub(super) sources: PathBuf,
    /// This program.
    pub(super) program: PathBuf,
    /// The command `tavola`, if it is here.
    pub(super) tavola: Option<PathBuf>,
    /// Servers that are there already.
    pub(super) given: Given,
}

impl Workshop {
    /// How to start a peer, or why it cannot be.
    pub(super) fn find(&self, peer: Peer) -> Result<Found, String> {
        match peer.server {
            Some(server) if !self.given.serves(&peer)? => self.server_is_there(server)?,
            _ => {}
        }
        let (program, args) = match peer.start {
            Start::Rust => {
                super::inproc::available(peer.name)?;
                (self.program.clone(), vec!["compare-worker".into()])
            }
            Start::C {
                adapter,
                libraries,
                package,
            } => (self.compile(adapter, libraries, package)?, Vec::new()),
            Start::Script {
                interpreter,
                file,
                probe,
                absent,
                binding,
            } => {
                let program = in_path(interpreter).ok_or(format!("there is no {interpreter}"))?;
                let (before, after) = binding.map(built).unwrap_or_default();
                let mut probing = Command::new(&program);
                probing.args(&before).args(probe.split(" | ")).args(&after);
                succeeds(&mut probing).map_err(|_| absent.to_owned())?;
                let mut args = options(interpreter, "256M");
                args.extend(before);
                args.push(self.sources.join(file).into_os_string());
                args.extend(after);
                (program, args)
            }
        };
        Ok(Found {
            peer,
            program,
            args,
        })
    }

    fn compile(&self, adapter: &str, libs: &str, package: &str) -> Result<PathBuf, String> {
        let folder = self.sources.join("c");
        let program = folder.join(adapter);
        if program.is_file() {
            return Ok(program);
        }
        let compiler = in_path("cc").ok_or("there is no C compiler")?;
        let harness = folder.join("harness.o");
        if !harness.is_file() {
            let mut make = Command::new(&compiler);
            make.args(["-O2", "-std=gnu11", "-c", "harness.c", "-o", "harness.o"]);
            succeeds(make.current_dir(&folder))
                .map_err(|why| format!("the harness does not compile: {why}"))?;
        }
        let mut make = Command::new(&compiler);
        make.current_dir(&folder).args(["-O2", "-std=gnu11"]);
        make.arg(format!("{adapter}.c"))
            .args(["harness.o", "-o", adapter]);
        if libs.contains("-ltavola") {
            make.arg("-I.");
            if let Some(library) = library() {
                make.args(linked(&library, &folder)?);
            }
        }
        make.args(libs.split_whitespace()).arg("-lm");
        succeeds(&mut make).map_err(|why| format!("{why}; it needs {package}"))?;
        Ok(program)
    }

    /// The program of the torment over the same adapter, or why it cannot be made.
    pub(super) fn torment(
        &self,
        adapter: &str,
        libraries: &str,
        package: &str,
    ) -> Result<PathBuf, String> {
        let folder = self.sources.join("c");
        let name = format!("torment-{adapter}");
        let compiler = in_path("cc").ok_or("there is no C compiler")?;
        // What a store has beyond its adapter includes the adapter.
        let more = format!("torment_{adapter}.c");
        let source = match folder.join(&more).is_file() {
            true => more,
            false => format!("{adapter}.c"),
        };
        let mut make = Command::new(&compiler);
        make.current_dir(&folder).args(["-O2", "-std=gnu11"]);
        make.args(["torment.c", &source, "-o", &name]);
        make.args(libraries.split_whitespace()).arg("-lm");
        succeeds(&mut make).map_err(|why| format!("{why}; it needs {package}"))?;
        Ok(folder.join(name))
    }

    /// Whether the program of a server is here, or why it is not.
    pub(super) fn server_is_there(&self, server: Server) -> Result<(), String> {
        let program = match server {
            Server::Tavola => {
                let found = self.tavola.as_ref().map(|_| ());
                return found.ok_or_else(|| command::MISSING.to_owned());
            }
            Server::Memcached => "memcached",
            Server::Redis | Server::RedisAlways | Server::RedisEverysec => "redis-server",
            Server::Postgres => return super::servers::postgres_is_there(),
            Server::Odbc => return Err("none was given: --odbc says where it is".to_owned()),
        };
        match in_path(program) {
            Some(_) => Ok(()),
            None => Err(format!("there is no {program}")),
        }
    }
}

/// Arguments of an interpreter before its file. A value of 4 KB a key, twice, is a few hundred
/// megabytes with all keys.
pub(super) fn options(interpreter: &str, apcu_room: &str) -> Vec<OsString> {
    if interpreter != "php" {
        return Vec::new();
    }
    let room = format!("apc.shm_size={apcu_room}");
    let options = ["memory_limit=1G", "apc.enable_cli=1", &room];
    options
        .map(|option| ["-d", option])
        .concat()
        .into_iter()
        .map(Into::into)
        .collect()
}

/// Arguments of an interpreter, before and after its file, for the build of a binding in the
/// checkout that has this program; none if it is not built. Then an installed one is used.
fn built(binding: &str) -> (Vec<OsString>, Vec<OsString>) {
    let program = std::env::current_exe().unwrap_or_default();
    // The program is in target/release.
    let mut above = program.ancestors().skip(2);
    let (Some(target), Some(root)) = (above.next(), above.next()) else {
        return Default::default();
    };
    let made = target.join("bindings").join(binding);
    let own = root.join("bindings").join(binding);
    let option = |option: &str, path: PathBuf| {
        let mut text = OsString::from(option);
        text.push(path);
        text
    };
    match binding {
        "php" if made.join("build/modules/tavola.so").is_file() => {
            let file = option("extension=", made.join("build/modules/tavola.so"));
            (vec!["-d".into(), file], Vec::new())
        }
        "ruby" => (
            vec![
                option("-I", own.join("lib")),
                option("-I", made.join("lib")),
            ],
            Vec::new(),
        ),
        "perl" => {
            let folders = ["build/blib/lib", "build/blib/arch"];
            (
                folders.map(|folder| option("-I", made.join(folder))).into(),
                Vec::new(),
            )
        }
        "python" => (Vec::new(), vec![own.join("python").into()]),
        _ => Default::default(),
    }
}

/// The name that programs ask for libtavola by; its own build gives it.
const LIBRARY: &str = "libtavola.so.0";

/// libtavola beside this program, or in the folder of libraries beside its own.
pub(super) fn library() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let beside = program.parent()?;
    let places = [beside.to_owned(), beside.join("../lib")];
    let mut files = places.iter().map(|place| place.join("libtavola.so"));
    files.find(|file| file.is_file())
}

/// Arguments of the linker for this libtavola. It gets the name that programs ask for in the folder
/// of the peers.
fn linked(file: &Path, folder: &Path) -> Result<Vec<String>, String> {
    for name in ["libtavola.so", LIBRARY] {
        let link = folder.join(name);
        match std::os::unix::fs::symlink(file, link) {
            // The adapter before this one was linked with it, too.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error.to_string()),
            _ => {}
        }
    }
    let folder = folder.display();
    Ok(vec![format!("-L{folder}"), format!("-Wl,-rpath,{folder}")])
}

/// Runs a program to its end. When it fails, its first line that names an error.
fn succeeds(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let is_error = |line: &&str| line.contains("error") || line.contains("cannot find");
    let line = said.lines().find(is_error).or(said.lines().next());
    Err(line.unwrap_or("it failed").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::turn::tests::ground;
    use crate::compare::workloads::{QUICK, Trial, plan};
    use crate::compare::{peers, sources};

    /// A store of one key, which it gives back as it is or with another bit.
    const LIAR: &str = r#"
        #include <string.h>
        #include "harness.h"
        static char value_of_all[8];
        static char key_of_all[8];
        static const char *version(void) { return "1"; }
        static void *open_store(const struct job *job, enum mode mode) {
          (void)job, (void)mode;
          return key_of_all;
        }
        static void close_store(void *store) { (void)store; }
        static void put(void *store, struct span key, struct span value) {
          memcpy(store, key.data, 8);
          memcpy(value_of_all, value.data, 8);
          value_of_all[3] ^= LIE;
        }
        static bool get(void *store, struct span key, struct span *value) {
          *value = (struct span){value_of_all, 8};
          return memcmp(store, key.data, 8) == 0;
        }
        static bool remove_key(void *store, struct span key) {
          bool was = memcmp(store, key.data, 8) == 0;
          memset(store, 0, 8);
          return was;
        }
        const struct adapter adapter = {
          .version = version, .open = open_store, .close = close_store,
          .put = put, .get = get, .remove = remove_key,
        };
    "#;

    /// The phases of a case that reads one key, and whether the answers were right.
    fn phases(workshop: &Workshop, dir: &Path, trial: &Trial, lies: bool) -> Vec<(String, bool)> {
        let name = if lies { "liar" } else { "honest" };
        let text = LIAR.replace("LIE", if lies { "1" } else { "0" });
        std::fs::write(workshop.sources.join(format!("c/{name}.c")), text).unwrap();
        let found = Found {
            peer: peers::all().find(|peer| peer.name == "lmdb").unwrap(),
            program: workshop.compile(name, "", "nothing").unwrap(),
            args: Vec::new(),
        };
        let run = ground(dir).turn(trial, &found, 0).unwrap();
        assert_eq!(run.failed, None);
        let sums = run.phases.into_iter().map(|phase| phase.sum);
        sums.map(|sum| (sum.phase, sum.verified)).collect()
    }

    #[test]
    fn a_program_in_c_whose_store_lies_is_noticed_in_all_workloads() {
        if in_path("cc").is_none() {
            eprintln!("there is no C compiler to make the program with");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let workshop = Workshop {
            sources: dir.path().join("peers"),
            program: PathBuf::new(),
            tavola: None,
            given: Given::default(),
        };
        sources::unpack(&workshop.sources).unwrap();
        // One record: the key and the value have 8 bytes, as those of the other workloads here.
        let file = dir.path().join("companies");
        std::fs::write(&file, "1\tmarket\tcompany1\tx\t12345678\n").unwrap();
        // Writes and misses have no value that could be a wrong one.
        for (letter, expected) in [
            ("a", "write_all read_all! open_read_100! open_read_1000!"),
            ("b", "put get!"),
            ("c", "write read!"),
            ("d", "pairs!"),
            ("e", "put mix! get! miss"),
        ] {
            let mut trial = plan(letter, QUICK, &file).remove(0);
            (trial.case.keys, trial.case.value_bytes) = (1, 8);
            for lies in [false, true] {
                let phase = |name: &str| {
                    let plain_name = name.trim_end_matches('!');
                    (plain_name.to_owned(), !lies || plain_name == name)
                };
                let expected: Vec<_> = expected.split(' ').map(phase).collect();
                assert_eq!(phases(&workshop, dir.path(), &trial, lies), expected);
            }
        }
    }

    #[test]
    fn needs_of_a_program_in_c_are_reported() {
        let dir = tempfile::tempdir().unwrap();
        sources::unpack(dir.path()).unwrap();
        let workshop = Workshop {
            sources: dir.path().to_owned(),
            program: PathBuf::new(),
            tavola: None,
            given: Given::default(),
        };
        std::fs::write(dir.path().join("c/none.c"), "#include <no_such.h>\n").unwrap();
        let why = workshop.compile("none", "", "libnone-dev").unwrap_err();
        match in_path("cc") {
            Some(_) => assert!(
                why.contains("no_such.h") && why.contains("libnone-dev"),
                "{why}"
            ),
            None => assert_eq!(why, "there is no C compiler"),
        }
    }

    #[test]
    fn two_adapters_are_linked_with_the_same_library() {
        let dir = tempfile::tempdir().unwrap();
        let file = Path::new("/somewhere/libtavola.so");
        let first = linked(file, dir.path()).unwrap();
        assert_eq!(linked(file, dir.path()), Ok(first));
        let link = std::fs::read_link(dir.path().join(LIBRARY)).unwrap();
        assert_eq!(link, file);
    }

    #[test]
    fn a_failure_is_reported_in_one_line() {
        let mut sh = Command::new("/bin/sh");
        sh.args([
            "-c",
            "echo first >&2; echo 'x.c:1: error: no such' >&2; exit 1",
        ]);
        assert_eq!(succeeds(&mut sh).unwrap_err(), "x.c:1: error: no such");
        assert!(succeeds(Command::new("/bin/sh").args(["-c", "exit 0"])).is_ok());
        assert!(succeeds(&mut Command::new("/no/such/program")).is_err());
    }
}
