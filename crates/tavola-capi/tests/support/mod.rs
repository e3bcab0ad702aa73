//! A library that is installed for the tests, compilers, and programs made with them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// Compilers for C; those for C++ are their companions.
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

    /// Those that are there.
    pub fn compilers(self) -> Vec<&'static str> {
        let is_there = |compiler: &&str| {
            let version = Command::new(self.command(compiler))
                .arg("--version")
                .output();
            version.is_ok_and(|out| out.status.success())
        };
        COMPILERS.into_iter().filter(is_there).collect()
    }
}

/// A path in this crate.
pub fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs a command to its end; what it said is told when it fails.
fn succeed(command: &mut Command) -> Output {
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
                Command::new(env!("CARGO"))
                    .args(["build", "--profile", "test", "--package", "tavola-capi"])
                    .args(["--lib", "--target-dir"])
                    .arg(target)
                    .current_dir(here("../..")),
            );
            succeed(
                Command::new(env!("CARGO"))
                    .args(["xtask", "man"])
                    .arg(target.join("debug/man3"))
                    .env("CARGO_TARGET_DIR", target)
                    .current_dir(here("../..")),
            );
            Self::install(&work.join("tavola-capi"), None)
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
        succeed(command.arg(built));
        Self {
            prefix: prefix.to_owned(),
            libdir: libdir.map_or_else(|| prefix.join("lib"), Path::to_owned),
        }
    }

    fn script(act: &str, prefix: &Path, libdir: Option<&Path>) -> Command {
        let mut command = Command::new(here("../../scripts/install-lib"));
        command.arg(act).env("PREFIX", prefix);
        // Not the system's own place: its loader is not told.
        command.env("DESTDIR", "/").env_remove("LIBDIR");
        if let Some(libdir) = libdir {
            command.env("LIBDIR", libdir);
        }
        command
    }

    pub fn uninstall(&self) {
        succeed(&mut Self::script(
            "uninstall",
            &self.prefix,
            Some(&self.libdir),
        ));
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
        let archive = Program::directory();
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
        let directory = Program::directory();
        let path = directory.path().join("program");
        succeed(
            Command::new(language.command(compiler))
                .arg(language.standard())
                .args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1"])
                .args(["-D_GNU_SOURCE", "-pthread"])
                .args(flags)
                .args(self.flags(&["--cflags"]))
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

    /// Builds a project, and runs its tests.
    pub fn build_with_cmake(&self, project: &Path) {
        let directory = Program::directory();
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

/// A program, in a directory of its own.
pub struct Program {
    path: PathBuf,
    libraries: PathBuf,
    directory: tempfile::TempDir,
}

impl Program {
    fn directory() -> tempfile::TempDir {
        tempfile::Builder::new()
            .prefix("tavola-capi-")
            .tempdir_in("/dev/shm")
            .unwrap()
    }

    pub fn run(&self) {
        self.succeed(&mut Command::new(&self.path));
    }

    pub fn run_under_valgrind(&self) {
        self.succeed(
            Command::new("valgrind")
                .args(["--quiet", "--error-exitcode=99", "--leak-check=full"])
                .arg(&self.path),
        );
    }

    /// Runs it over an empty directory of tables, which it leaves empty.
    fn succeed(&self, command: &mut Command) {
        let tables = self.directory.path().join("tables");
        std::fs::create_dir_all(&tables).unwrap();
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
