//! Names and passwords.

use std::fmt;
use std::hint::black_box;
use std::sync::{PoisonError, RwLock};

/// The most users there may be: authentication compares with each of them.
const MOST: usize = 1024;

/// The users that may connect, from lines `name:password`. The list may change while a server uses
/// it.
pub struct Users(RwLock<Vec<User>>);

struct User {
    name: Vec<u8>,
    password: Vec<u8>,
}

/// The reason why a list of users is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadUsers {
    /// There is no user.
    Empty,
    /// There are too many users.
    TooMany,
    /// A line, counted from 1, is not `name:password`.
    Line(usize),
}

impl Users {
    /// Reads lines `name:password`; the password is all that follows the first colon. A name may
    /// have no space, because clients of the text protocol send one after it.
    ///
    /// # Errors
    ///
    /// [`BadUsers`] if a line is invalid, or there is none.
    pub fn read(text: &[u8]) -> Result<Self, BadUsers> {
        Ok(Self(RwLock::new(parse(text)?)))
    }

    /// Replaces the list of users. Connections that are authenticated stay so.
    ///
    /// # Errors
    ///
    /// As [`Users::read`]. The list is unchanged then.
    pub fn replace(&self, text: &[u8]) -> Result<(), BadUsers> {
        let users = parse(text)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = users;
        Ok(())
    }

    /// Returns whether there is a user of this name and password. The time that this takes depends
    /// on the lengths given and on the number of users, not on how much of a password is right.
    pub fn know(&self, name: &[u8], password: &[u8]) -> bool {
        let users = self.0.read().unwrap_or_else(PoisonError::into_inner);
        users.iter().fold(false, |found, user| {
            found | (is_same(name, &user.name) & is_same(password, &user.password))
        })
    }
}

impl fmt::Debug for Users {
    /// Prints no names and no passwords.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").finish_non_exhaustive()
    }
}

fn parse(text: &[u8]) -> Result<Vec<User>, BadUsers> {
    let mut users = Vec::new();
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let colon = colon.ok_or(BadUsers::Line(number))?;
        let (name, password) = (&line[..colon], &line[colon + 1..]);
        if name.is_empty() || name.contains(&b' ') || password.is_empty() {
            return Err(BadUsers::Line(number));
        }
        users.push(User {
            name: name.to_vec(),
            password: password.to_vec(),
        });
    }
    match users.len() {
        0 => Err(BadUsers::Empty),
        count if count > MOST => Err(BadUsers::TooMany),
        _ => Ok(users),
    }
}

/// Compares all bytes of `given`, wherever the first difference is. `known` is not empty.
fn is_same(given: &[u8], known: &[u8]) -> bool {
    let mut differ = given.len() ^ known.len();
    for (at, byte) in given.iter().enumerate() {
        differ |= usize::from(byte ^ known[at % known.len()]);
        differ = black_box(differ);
    }
    differ == 0
}

impl fmt::Display for BadUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("there is no user: write lines name:password"),
            Self::TooMany => write!(f, "there are more than {MOST} users: keep to those"),
            Self::Line(number) => write!(
                f,
                "line {number} is not name:password, with no space in the name and neither empty"
            ),
        }
    }
}

impl std::error::Error for BadUsers {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_known_by_their_whole_password() {
        let users = Users::read(b"ann:x\r\nbob:one two:three\n\ncat:y").expect("read");
        for (name, password) in [("ann", "x"), ("bob", "one two:three"), ("cat", "y")] {
            assert!(users.know(name.as_bytes(), password.as_bytes()), "{name}");
        }
        for (name, password) in [
            ("ann", ""),
            ("ann", "xx"),
            ("ann", "y"),
            ("ann", "x\r"),
            ("ann:x", ""),
            ("", ""),
            ("annann", "x"),
            ("bob", "one two:thre"),
            ("bob", "one two:three "),
            ("dan", "x"),
        ] {
            assert!(!users.know(name.as_bytes(), password.as_bytes()), "{name}");
        }
    }

    #[test]
    fn invalid_lines_are_reported_by_number() {
        let wrong = |text: &str| Users::read(text.as_bytes()).err();
        assert_eq!(wrong(""), Some(BadUsers::Empty));
        assert_eq!(wrong("\n\n"), Some(BadUsers::Empty));
        assert_eq!(wrong("a:b\nc"), Some(BadUsers::Line(2)));
        assert_eq!(wrong(":b"), Some(BadUsers::Line(1)));
        assert_eq!(wrong("a:"), Some(BadUsers::Line(1)));
        assert_eq!(wrong("a b:c"), Some(BadUsers::Line(1)));
        assert_eq!(wrong(&"a:b\n".repeat(MOST + 1)), Some(BadUsers::TooMany));
        assert_eq!(wrong(&"a:b\n".repeat(MOST)), None);
    }

    #[test]
    fn a_new_list_replaces_the_old_one_unless_it_is_invalid() {
        let users = Users::read(b"ann:x").expect("read");
        assert_eq!(users.replace(b"bob"), Err(BadUsers::Line(1)));
        assert!(users.know(b"ann", b"x"));
        users.replace(b"bob:y").expect("read");
        assert!(!users.know(b"ann", b"x") && users.know(b"bob", b"y"));
        assert!(!format!("{users:?}").contains("bob"));
    }
}
