//! The command `tavola`, whose server is measured, of the sources that the tests are built of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// Returns its path: beside the program that is tested. Builds it first if it is missing or older
/// than its sources, as when only the tests of this crate were built.
pub fn tavola() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let program = Path::new(env!("CARGO_BIN_EXE_tavola-bench")).with_file_name("tavola");
        if !is_newer_than_its_sources(&program) {
            build();
        }
        program
    })
}

fn build() {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "test", "--package", "tavola-cli"]);
    let built = cargo.arg("--target-dir").arg(target).output().unwrap();
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{errors}");
}

/// By the list of its sources that Cargo writes beside a program.
fn is_newer_than_its_sources(program: &Path) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let Some(built) = changed(program) else {
        return false;
    };
    let list = fs::read_to_string(program.with_extension("d")).unwrap_or_default();
    let Some((_, sources)) = list.split_once(": ") else {
        return false;
    };
    let mut sources = sources.split_whitespace().map(Path::new);
    sources.all(|source| changed(source).is_some_and(|changed| changed <= built))
}
