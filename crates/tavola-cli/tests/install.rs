//! `make install` and `make uninstall`, into a directory of their own.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// What is installed, below the prefix.
const PARTS: [&str; 26] = [
    "bin/tavola",
    "bin/tavola-cdb",
    "bin/tavola-memcached",
    "lib/systemd/system/tavola-memcached.service",
    "lib/systemd/system/tavola-memcached.socket",
    "lib/systemd/system/tavola-exporter.service",
    "lib/systemd/system/tavola-keep@.service",
    "lib/systemd/system/tavola-log-drain@.service",
    "lib/systemd/system/tavola-maintain.service",
    "lib/systemd/system/tavola-maintain.timer",
    "lib/sysusers.d/tavola.conf",
    "lib/tmpfiles.d/tavola.conf",
    "share/man/man1/tavola-dir-create.1",
    "share/man/man1/tavola.1",
    "share/man/man1/tavola-log-drain.1",
    "share/man/man1/tavola-memcached.1",
    "share/man/man3/tavola_get.3",
    "share/bash-completion/completions/tavola",
    "share/zsh/site-functions/_tavola",
    "share/fish/vendor_completions.d/tavola.fish",
    "include/tavola.h",
    "include/tavola.hpp",
    "lib/libtavola.a",
    "lib/libtavola.so",
    "lib/pkgconfig/tavola.pc",
    "lib/cmake/tavola/tavola-config.cmake",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn succeed(command: &mut Command) -> Output {
    let out = command.output();
    let out = out.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{command:?}: {said}");
    out
}

/// Cargo, without the variables of this test run: build scripts of other crates would run again
/// because of them, and all that depends on them would be built again.
fn cargo() -> Command {
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
    command
}

/// A directory of what `make build` makes, from what the tests are built of.
fn built(work: &Path) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut library = cargo();
    library.args(["build", "--profile", "test"]);
    // With the packages that `cargo test` was called for, cargo builds on what is built already.
    let packages = std::env::var("TAVOLA_TESTED_PACKAGES");
    let few = "--package tavola-cli --package tavola-capi --package tavola-client-capi";
    let packages = packages.unwrap_or(few.to_owned());
    library.args(packages.split_whitespace());
    library.args(["--lib", "--test", "install", "--target-dir"]);
    library.arg(target);
    succeed(library.current_dir(root()));
    let mut pages = cargo();
    pages.args(["xtask", "man"]).arg(work.join("man3"));
    succeed(pages.env("CARGO_TARGET_DIR", target).current_dir(root()));
    symlink(env!("CARGO_BIN_EXE_tavola"), work.join("tavola")).unwrap();
    for library in ["libtavola", "libtavola_client"] {
        for ending in ["a", "so"] {
            let file = format!("{library}.{ending}");
            symlink(target.join("debug").join(&file), work.join(&file)).unwrap();
        }
    }
}

fn make(work: &Path, act: &str) {
    let mut make = Command::new("make");
    make.arg(act).arg("PREFIX=/usr").current_dir(root());
    make.arg(format!("DESTDIR={}", work.join("root").display()));
    // What it builds first is there.
    make.arg("MAKE=true").env("CARGO_TARGET_DIR", work);
    for other in ["LIBDIR", "MAKEFLAGS", "MAKELEVEL", "SUDO_USER"] {
        make.env_remove(other);
    }
    succeed(&mut make);
}

fn files(under: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(under).into_iter().flatten() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}

#[test]
fn everything_is_installed_runs_and_is_removed() {
    let work = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let release = work.path().join("release");
    std::fs::create_dir(&release).unwrap();
    built(&release);
    make(work.path(), "install");
    let prefix = work.path().join("root/usr");
    for part in PARTS {
        assert!(prefix.join(part).is_file(), "no {part}");
    }
    let said = succeed(Command::new(prefix.join("bin/tavola")).arg("--version"));
    let version = format!("tavola {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(String::from_utf8_lossy(&said.stdout), version);
    // A script that resolves links still starts a program of this name.
    let server = prefix.join("bin/tavola-memcached");
    assert_eq!(
        server.canonicalize().unwrap().file_name(),
        server.file_name()
    );
    let said = succeed(Command::new(server.canonicalize().unwrap()).arg("-V"));
    assert!(said.stdout.starts_with(b"memcached "));
    let said = succeed(Command::new(prefix.join("bin/tavola")).args(["memcached", "-V"]));
    assert!(said.stdout.starts_with(b"memcached "));
    let said = succeed(Command::new(prefix.join("bin/tavola-cdb")).arg("--help"));
    assert!(String::from_utf8_lossy(&said.stdout).contains("tavola cdb -q"));
    // They say where it will be used, not where it was copied to.
    let unit = prefix.join("lib/systemd/system/tavola-memcached.service");
    let unit = std::fs::read_to_string(unit).unwrap();
    assert!(
        unit.contains("ExecStart=/usr/bin/tavola-memcached "),
        "{unit}"
    );
    let package = std::fs::read_to_string(prefix.join("lib/pkgconfig/tavola.pc")).unwrap();
    assert!(package.contains("prefix=/usr\n"), "{package}");
    make(work.path(), "uninstall");
    assert_eq!(files(&prefix), Vec::<PathBuf>::new());
}
