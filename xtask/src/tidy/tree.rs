//! The files a rule looks at, and what it reports.

use crate::failure::Failure;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::Command;

/// One file of the repository that is text.
#[derive(Debug)]
pub(super) struct File {
    /// From the top of the repository, with `/`.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    pub(super) fn has_extension(&self, extensions: &[&str]) -> bool {
        self.name()
            .rsplit_once('.')
            .is_some_and(|(_, ext)| extensions.contains(&ext))
    }

    pub(super) fn is_rust(&self) -> bool {
        self.has_extension(&["rs"])
    }

    pub(super) fn is_script(&self) -> bool {
        self.name() == "Makefile" || self.text.starts_with("#!")
    }

    /// Lines counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line))
    }

    pub(super) fn finding(&self, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: self.path.clone(),
            line,
            message: message.into(),
        }
    }
}

/// Something to mend.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) message: String,
}

/// Everything git tracks or would track.
#[derive(Debug, Default)]
pub(super) struct Tree {
    files: Vec<File>,
    paths: BTreeSet<String>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self, Failure> {
        let mut tree = Self::default();
        for path in list(root)? {
            let on_disk = root.join(&path);
            if on_disk.is_dir() {
                // A symbolic link to a directory whose files are listed, too.
                continue;
            }
            match std::fs::read(&on_disk) {
                Ok(bytes) => tree.add(path, bytes),
                // Listed, but removed from the work tree and not yet from the index.
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(Failure::File {
                        path: on_disk,
                        source,
                    });
                }
            }
        }
        Ok(tree)
    }

    /// Binary files are known by path only.
    fn add(&mut self, path: String, bytes: Vec<u8>) {
        if let Ok(text) = String::from_utf8(bytes) {
            self.files.push(File {
                path: path.clone(),
                text,
            });
        }
        self.paths.insert(path);
    }

    pub(super) fn files(&self) -> &[File] {
        &self.files
    }

    pub(super) fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files.iter().filter(|file| file.is_rust())
    }

    /// Whether `path` is a file, or a folder with a file in it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        let folder = format!("{path}/");
        path.is_empty()
            || self.paths.contains(path)
            || self
                .paths
                .range(folder.clone()..)
                .next()
                .is_some_and(|p| p.starts_with(&folder))
    }

    /// Whether some file or folder ends in `path`, as `lock/word.rs` does for a whole path.
    pub(super) fn holds_ending(&self, path: &str) -> bool {
        let inner = format!("/{}", path.trim_end_matches('/'));
        let folder = format!("{inner}/");
        self.paths
            .iter()
            .any(|p| p.ends_with(&inner) || p.contains(&folder))
    }

    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let mut tree = Self::default();
        for (path, text) in files {
            tree.add((*path).to_owned(), text.as_bytes().to_vec());
        }
        tree
    }
}

/// Tracked files and new ones; what `.gitignore` names is left out.
fn list(root: &Path) -> Result<Vec<String>, Failure> {
    let out = Command::new("git")
        // A clone made by another user (a container's root, say) may be read anyway.
        .args(["-c", "safe.directory=*", "ls-files", "-z"])
        .args(["--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|source| Failure::Spawn {
            program: "git",
            source,
        })?;
    if !out.status.success() {
        let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
        return Err(Failure::Exit {
            program: "git ls-files",
            stderr,
        });
    }
    let names = String::from_utf8_lossy(&out.stdout).into_owned();
    let names: BTreeSet<String> = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    Ok(names.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_files_folders_and_endings() {
        let tree = Tree::of(&[("crates/tavola/src/lock/word.rs", ""), ("docs/a.md", "")]);
        assert!(tree.holds("docs/a.md") && tree.holds("crates/tavola/") && tree.holds("docs"));
        assert!(!tree.holds("doc") && !tree.holds("docs/b.md"));
        assert!(tree.holds_ending("lock/word.rs") && tree.holds_ending("src/lock/"));
        assert!(!tree.holds_ending("ock/word.rs"));
    }

    #[test]
    fn binary_files_have_a_path_but_no_text() {
        let mut tree = Tree::default();
        tree.add("golden/v1.tavola".to_owned(), vec![0xff, 0xfe, 0]);
        assert!(tree.holds("golden/v1.tavola"));
        assert!(tree.files().is_empty());
    }
}
