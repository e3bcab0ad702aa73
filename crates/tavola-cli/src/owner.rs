//! The names of users.

use std::fs;
use std::sync::OnceLock;

/// Returns the name of a user in /etc/passwd, or else its number.
pub fn name_of(uid: u32) -> String {
    static USERS: OnceLock<String> = OnceLock::new();
    let users = USERS.get_or_init(|| fs::read_to_string("/etc/passwd").unwrap_or_default());
    name_in(users, uid).map_or_else(|| uid.to_string(), str::to_string)
}

fn name_in(users: &str, uid: u32) -> Option<&str> {
    users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, number) = (fields.next()?, fields.nth(1)?);
        (number.parse() == Ok(uid)).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_has_the_name_that_the_file_has_for_its_number() {
        let users = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/:/bin/sh\nbad\n";
        assert_eq!(name_in(users, 1000), Some("ann"));
        assert_eq!(name_in(users, 10), None);
    }
}
