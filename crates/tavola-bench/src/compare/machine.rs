//! What a run must tell of the machine it ran on.

use std::fs;

use super::report::Machine;
use crate::duty::usable_cpus;

/// This machine; what it does not tell stays empty.
pub(super) fn machine() -> Machine {
    let cpu_info = read("/proc/cpuinfo");
    let cpu = cpu_info
        .lines()
        .find(|line| line.starts_with("model name") || line.starts_with("Model"))
        .and_then(|line| line.split_once(':'))
        .map_or("", |(_, name)| name.trim());
    let memory = read("/proc/meminfo");
    let kib = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|line| line.split_whitespace().next())
        .and_then(|number| number.parse::<u64>().ok());
    let system = read("/etc/os-release");
    let name = system
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .unwrap_or("");
    Machine {
        cpu: cpu.to_owned(),
        cpus: usable_cpus().map_or(1, |cpus| cpus.len()),
        memory_bytes: kib.unwrap_or(0) * 1024,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        system: name.trim_matches('"').to_owned(),
        is_virtual: cpu_info.contains(" hypervisor"),
        clock: read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
            .trim()
            .to_owned(),
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Now, as `2026-11-24T05:30:00Z`.
pub(super) fn utc_now() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    utc(now.map_or(0, |since| since.as_secs()))
}

fn utc(seconds: u64) -> String {
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that the day of a leap year is the last.
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, more) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!(
        "{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        era * 400 + year + more,
        of_day / 3_600,
        of_day / 60 % 60,
        of_day % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_days() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_795_498_200), "2026-11-24T05:30:00Z");
    }

    #[test]
    fn the_machine_has_processors_and_memory() {
        let machine = machine();
        assert!(machine.cpus >= 1 && machine.memory_bytes > 1 << 20);
        assert!(!machine.kernel.is_empty());
    }
}
