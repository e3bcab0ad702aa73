//! What a run must report of the machine it ran on.

use std::fs;

use super::report::Machine;
use crate::duty::usable_cpus;

/// This machine; what it does not show stays empty.
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
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_processors_and_memory() {
        let machine = machine();
        assert!(machine.cpus >= 1 && machine.memory_bytes > 1 << 20);
        assert!(!machine.kernel.is_empty());
    }
}
