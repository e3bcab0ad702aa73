//! Which users may use the file of a new table: its mode and its group.

use tavola::{LogOptions, Options, QueueOptions};

use crate::owner;

/// The rights of a new table. An existing one keeps its own.
#[derive(clap::Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RightsArgs {
    /// Which users may use a new table, as for chmod [default: 600, with --group 660]
    #[arg(long, value_name = "OCTAL", value_parser = parse_mode)]
    mode: Option<u32>,
    /// The group of a new table, by name or number: its members may use the table
    #[arg(long, value_name = "GROUP", value_parser = owner::parse_group)]
    group: Option<u32>,
}

impl RightsArgs {
    /// Adds the rights to the options of a table.
    pub fn give(self, mut options: Options) -> Options {
        if let Some(mode) = self.mode {
            options = options.mode(mode);
        }
        if let Some(gid) = self.group {
            options = options.group(gid);
        }
        options
    }

    /// Adds the rights to the options of a log.
    pub fn give_log(self, options: LogOptions) -> LogOptions {
        let options = options.mode(self.mode());
        match self.group {
            Some(gid) => options.group(gid),
            None => options,
        }
    }

    /// Adds the rights to the options of a queue.
    pub fn give_queue(self, options: QueueOptions) -> QueueOptions {
        let options = options.mode(self.mode());
        match self.group {
            Some(gid) => options.group(gid),
            None => options,
        }
    }

    /// Returns the mode, which depends on whether a group is given.
    fn mode(self) -> u32 {
        let usual = match self.group {
            Some(_) => 0o660,
            None => 0o600,
        };
        self.mode.unwrap_or(usual)
    }
}

fn parse_mode(text: &str) -> Result<u32, String> {
    match u32::from_str_radix(text, 8) {
        Ok(mode) if mode & 0o600 == 0o600 && mode <= 0o777 => Ok(mode),
        _ => Err(format!(
            "'{text}' is not a mode that lets its owner read and write, as 600 does"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_and_leaves_the_owner_able() {
        assert_eq!(parse_mode("660"), Ok(0o660));
        assert_eq!(parse_mode("0600"), Ok(0o600));
        for wrong in ["", "9", "066", "1777", "rw", "-600"] {
            assert!(parse_mode(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_group_may_write_unless_a_mode_says_otherwise() {
        let rights = |mode, group| RightsArgs { mode, group }.mode();
        assert_eq!(rights(None, None), 0o600);
        assert_eq!(rights(None, Some(5)), 0o660);
        assert_eq!(rights(Some(0o640), Some(5)), 0o640);
    }
}
