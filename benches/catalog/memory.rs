//! The peak memory of this process, if the system reports it.

/// Peak resident memory since the start or the last reset, in bytes, including mapped files.
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Resets the peak, if the system supports it.
pub fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
