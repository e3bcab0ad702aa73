//! Lines of tmpfiles.d, by which systemd creates a directory at boot.

use std::fs;
use std::path::Path;

use rustix::process::geteuid;

use crate::error::CliError;
use crate::owner;

/// Returns the line that creates a directory with this mode and group for the caller.
pub fn line(path: &Path, mode: u32, group: u32) -> Result<String, CliError> {
    let text = path.to_str().filter(|text| is_plain(text));
    let text = text.ok_or_else(|| {
        CliError::Sentence(format!(
            "'{}' cannot stand in a line of tmpfiles.d; choose a path of letters, digits and /._-",
            path.display()
        ))
    })?;
    let user = owner::name_of(geteuid().as_raw());
    let group = owner::group_name(group);
    Ok(format!("d {text} {mode:o} {user} {group} -"))
}

/// Writes the line to a file of its own.
pub fn write(file: &Path, line: &str) -> Result<(), CliError> {
    let text = format!("# A directory of tables that a group shares.\n{line}\n");
    fs::write(file, text).map_err(|source| CliError::Write {
        path: file.to_path_buf(),
        source,
    })
}

/// Blanks end a field, and `%`, `\` and quotes have meanings of their own.
fn is_plain(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:@,".contains(letter);
    text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_directory_its_mode_and_its_group() {
        let made = line(Path::new("/dev/shm/web"), 0o2770, 4_000_000_000).unwrap();
        let user = owner::name_of(geteuid().as_raw());
        assert_eq!(made, format!("d /dev/shm/web 2770 {user} 4000000000 -"));
        for odd in ["/dev/shm/a b", "/a%b", "/a\nd /etc", "/a\"b"] {
            assert!(line(Path::new(odd), 0o2770, 0).is_err(), "{odd}");
        }
    }
}
