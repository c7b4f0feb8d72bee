//! The peak of this process's memory, where the system tells it.

/// The peak of resident memory since the start or since it was last forgotten, in bytes; mapped files count.
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Begins a new peak. Where the system cannot, the old one stands.
pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
