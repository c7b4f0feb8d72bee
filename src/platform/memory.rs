//! How much memory a server may use, and what each of its parts may. One table decides how much of releases is held, and bounds
//! each cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Memory that a server may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryBudget {
    bytes: u64,
}

/// What the memory of a server is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryPart {
    /// Files of loaded releases, with the one that replaces the served one.
    Releases,
    /// Blocks of records that are read from the disk.
    Records,
    /// Responses of the API and pages.
    Responses,
    /// Rows that match a search.
    Searches,
    /// Counts, rankings, aggregates, notes and pictures.
    Results,
}

/// Parts with their shares of the budget. The rest is for requests, connections and what the allocator keeps.
const SHARES: [(MemoryPart, &str, u64); 5] = [
    (MemoryPart::Releases, "releases", 44),
    (MemoryPart::Records, "records", 4),
    (MemoryPart::Responses, "responses", 4),
    (MemoryPart::Searches, "searches", 1),
    (MemoryPart::Results, "results", 3),
];
/// The whole of these shares.
const WHOLE: u64 = 64;

/// The smallest budget that can be set: password hashes and tables of callers need as much.
const MIN: u64 = 64 << 20;
/// The limit of a system that states none.
const UNKNOWN: u64 = 2 << 30;

impl MemoryPart {
    pub const ALL: [Self; 5] = [Self::Releases, Self::Records, Self::Responses, Self::Searches, Self::Results];

    fn row(self) -> (&'static str, u64) {
        let (_, name, share) = SHARES[self as usize];
        (name, share)
    }

    pub fn name(self) -> &'static str {
        self.row().0
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::of_limit(limit("self"))
    }
}

impl MemoryBudget {
    pub fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Three quarters of a limit of the process or machine: the rest is for the system and other programs.
    pub fn of_limit(limit: Option<u64>) -> Self {
        Self { bytes: (limit.unwrap_or(UNKNOWN) / 4 * 3).max(MIN) }
    }

    /// The whole of it in bytes.
    pub fn bytes(self) -> u64 {
        self.bytes
    }

    /// The bytes of a part.
    pub fn part(self, part: MemoryPart) -> u64 {
        self.bytes / WHOLE * part.row().1
    }

    /// The smallest budget, in whole MiB, that has so many bytes for releases.
    #[must_use]
    pub fn with_releases(bytes: u64) -> Self {
        const MIB: u64 = 1 << 20;
        let (_, share) = MemoryPart::Releases.row();
        let needed = bytes.div_ceil(share).saturating_mul(WHOLE).max(MIN);
        Self { bytes: needed.div_ceil(MIB).saturating_mul(MIB) }
    }

    /// The caches of each of the releases that are loaded at once.
    pub fn caches_of_release(self, releases: usize) -> ReleaseCaches {
        let each = |part| self.part(part) / releases.max(1) as u64;
        ReleaseCaches {
            records: each(MemoryPart::Records),
            searches: each(MemoryPart::Searches),
            results: each(MemoryPart::Results),
        }
    }
}

/// Maximum bytes of the caches of one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseCaches {
    pub records: u64,
    pub searches: u64,
    pub results: u64,
}

impl Default for ReleaseCaches {
    /// Those of a single release in 1 GiB.
    fn default() -> Self {
        MemoryBudget::new(1 << 30).caches_of_release(1)
    }
}

impl FromStr for MemoryBudget {
    type Err = String;

    /// Reads `512M`, `2G` or `1.5GiB`; units are powers of 1,024.
    fn from_str(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_ascii_lowercase();
        let digits = lower.trim_end_matches(|char: char| char.is_ascii_alphabetic());
        let power = match &lower[digits.len()..] {
            "m" | "mb" | "mib" => 20,
            "g" | "gb" | "gib" => 30,
            "t" | "tb" | "tib" => 40,
            _ => 0,
        };
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = digits.trim().parse::<f64>().ok().filter(|_| is_number && power > 0);
        let Some(number) = number else { return Err("not a size with its unit, such as 512M or 2G".to_owned()) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and saturates"
        )]
        let bytes = (number * f64::from(power).exp2()) as u64;
        match bytes {
            MIN.. => Ok(Self { bytes }),
            _ => Err(format!("a server needs at least {}", Self { bytes: MIN })),
        }
    }
}

impl std::fmt::Display for MemoryBudget {
    /// As [`MemoryBudget::from_str`] reads it, rounded up to MiB.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mebibytes = self.bytes.div_ceil(1 << 20);
        if mebibytes.is_multiple_of(1 << 10) { write!(f, "{}G", mebibytes >> 10) } else { write!(f, "{mebibytes}M") }
    }
}

/// The smallest limit among the control groups of a process and the machine's memory, in bytes. The process is `self` or a
/// number. `None` if the system does not say.
pub fn limit(process: &str) -> Option<u64> {
    let groups = fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap_or_default();
    let limits = limit_files(Path::new("/sys/fs/cgroup"), &groups);
    let limits = limits.into_iter().filter_map(|file| parse_limit(&fs::read_to_string(file).ok()?));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| parse_size(&text, "MemTotal:"));
    limits.chain(machine).min()
}

/// The memory limit files for `/proc/PID/cgroup`, including those of parent groups.
fn limit_files(root: &Path, groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, name) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            _ if controllers.split(',').any(|controller| controller == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let group = Path::new(path.trim_start_matches('/'));
        files.extend(group.ancestors().map(|group| root.join(group).join(name)));
    }
    files
}

/// A limit of a control group; `None` if it has none.
fn parse_limit(text: &str) -> Option<u64> {
    // Version 1 writes the largest multiple of the page size for "no limit".
    text.trim().parse().ok().filter(|limit| *limit < 1 << 60)
}

/// The size in bytes after `name` in a file of `/proc`, which has it in kibibytes.
pub fn parse_size(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn each_part_has_its_share_and_some_is_left() {
        for (index, (part, ..)) in SHARES.iter().enumerate() {
            assert_eq!((*part as usize, MemoryPart::ALL[index]), (index, *part));
        }
        let budget = MemoryBudget::new(1 << 30);
        let sum: u64 = MemoryPart::ALL.iter().map(|part| budget.part(*part)).sum();
        assert!(sum <= (1 << 30) / 8 * 7, "{sum}");
        let ReleaseCaches { records, searches, results } = budget.caches_of_release(5);
        assert!(5 * (records + searches + results) <= (1 << 30) / 8);
    }

    #[test]
    fn a_budget_for_releases_has_room_for_them_and_not_much_more() {
        for bytes in [MIB, 100 * MIB, 137 * MIB + 1, 5 << 30] {
            let budget = MemoryBudget::with_releases(bytes);
            assert!(budget.part(MemoryPart::Releases) >= bytes);
            assert_eq!(budget.to_string().parse(), Ok(budget));
            let smaller = MemoryBudget::new(budget.bytes() - MIB);
            assert!(budget.bytes() == MIN || smaller.part(MemoryPart::Releases) < bytes);
        }
    }

    #[test]
    fn sizes_have_a_unit_and_a_minimum() {
        let parse = |text: &str| text.parse::<MemoryBudget>().map(MemoryBudget::bytes);
        assert_eq!([parse("512M"), parse(" 2g "), parse("1.5GiB")], [Ok(512 * MIB), Ok(2 << 30), Ok(3 << 29)]);
        for text in ["", "M", "512", "-1G", "1e3G", "12 parsecs", "NaNG", "infG"] {
            assert!(parse(text).unwrap_err().contains("such as 512M"), "{text}");
        }
        assert_eq!(parse("63M").unwrap_err(), "a server needs at least 64M");
        assert_eq!(parse("99999999999999T"), Ok(u64::MAX));
    }

    #[test]
    fn the_default_is_three_quarters_of_the_smallest_limit() {
        assert_eq!(MemoryBudget::of_limit(Some(1 << 30)).bytes(), 768 * MIB);
        assert_eq!(MemoryBudget::of_limit(Some(1)).bytes(), MIN);
        assert_eq!(MemoryBudget::of_limit(None).bytes(), 3 << 29);
    }

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let memory = "MemTotal:       24610340 kB\nMemFree: 1 kB\n";
        assert_eq!(parse_size(memory, "MemTotal:"), Some(24_610_340 * 1024));
        assert_eq!(
            [parse_limit("max\n"), parse_limit("9223372036854771712\n"), parse_limit("536870912\n")],
            [None, None, Some(512 * MIB)]
        );
        let paths = |groups: &str| -> Vec<String> {
            let files = limit_files(Path::new("/sys/fs/cgroup"), groups);
            files.iter().map(|path| path.to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(
            paths("0::/system.slice/venturedex.service\n"),
            [
                "/sys/fs/cgroup/system.slice/venturedex.service/memory.max",
                "/sys/fs/cgroup/system.slice/memory.max",
                "/sys/fs/cgroup/memory.max"
            ]
        );
        assert_eq!(
            paths("9:name=systemd:/x\n4:memory:/a\n"),
            ["/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        );
    }
}
