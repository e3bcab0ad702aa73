//! The library, installed for the tests; compilers; servers; programs made with them.
//!
//! Not every test file uses all of it.
#![allow(dead_code)]

pub mod servers;

use servers::Fleet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Compilers for C; those for C++ are their companions. A test fails where one is not there.
pub const COMPILERS: [&str; 2] = ["gcc", "clang"];

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cpp,
    Cpp20,
}

impl Language {
    pub fn ending(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp | Self::Cpp20 => "cpp",
        }
    }

    fn standard(self) -> &'static str {
        match self {
            Self::C => "-std=c11",
            Self::Cpp => "-std=c++17",
            Self::Cpp20 => "-std=c++20",
        }
    }

    fn command(self, compiler: &str) -> &'static str {
        match (self, compiler) {
            (Self::C, "clang") => "clang",
            (Self::C, _) => "gcc",
            (_, "clang") => "clang++",
            _ => "g++",
        }
    }
}

/// A path in this crate.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A directory of its own, gone when its user is.
pub fn directory() -> TempDir {
    let mut named = tempfile::Builder::new();
    named.prefix("tavola-client-capi-").tempdir().unwrap()
}

/// Runs a command to its end; what it printed is reported if it fails.
pub fn succeed(command: &mut Command) -> Output {
    let out = command.output();
    let out = out.unwrap_or_else(|error| panic!("{command:?}: {error}; `make test` installs it"));
    assert!(
        out.status.success(),
        "{command:?}: {}\n{}{}",
        out.status,
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    out
}

/// A place that the library is installed to as `make install` does.
pub struct Installed {
    prefix: PathBuf,
}

/// Cargo without what the cargo around this test has set for it, by which it would build all crates
/// again.
fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_set = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "OUT_DIR",
            "RUSTC_BOOTSTRAP",
        ];
        if is_set.iter().any(|begin| text.starts_with(begin)) {
            command.env_remove(&name);
        }
    }
    command.current_dir(here("../.."));
    command
}

impl Installed {
    /// Installs it once.
    pub fn get() -> &'static Self {
        static INSTALLED: OnceLock<Installed> = OnceLock::new();
        INSTALLED.get_or_init(|| {
            let work = Path::new(env!("CARGO_TARGET_TMPDIR"));
            let target = work.parent().unwrap();
            succeed(
                cargo()
                    // Alone, as it is built for users.
                    .args([
                        "build",
                        "--profile",
                        "test",
                        "--package",
                        "tavola-client-capi",
                    ])
                    .args(["--lib", "--target-dir"])
                    .arg(target),
            );
            succeed(
                cargo()
                    .args(["xtask", "man"])
                    .arg(target.join("debug/man3"))
                    .env("CARGO_TARGET_DIR", target),
            );
            // Each test file has its own, as two of them may run at once.
            Self::install(&work.join(format!("client-{}", env!("CARGO_CRATE_NAME"))))
        })
    }

    /// Installs it at another place.
    pub fn install(prefix: &Path) -> Self {
        let _ = std::fs::remove_dir_all(prefix);
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("debug");
        let prefix = prefix.to_owned();
        let installed = Self { prefix };
        succeed(installed.script("install").arg(built).arg("tavola_client"));
        installed
    }

    fn script(&self, act: &str) -> Command {
        let mut command = Command::new(here("../../scripts/install-lib"));
        command.arg(act).env("PREFIX", &self.prefix);
        // Not the system's own place: its loader does not know it.
        command.env("DESTDIR", "/").env_remove("LIBDIR");
        command
    }

    pub fn uninstall(&self) {
        succeed(self.script("uninstall").arg("tavola_client"));
    }

    pub fn path(&self) -> &Path {
        &self.prefix
    }

    pub fn libraries(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// What pkg-config says.
    fn flags(&self, args: &[&str]) -> Vec<String> {
        self.flags_of("tavola_client", args)
    }

    /// What pkg-config says of a package.
    pub fn flags_of(&self, package: &str, args: &[&str]) -> Vec<String> {
        let out = succeed(
            Command::new("pkg-config")
                .args(args)
                .arg(package)
                .env("PKG_CONFIG_PATH", self.libraries().join("pkgconfig")),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        text.split_whitespace().map(str::to_owned).collect()
    }

    pub fn compile(&self, how: Compile<'_>) -> Program {
        let libraries = self.flags(&["--libs"]);
        self.link(how, &libraries)
    }

    /// With a directory in which there is no shared library.
    pub fn compile_statically(&self, how: Compile<'_>) -> Program {
        let archive = directory();
        let name = "libtavola_client.a";
        std::fs::copy(self.libraries().join(name), archive.path().join(name)).unwrap();
        let libdir = format!("--define-variable=libdir={}", archive.path().display());
        let libraries = self.flags(&["--libs", "--static", &libdir]);
        self.link(how, &libraries)
    }

    fn link(&self, how: Compile<'_>, libraries: &[String]) -> Program {
        let directory = directory();
        let path = directory.path().join("program");
        succeed(
            Command::new(how.language.command(how.compiler))
                .arg(how.language.standard())
                .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"])
                .args(["-D_GNU_SOURCE", "-pthread"])
                .args(how.flags)
                .args(self.flags(&["--cflags"]))
                .arg(how.source)
                .arg("-o")
                .arg(&path)
                .args(libraries),
        );
        Program {
            path,
            libraries: self.libraries(),
            directory,
        }
    }

    /// Builds a project, and runs its tests.
    pub fn build_with_cmake(&self, project: &Path, fleet: &Fleet) {
        let directory = directory();
        let build = directory.path().join("build");
        let cmake = || {
            let mut command = Command::new("cmake");
            command.env("TAVOLA_MC_SERVERS", fleet.list());
            command
        };
        succeed(
            cmake()
                .arg("-S")
                .arg(project)
                .arg("-B")
                .arg(&build)
                .arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display())),
        );
        succeed(cmake().arg("--build").arg(&build));
        succeed(
            cmake()
                .arg("--build")
                .arg(&build)
                .args(["--target", "test"]),
        );
    }

    /// What the shared library calls itself: programs that are linked with it look for that.
    pub fn soname(&self) -> String {
        let out = succeed(
            Command::new("readelf")
                .args(["--dynamic", "--wide"])
                .arg(self.libraries().join("libtavola_client.so"))
                .env("LC_ALL", "C"),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        let mut named = text.lines().filter(|line| line.contains("(SONAME)"));
        let line = named.next().unwrap_or_else(|| panic!("no soname: {text}"));
        let (_, name) = line.split_once('[').expect("a name in brackets");
        name.trim_end_matches(']').to_owned()
    }

    /// The functions of the shared library.
    pub fn shown_names(&self) -> Vec<String> {
        let out = succeed(
            Command::new("nm")
                .args(["--dynamic", "--defined-only", "--format=posix"])
                .arg(self.libraries().join("libtavola_client.so")),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        let name = |line: &str| line.split(' ').next().unwrap().to_owned();
        text.lines().map(name).collect()
    }
}

/// How a program is compiled.
#[derive(Clone, Copy)]
pub struct Compile<'c> {
    pub language: Language,
    pub compiler: &'c str,
    pub source: &'c Path,
    pub flags: &'c [&'c str],
}

/// A program, in a directory of its own.
pub struct Program {
    path: PathBuf,
    libraries: PathBuf,
    directory: TempDir,
}

impl Program {
    pub fn run(&self, fleet: &Fleet) -> Output {
        self.succeed(&mut Command::new(&self.path), fleet)
    }

    /// Runs it with one server and these variables.
    pub fn run_with(&self, server: &str, variables: &[(&str, &str)]) -> Output {
        let mut command = Command::new(&self.path);
        command.envs(variables.iter().copied());
        self.succeed_with(&mut command, server)
    }

    fn succeed(&self, command: &mut Command, fleet: &Fleet) -> Output {
        self.succeed_with(command, &fleet.list())
    }

    fn succeed_with(&self, command: &mut Command, servers: &str) -> Output {
        succeed(
            command
                .env("TAVOLA_MC_SERVERS", servers)
                .env("LD_LIBRARY_PATH", &self.libraries)
                .current_dir(self.directory.path()),
        )
    }
}
