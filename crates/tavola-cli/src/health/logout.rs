//! Whether the system removes tables when their owner logs out: systemd-logind removes whatever a
//! user who is no system user owns in /dev/shm when that user's last session ends (`RemoveIPC`).

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::Finding;
use crate::owner;

const TOPIC: &str = "logout";

/// The first user of people; logind spares all below.
const FIRST_LOGIN_USER: u32 = 1000;

/// The directories of its settings, from the weakest to the strongest.
const SETTINGS: [&str; 3] = ["usr/lib/systemd", "run/systemd", "etc/systemd"];

/// Returns a finding if tables of this user in the directory go at logout, otherwise `None`.
pub fn examine(directory: &Path) -> Option<Finding> {
    judge(Path::new("/"), directory, geteuid().as_raw())
}

/// Of the system whose files are below `root`.
fn judge(root: &Path, directory: &Path, user: u32) -> Option<Finding> {
    let has_logind = root.join("run/systemd/seats").is_dir();
    if !directory.starts_with("/dev/shm") || user < FIRST_LOGIN_USER || !has_logind {
        return None;
    }
    let name = name_of(root, user).unwrap_or_else(|| user.to_string());
    if !removes_ipc(root) || root.join("var/lib/systemd/linger").join(&name).exists() {
        return None;
    }
    let message = format!(
        "when {name} logs out, systemd-logind removes the tables in {} (RemoveIPC=yes)",
        directory.display()
    );
    let elsewhere = match group_of(directory) {
        Some(group) => {
            let name = directory.file_name().unwrap_or_default().display();
            format!(
                "use a directory outside /dev/shm, made at each start of the system: \
                 sudo tavola dir create /run/{name} --group {group} \
                 --tmpfiles=/etc/tmpfiles.d/{name}.conf, and TAVOLA_DIR=/run/{name}"
            )
        }
        None => format!(
            "set TAVOLA_DIR=/run/tavola-{user} and make that at each start of the system: \
             echo 'd /run/tavola-{user} 0700 {name} - -' \
             | sudo tee /etc/tmpfiles.d/tavola-{user}.conf && sudo systemd-tmpfiles --create"
        ),
    };
    let advice = format!(
        "let {name} linger (loginctl enable-linger {name}), run the programs as a system user, or \
         {elsewhere}"
    );
    Some(Finding::attention(TOPIC, message, advice))
}

/// Returns the group that shares a directory, if a group may create tables in it.
fn group_of(directory: &Path) -> Option<String> {
    let metadata = fs::metadata(directory).ok()?;
    let is_shared = metadata.mode() & 0o020 != 0;
    is_shared.then(|| owner::group_name(metadata.gid()))
}

fn name_of(root: &Path, user: u32) -> Option<String> {
    let users = fs::read_to_string(root.join("etc/passwd")).ok()?;
    let id = user.to_string();
    let fields = |line: &str| -> Option<(String, bool)> {
        let mut fields = line.split(':');
        let name = fields.next()?.to_string();
        Some((name, fields.nth(1) == Some(&id)))
    };
    let mut all = users.lines().filter_map(fields);
    all.find(|(_, is_user)| *is_user).map(|(name, _)| name)
}

/// What logind's settings say: on, unless it is turned off.
fn removes_ipc(root: &Path) -> bool {
    let files = setting_files(root);
    let settings = files
        .iter()
        .filter_map(|file| fs::read_to_string(file).ok());
    let said = settings.filter_map(|text| said_in(&text)).next_back();
    said.is_none_or(|value| !["no", "false", "off", "0", "n", "f"].contains(&value.as_str()))
}

/// The strongest last. Of files of the same name the strongest directory's counts alone.
fn setting_files(root: &Path) -> Vec<PathBuf> {
    let directories = SETTINGS.map(|directory| root.join(directory));
    let main = directories.iter().rev().map(|one| one.join("logind.conf"));
    let mut files: Vec<PathBuf> = main.filter(|file| file.exists()).take(1).collect();
    let mut parts = BTreeMap::new();
    for directory in &directories {
        let entries = fs::read_dir(directory.join("logind.conf.d"))
            .into_iter()
            .flatten();
        for file in entries.flatten().map(|entry| entry.path()) {
            if file
                .extension()
                .is_some_and(|extension| extension == "conf")
            {
                parts.insert(file.file_name().map(ToOwned::to_owned), file);
            }
        }
    }
    files.extend(parts.into_values());
    files
}

fn said_in(text: &str) -> Option<String> {
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    lines
        .filter(|(name, _)| name.trim() == "RemoveIPC")
        .map(|(_, value)| value.trim().to_ascii_lowercase())
        .next_back()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn tables_of_login_users_are_removed_unless_a_setting_says_no() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let write = |file: &str, text: &str| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let is_reported = |directory: &str, user| judge(root, Path::new(directory), user).is_some();
        let ours = "/dev/shm/tavola-1000";
        assert!(!is_reported(ours, 1000), "there is no logind");
        write("run/systemd/seats/seat0", "");
        assert!(is_reported(ours, 1000) && is_reported(ours, 1001));
        assert!(
            !is_reported(ours, 0) && !is_reported(ours, 999) && !is_reported("/run/tavola", 1000)
        );
        write("etc/systemd/logind.conf", "[Login]\n#RemoveIPC=no\n");
        assert!(is_reported(ours, 1000));
        write("etc/systemd/logind.conf", "[Login]\nRemoveIPC = no\n");
        assert!(!is_reported(ours, 1000));
        write(
            "usr/lib/systemd/logind.conf.d/10-x.conf",
            "[Login]\nRemoveIPC=yes\n",
        );
        assert!(is_reported(ours, 1000));
        write(
            "etc/systemd/logind.conf.d/10-x.conf",
            "[Login]\nRemoveIPC=off\n",
        );
        assert!(!is_reported(ours, 1000));
        write(
            "run/systemd/logind.conf.d/20-y.conf",
            "[Login]\nRemoveIPC=1\n",
        );
        assert!(is_reported(ours, 1000));
        write(
            "etc/passwd",
            "root:x:0:0::/:/bin/sh\nann:x:1000:1000::/ann:/bin/sh\n",
        );
        let finding = judge(root, Path::new(ours), 1000).unwrap();
        assert!(finding.message.contains("ann") && finding.advice.contains("0700 ann"));
        let shared = tempfile::tempdir_in("/dev/shm").unwrap();
        let mode = fs::Permissions::from_mode(0o2770);
        fs::set_permissions(shared.path(), mode).unwrap();
        let finding = judge(root, shared.path(), 1000).unwrap();
        assert!(finding.advice.contains("tavola dir create /run/"));
        write("var/lib/systemd/linger/ann", "");
        assert!(!is_reported(ours, 1000) && is_reported(ours, 1001));
    }
}
