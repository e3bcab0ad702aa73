//! A library that is installed for the tests, compilers, and programs made with them.
//!
//! Not every test file uses all of it.
#![allow(dead_code)]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex, OnceLock};
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

    pub fn standard(self) -> &'static str {
        match self {
            // With what POSIX has beside.
            Self::C => "-std=c11",
            Self::Cpp => "-std=c++17",
            Self::Cpp20 => "-std=c++20",
        }
    }

    /// The command of a compiler for this language.
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

/// The directory of tables within another, which is made when it is not there.
pub fn tables_in(directory: &Path) -> PathBuf {
    let tables = directory.join("tables");
    std::fs::create_dir_all(&tables).unwrap();
    tables
}

/// A directory of its own, gone when its user is.
pub fn directory() -> TempDir {
    let mut named = tempfile::Builder::new();
    named.prefix("tavola-capi-").tempdir_in("/dev/shm").unwrap()
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

/// Cargo, in the workspace. The variables of this test run are left out: build scripts of other
/// crates would run again because of them, and all that depends on them would be built again.
pub fn cargo() -> Command {
    let mut command = Command::new(env!("CARGO"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_ours = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "OUT_DIR",
            "RUSTC_BOOTSTRAP",
        ];
        if is_ours.iter().any(|begin| text.starts_with(begin)) {
            command.env_remove(&name);
        }
    }
    command.current_dir(here("../.."));
    command
}

/// The packages that `cargo test` was called for: with these, cargo builds on with the features,
/// and so with the crates, that are built already. `scripts/test` says which if they are all.
pub fn tested_packages() -> Vec<String> {
    let packages = std::env::var("TAVOLA_TESTED_PACKAGES");
    let packages = packages.unwrap_or_else(|_| "--package tavola-capi".to_owned());
    packages.split_whitespace().map(str::to_owned).collect()
}

/// A place that the library is installed to as `make install` does.
pub struct Installed {
    prefix: PathBuf,
    libdir: PathBuf,
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
                    .args(["build", "--profile", "test"])
                    .args(tested_packages())
                    // Naming a test takes the features of the packages' tests, too.
                    .args(["--lib", "--test", env!("CARGO_CRATE_NAME"), "--target-dir"])
                    .arg(target),
            );
            succeed(
                cargo()
                    .args(["xtask", "man"])
                    .arg(target.join("debug/man3"))
                    .env("CARGO_TARGET_DIR", target),
            );
            // Each test file has its own, as two of them may run at once.
            Self::install(&work.join(env!("CARGO_CRATE_NAME")), None)
        })
    }

    /// The same with its libraries in another directory.
    pub fn elsewhere(prefix: &str, libdir: &str) -> Self {
        Self::get();
        let work = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Self::install(&work.join(prefix), Some(&work.join(libdir)))
    }

    fn install(prefix: &Path, libdir: Option<&Path>) -> Self {
        let _ = std::fs::remove_dir_all(prefix);
        let mut command = Self::script("install", prefix, libdir);
        let built = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("debug");
        succeed(command.arg(built).arg("tavola"));
        Self {
            prefix: prefix.to_owned(),
            libdir: libdir.map_or_else(|| prefix.join("lib"), Path::to_owned),
        }
    }

    fn script(act: &str, prefix: &Path, libdir: Option<&Path>) -> Command {
        let mut command = Command::new(here("../../scripts/install-lib"));
        command.arg(act).env("PREFIX", prefix);
        // Not the system's own place: its loader does not know it.
        command.env("DESTDIR", "/").env_remove("LIBDIR");
        if let Some(libdir) = libdir {
            command.env("LIBDIR", libdir);
        }
        command
    }

    pub fn uninstall(&self) {
        let mut command = Self::script("uninstall", &self.prefix, Some(&self.libdir));
        succeed(command.arg("tavola"));
    }

    pub fn path(&self) -> &Path {
        &self.prefix
    }

    pub fn libraries(&self) -> &Path {
        &self.libdir
    }

    /// What pkg-config says.
    fn flags(&self, args: &[&str]) -> Vec<String> {
        let out = succeed(
            Command::new("pkg-config")
                .args(args)
                .arg("tavola")
                .env("PKG_CONFIG_PATH", self.libdir.join("pkgconfig")),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        text.split_whitespace().map(str::to_owned).collect()
    }

    pub fn compile(
        &self,
        language: Language,
        compiler: &str,
        source: &Path,
        flags: &[&str],
    ) -> Program {
        let libraries = self.flags(&["--libs"]);
        self.link(language, compiler, source, flags, &libraries)
    }

    /// With a directory in which there is no shared library.
    pub fn compile_statically(
        &self,
        language: Language,
        compiler: &str,
        source: &Path,
        flags: &[&str],
    ) -> Program {
        let archive = directory();
        let to = archive.path().join("libtavola.a");
        std::fs::copy(self.libdir.join("libtavola.a"), to).unwrap();
        let libdir = format!("--define-variable=libdir={}", archive.path().display());
        let libraries = self.flags(&["--libs", "--static", &libdir]);
        self.link(language, compiler, source, flags, &libraries)
    }

    fn link(
        &self,
        language: Language,
        compiler: &str,
        source: &Path,
        flags: &[&str],
        libraries: &[String],
    ) -> Program {
        let directory = directory();
        let path = directory.path().join("program");
        // Some warnings of gcc need its optimiser. Those of clang do not, and it is faster without.
        let optimised = if compiler == "clang" { "-O0" } else { "-O1" };
        let mut words = vec![language.command(compiler), language.standard()];
        words.extend(["-Wall", "-Wextra", "-Wpedantic", "-Werror", optimised]);
        words.extend(["-D_GNU_SOURCE", "-pthread"]);
        words.extend(flags);
        let mut words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        words.extend(self.flags(&["--cflags"]));
        if let Some(head) = compiled_head(&words, source) {
            words.extend(["-Winvalid-pch".to_owned(), "-include".to_owned(), head]);
        }
        succeed(
            Command::new(&words[0])
                .args(&words[1..])
                .arg(source)
                .arg("-o")
                .arg(&path)
                .args(libraries),
        );
        Program {
            path,
            libraries: self.libdir.clone(),
            directory,
        }
    }

    /// Runs a command that a page shows, in a directory with what it needs and with tables of its
    /// own. `cc` is a compiler, which takes no warning.
    pub fn run_command(
        &self,
        language: Language,
        compiler: &str,
        directory: &Path,
        command: &str,
    ) -> Output {
        let cc = language.command(compiler);
        succeed(Command::new(cc).arg("--version"));
        let strict = "-Wall -Wextra -Wpedantic -Werror";
        succeed(
            Command::new("sh")
                .arg("-ec")
                .arg(format!("cc() {{ {cc} {strict} \"$@\"; }}\n{command}"))
                .env("PKG_CONFIG_PATH", self.libdir.join("pkgconfig"))
                .env("LD_LIBRARY_PATH", &self.libdir)
                .env("TAVOLA_DIR", tables_in(directory))
                .current_dir(directory),
        )
    }

    /// Builds a project, and runs its tests.
    pub fn build_with_cmake(&self, project: &Path) {
        let directory = directory();
        let build = directory.path().join("build");
        let cmake = || {
            let mut command = Command::new("cmake");
            command.env("TAVOLA_DIR", directory.path().join("tables"));
            command
        };
        let place = match self.libdir == self.prefix.join("lib") {
            true => format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display()),
            false => format!("-Dtavola_DIR={}/cmake/tavola", self.libdir.display()),
        };
        succeed(
            cmake()
                .arg("-S")
                .arg(project)
                .arg("-B")
                .arg(&build)
                .arg(place),
        );
        succeed(cmake().arg("--build").arg(&build));
        succeed(
            cmake()
                .args(["--build"])
                .arg(&build)
                .args(["--target", "test"]),
        );
    }

    /// What the shared library calls itself: programs that are linked with it look for that.
    pub fn soname(&self) -> String {
        let out = succeed(
            Command::new("readelf")
                .args(["--dynamic", "--wide"])
                .arg(self.libdir.join("libtavola.so"))
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
                .arg(self.libdir.join("libtavola.so")),
        );
        let text = String::from_utf8(out.stdout).unwrap();
        let name = |line: &str| line.split(' ').next().unwrap().to_owned();
        text.lines().map(name).collect()
    }
}

/// Compiles `check.hpp`, which the tests in C++ begin with, once for each set of flags, and returns
/// the path by which it is included. Reading it takes most of the time of a short program. Returns
/// `None` if the program does not include it.
fn compiled_head(words: &[String], source: &Path) -> Option<String> {
    type Heads = HashMap<Vec<String>, Arc<(usize, OnceLock<String>)>>;
    static HEADS: OnceLock<Mutex<Heads>> = OnceLock::new();
    const HEAD: &str = "check.hpp";
    let code = std::fs::read_to_string(source).unwrap();
    if !code.contains(&format!("#include \"{HEAD}\"")) {
        return None;
    }
    let head = {
        let mut heads = HEADS.get_or_init(Mutex::default).lock().unwrap();
        let new = (heads.len(), OnceLock::new());
        let head = heads.entry(words.to_vec()).or_insert(Arc::new(new));
        Arc::clone(head)
    };
    let path = head.1.get_or_init(|| {
        let folder = format!("{}-head-{}", env!("CARGO_CRATE_NAME"), head.0);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        succeed(
            Command::new(&words[0])
                .args(&words[1..])
                .args(["-x", "c++-header"])
                .arg(source.with_file_name(HEAD))
                .arg("-o")
                .arg(folder.join(format!("{HEAD}.gch"))),
        );
        folder.join(HEAD).display().to_string()
    });
    Some(path.clone())
}

/// A program, in a directory of its own.
pub struct Program {
    path: PathBuf,
    libraries: PathBuf,
    directory: TempDir,
}

impl Program {
    /// The program, to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.env("LD_LIBRARY_PATH", &self.libraries);
        command
    }

    /// The directory that is gone with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn run(&self) {
        self.succeed(&mut Command::new(&self.path));
    }

    /// Its children, too: whatever becomes of their exit codes, what is found is in a file of
    /// each process. Leaks are found by the sanitizer: valgrind would read a whole table at the
    /// end of every child.
    pub fn run_under_valgrind(&self) {
        let found = self.directory.path().join("found");
        std::fs::create_dir_all(&found).unwrap();
        self.succeed(
            Command::new("valgrind")
                .args(["--quiet", "--leak-check=no"])
                .arg(format!("--log-file={}/%p", found.display()))
                .arg(&self.path),
        );
        let found = std::fs::read_dir(&found).unwrap().map(|file| {
            let path = file.unwrap().path();
            std::fs::read_to_string(path).unwrap()
        });
        let (count, text) = found.fold((0, String::new()), |(n, all), one| (n + 1, all + &one));
        assert!(
            count > 0 && text.is_empty(),
            "{}: {text}",
            self.path.display()
        );
    }

    /// Runs it over an empty directory of tables, which it leaves empty.
    fn succeed(&self, command: &mut Command) {
        let tables = tables_in(self.directory.path());
        succeed(
            command
                .env("TAVOLA_DIR", &tables)
                .env("LD_LIBRARY_PATH", &self.libraries)
                .current_dir(self.directory.path()),
        );
        let left = std::fs::read_dir(&tables).unwrap().count();
        assert_eq!(left, 0, "{command:?} left tables behind");
    }
}
