//! Limits of the process that are too low for the settings: `serve` warns or refuses to start, `doctor` reports them.

use std::fmt;
use std::thread::available_parallelism;

const MIB: u64 = 1 << 20;

/// Files of the database, releases, log and runtime, in addition to connections.
const OWN_FILES: u64 = 256;
/// Address space without releases and threads. Measured: the memory allocator reserves much more than is used.
const OWN_ADDRESS_SPACE: u64 = 384 * MIB;
/// Address space of the threads of a processor: their stacks, and what the allocator reserves for each.
const ADDRESS_SPACE_PER_PROCESSOR: u64 = 64 * MIB;

/// A limit that is too low, and the remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shortage {
    pub(crate) detail: String,
    pub(crate) remedy: String,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.detail, self.remedy)
    }
}

/// Compares a limit of open files with the number that connections need. `whose` names the process.
pub(crate) fn lacks_files(whose: &str, limit: u64, connections: u64) -> Option<Shortage> {
    let needed = connections + OWN_FILES;
    (limit < needed).then(|| Shortage {
        detail: format!("{whose} may open {limit} files, but {connections} connections need {needed}"),
        remedy: format!(
            "raise the limit (LimitNOFILE={needed} in a systemd unit, ulimit -n), or lower --max-connections"
        ),
    })
}

/// Compares a limit of address space with the need of a server that holds `releases` bytes of releases. A server with
/// less would be ended by an allocation that fails, now or under load.
pub(crate) fn lacks_address_space(whose: &str, limit: u64, releases: u64) -> Option<Shortage> {
    let processors = available_parallelism().map_or(1, |number| number.get() as u64);
    // While a release is read, its parts are in memory twice.
    let needed = OWN_ADDRESS_SPACE + processors * ADDRESS_SPACE_PER_PROCESSOR + releases + releases / 2;
    (limit < needed).then(|| Shortage {
        detail: format!(
            "{whose} may use {} MiB of address space (ulimit -v), but needs {} MiB, including {} MiB for releases",
            limit / MIB,
            needed.div_ceil(MIB),
            releases.div_ceil(MIB)
        ),
        remedy: "raise or remove the limit, and limit memory by a control group instead (MemoryMax in a systemd unit), or hold \
                 fewer releases: --keep-releases 0"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connection_needs_a_file() {
        let lacks = |limit, connections| lacks_files("it", limit, connections);
        assert_eq!(lacks(4_352, 4_096), None);
        let shortage = lacks(20_000, 1_000_000).unwrap().to_string();
        assert!(
            shortage.starts_with("it may open 20000 files, but 1000000 connections need 1000256: raise"),
            "{shortage}"
        );
    }

    #[test]
    fn a_process_that_would_run_out_of_address_space_is_refused() {
        // A release of 137 MiB, with limits at which a server ended without a sentence or waited for a release.
        for kibibytes in [300_000, 600_000] {
            let shortage = lacks_address_space("it", kibibytes << 10, 137 * MIB).unwrap();
            assert!(shortage.detail.contains("including 137 MiB for releases"), "{shortage}");
        }
        assert_eq!(lacks_address_space("it", 1 << 40, 137 * MIB), None);
    }
}
