//! Measurements of this process from `/proc`; `None` on systems without it.

use std::fs;

use platform::memory::parse_size;

/// Ticks of CPU time per second: 100 for programs on every current Linux, whatever the kernel's own clock.
const TICKS: f64 = 100.0;

pub(super) fn resident_bytes() -> Option<i64> {
    parse_size(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")?.try_into().ok()
}

/// CPU time of all threads, in user and kernel mode.
pub(super) fn cpu_seconds() -> Option<f64> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field, the program's name, may contain spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

pub(super) fn open_files() -> Option<i64> {
    // One of the open files is this folder itself.
    Some(fs::read_dir("/proc/self/fd").ok()?.count() as i64 - 1)
}
