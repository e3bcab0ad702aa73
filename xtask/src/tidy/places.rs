//! Nothing names a folder of somebody's machine: what is written here is true everywhere.

use super::tree::{Finding, Tree};

/// Folders at the top of a file system that belong to one machine or one person.
const TOPS: [&str; 4] = ["work", "root", "home", "Users"];
/// Hidden folders of tools that are no part of the project.
const HIDDEN: [&str; 1] = [concat!(".", "library")];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files() {
        for (line, text) in file.lines() {
            if let Some(place) = place(text) {
                let message = format!("`{place}` is a place on one machine; name none");
                findings.push(file.finding(line, message));
            }
        }
    }
    findings
}

fn place(line: &str) -> Option<String> {
    let tops = TOPS.iter().map(|top| format!("/{top}/"));
    let hidden = HIDDEN.iter().map(|name| (*name).to_owned());
    tops.chain(hidden).find(|place| {
        line.match_indices(place.as_str()).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + place.len()..].chars().next();
            let inside_longer = before.is_some_and(is_name) || before == Some('}');
            let names_nobody = place == "/home/" && !after.is_some_and(is_name);
            !inside_longer && !names_nobody
        })
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count_in(text: &str) -> usize {
        check(&Tree::of(&[("a.md", text)])).len()
    }

    #[test]
    fn places_of_everybody_pass() {
        let text = "/dev/shm/x /tmp/a $HOME/root/b ${X}/work/b https://a.example/home/b \
                    src/root/c work/ and root/ and a.library and /home/<user>/x\n";
        assert_eq!(count_in(text), 0);
    }

    #[test]
    fn places_of_one_machine_are_found() {
        for top in TOPS {
            assert_eq!(count_in(&format!("see `/{top}/ada/table`")), 1, "{top}");
            assert_eq!(count_in(&format!("/{top}/ada")), 1, "{top}");
        }
        assert_eq!(count_in(&format!("in {}/search", HIDDEN[0])), 1);
    }
}
