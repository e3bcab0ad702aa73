//! The names of users and groups, and who is in a group.

use std::fs;
use std::sync::OnceLock;

/// Returns the name of a user in /etc/passwd, or else its number.
pub fn name_of(uid: u32) -> String {
    name_in(users(), uid).map_or_else(|| uid.to_string(), str::to_string)
}

/// Returns the name of a group in /etc/group, or else its number.
pub fn group_name(gid: u32) -> String {
    name_in(groups(), gid).map_or_else(|| gid.to_string(), str::to_string)
}

/// Reads a group of an argument: a number, or a name in /etc/group.
pub fn parse_group(text: &str) -> Result<u32, String> {
    // The largest number means "leave the group as it is" to the system.
    let number = text.parse().ok().filter(|gid| *gid != u32::MAX);
    number.or_else(|| number_in(groups(), text)).ok_or_else(|| {
        format!(
            "there is no group '{text}' in /etc/group; create it (groupadd {text}), \
             or give the number of a group that is kept elsewhere"
        )
    })
}

/// Returns the names of a group's members, sorted: those in /etc/group, and those whose own group
/// it is.
pub fn members(gid: u32) -> Vec<String> {
    members_in(users(), groups(), gid)
}

/// Returns the numbers of all groups in /etc/group that list a user as a member.
pub fn groups_with(user: &str) -> Vec<u32> {
    groups_in(groups(), user)
}

fn users() -> &'static str {
    static USERS: OnceLock<String> = OnceLock::new();
    USERS.get_or_init(|| read("/etc/passwd"))
}

fn groups() -> &'static str {
    static GROUPS: OnceLock<String> = OnceLock::new();
    GROUPS.get_or_init(|| read("/etc/group"))
}

fn read(path: &str) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Both files have the name in the first field and the number in the third.
fn name_in(text: &str, id: u32) -> Option<&str> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(id)).then_some(name)
    })
}

fn number_in(text: &str, name: &str) -> Option<u32> {
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        let is_it = fields.next()? == name;
        is_it.then(|| fields.nth(1)?.parse().ok())?
    })
}

fn members_in(users: &str, groups: &str, gid: u32) -> Vec<String> {
    let listed = groups.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        (fields.next()?.parse() == Ok(gid)).then(|| fields.next())?
    });
    let own = users.lines().filter_map(|line| {
        let mut fields = line.split(':');
        let (name, group) = (fields.next()?, fields.nth(2)?);
        (group.parse() == Ok(gid)).then_some(name)
    });
    let listed = listed.flat_map(|names| names.split(','));
    let all = listed.chain(own).map(|name| name.trim().to_string());
    let mut all: Vec<String> = all.filter(|name| !name.is_empty()).collect();
    all.sort();
    all.dedup();
    all
}

fn groups_in(groups: &str, user: &str) -> Vec<u32> {
    let lines = groups.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        let (gid, names) = (fields.next()?, fields.next()?);
        let is_listed = names.split(',').any(|name| name.trim() == user);
        is_listed.then(|| gid.parse().ok())?
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:50::/:/bin/sh\nbad\n";
    const GROUPS: &str = "root:x:0:\nweb:x:50:bob,cid\nshop:x:51:bob\nbad\n";

    #[test]
    fn a_user_has_the_name_that_the_file_has_for_its_number() {
        assert_eq!(name_in(USERS, 1000), Some("ann"));
        assert_eq!(name_in(USERS, 10), None);
    }

    #[test]
    fn groups_are_found_by_name_and_number() {
        assert_eq!(number_in(GROUPS, "web"), Some(50));
        assert_eq!(number_in(GROUPS, "we"), None);
        assert_eq!(name_in(GROUPS, 51), Some("shop"));
        assert_eq!(parse_group("4242"), Ok(4242));
        for wrong in ["", "-1", "4294967295", "no such group"] {
            assert!(parse_group(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn members_are_those_listed_and_those_whose_own_group_it_is() {
        assert_eq!(members_in(USERS, GROUPS, 50), ["ann", "bob", "cid"]);
        assert_eq!(members_in(USERS, GROUPS, 51), ["bob"]);
        assert_eq!(members_in(USERS, GROUPS, 52), Vec::<String>::new());
        assert_eq!(groups_in(GROUPS, "bob"), [50, 51]);
        assert_eq!(groups_in(GROUPS, "ann"), Vec::<u32>::new());
    }
}
