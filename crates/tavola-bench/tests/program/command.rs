//! The command `tavola`, whose server is measured, and the library for C, of the sources that the
//! tests are built of.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The sources of the command.
const CRATES: [&str; 5] = [
    "tavola",
    "tavola-cli",
    "tavola-program",
    "tavola-proto",
    "tavola-server",
];

/// The sources of the library for C.
const LIBRARY_CRATES: [&str; 3] = ["tavola", "tavola-capi", "tavola-cdb"];

/// Returns the path of the command: beside the program that is tested. Builds it first if it is
/// missing or older than its sources, as when only the tests of this crate were built.
pub fn tavola() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("tavola", "tavola-cli", &CRATES))
}

/// Has the library for C beside the program that is tested, in the same way.
pub fn library() {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built("libtavola.so", "tavola-capi", &LIBRARY_CRATES));
}

fn built(name: &str, package: &str, sources: &[&str]) -> PathBuf {
    let file = Path::new(env!("CARGO_BIN_EXE_tavola-bench")).with_file_name(name);
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = sources
        .iter()
        .map(|name| newest(&crates.join(name).join("src")));
    if changed(&file) < sources.max().flatten() {
        build(package);
    }
    file
}

fn build(package: &str) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--profile", "test", "--package", package]);
    // The variables of this test run would make it build other crates again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let is_ours = [
            "CARGO_PKG_",
            "CARGO_MANIFEST_",
            "OUT_DIR",
            "RUSTC_BOOTSTRAP",
        ];
        if is_ours.iter().any(|begin| text.starts_with(begin)) {
            cargo.env_remove(&name);
        }
    }
    let built = cargo.arg("--target-dir").arg(target).output().unwrap();
    let errors = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{errors}");
}

/// When a file was changed; `None` if it is missing, which is before any time.
fn changed(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}

/// When the file below a folder was changed that was changed last.
fn newest(folder: &Path) -> Option<SystemTime> {
    let entries = fs::read_dir(folder).expect("a folder of sources").flatten();
    let times = entries.map(|entry| match entry.path() {
        path if path.is_dir() => newest(&path),
        path => changed(&path),
    });
    times.max().flatten()
}
