//! Resources of the machine: disk, memory, open files, the port and the clock.

use std::fs;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::{Instant, SystemTime};

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::app::limits::{Shortage, lacks_address_space, lacks_files};
use crate::app::settings::ServeSettings;
use crate::cli::doctor::data_folder::DataFolderState;
use crate::cli::doctor::finding::{Findings, Status};
use crate::cli::doctor::releases::IndexState;
use crate::cli::indexer::format;
use auth::{ClockJump, LockHolder};
use data::{Date, rfc3339};
use platform::limits::Limit;
use platform::memory::{self, MemoryBudget};

const MIB: u64 = 1 << 20;
/// A disk with less free space has no room for the write-ahead log and the next release.
const LITTLE_DISK: u64 = 64 * MIB;
const ENOUGH_DISK: u64 = 1024 * MIB;
/// Permitted difference between the clocks of two machines in seconds.
const SKEW: i64 = 300;

pub(super) fn check(settings: &ServeSettings, data: &DataFolderState, index: &IndexState, findings: &mut Findings) {
    let server = data.holder.as_ref().and_then(|holder| holder.process).filter(|process| is_server(*process));
    let process = server.map_or("self".to_owned(), |process| process.to_string());
    // The limits are those of the server's process if it runs, otherwise of this one.
    let whose = if server.is_some() { "the server" } else { "a process started here" };
    let connections = u64::from(settings.max_connections);
    check_open_files(whose, Limit::OpenFiles.of_process(&process), connections, findings);
    check_address_space(whose, Limit::AddressSpace.of_process(&process), index.loaded_bytes, findings);
    let limit = memory::limit(&process);
    let budget = settings.memory.unwrap_or(MemoryBudget::of_limit(limit));
    check_memory(whose, budget, limit, index.needed_memory, findings);
    if let Some(user) = fs::read_to_string(format!("/proc/{process}/status")).ok().and_then(|text| parse_user(&text)) {
        check_user(user, findings);
    }
    check_port(settings.listen, data.holder.as_ref(), findings);
}

fn check_open_files(whose: &str, limit: Option<u64>, connections: u64, findings: &mut Findings) {
    const CHECK: &str = "process.open_files";
    let Some(limit) = limit else { return };
    match lacks_files(whose, limit, connections) {
        Some(Shortage { detail, remedy }) => findings.problem(CHECK, detail, remedy),
        None => findings.ok(CHECK, format!("{whose} may open {limit} files")),
    }
}

/// Few set such a limit; without one there is nothing to report.
fn check_address_space(whose: &str, limit: Option<u64>, releases: u64, findings: &mut Findings) {
    const CHECK: &str = "process.address_space";
    let Some(limit) = limit else { return };
    match lacks_address_space(whose, limit, releases) {
        Some(Shortage { detail, remedy }) => findings.problem(CHECK, detail, remedy),
        None => findings.ok(CHECK, format!("{whose} may use {} of address space", format::size(limit))),
    }
}

/// `needed` is the smallest budget with which the current release, if there is one, can be replaced by one of its size.
fn check_memory(
    whose: &str,
    budget: MemoryBudget,
    limit: Option<u64>,
    needed: Option<MemoryBudget>,
    findings: &mut Findings,
) {
    const CHECK: &str = "process.memory";
    let needs = needed.map_or_else(String::new, |needed| format!(", and needs {needed}"));
    let detail = format!("{whose} may use {budget} (--memory){needs}");
    if let Some(limit) = limit.filter(|limit| *limit < budget.bytes()) {
        let detail = format!("{detail}; the system permits {}", format::size(limit));
        return findings.warning(CHECK, detail, "raise the limit of memory, or lower --memory");
    }
    match needed.filter(|needed| needed.bytes() > budget.bytes()) {
        Some(needed) => findings.warning(CHECK, detail, format!("give the server more memory: --memory {needed}")),
        None => findings.ok(CHECK, detail),
    }
}

fn check_user(user: u32, findings: &mut Findings) {
    match user {
        0 => findings.warning(
            "process.user",
            "runs as root, which the service never needs",
            "run it as a user of its own, as the unit in deploy/ does",
        ),
        user => findings.ok("process.user", format!("user {user}")),
    }
}

fn check_port(listen: SocketAddr, holder: Option<&LockHolder>, findings: &mut Findings) {
    const CHECK: &str = "process.port";
    if listen.port() == 0 {
        return findings.ok(CHECK, "the system chooses a free port");
    }
    match TcpListener::bind(listen).map(drop).map_err(|error| error.kind()) {
        Ok(()) => findings.ok(CHECK, format!("{listen} is free")),
        Err(ErrorKind::AddrInUse) if holder.is_some() => {
            findings.ok(CHECK, format!("{listen} is in use, and the server runs"));
        }
        Err(ErrorKind::AddrInUse) => findings.problem(
            CHECK,
            format!("--listen {listen}: another program uses the port"),
            "stop it (`ss -ltnp` names it) or choose another port; a systemd socket holds the port on purpose",
        ),
        Err(ErrorKind::PermissionDenied) => findings.problem(
            CHECK,
            format!("--listen {listen}: only root may open this port"),
            "choose a port from 1024 on and put a proxy in front, or use a systemd socket",
        ),
        Err(kind) => findings.problem(
            CHECK,
            format!("--listen {listen}: {kind}"),
            "name an address of this machine, such as 127.0.0.1:8080 or 0.0.0.0:8080",
        ),
    }
}

/// Checks the free space for a folder, existing or not; `expected` bytes will be written before others are removed.
pub(super) fn check_disk(check: &'static str, folder: &Path, expected: u64, findings: &mut Findings) {
    let existing = folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("."));
    if let Some(free) = free_space(existing) {
        judge_disk(check, free, expected, findings);
    }
}

fn judge_disk(check: &'static str, free: u64, expected: u64, findings: &mut Findings) {
    let status = match free {
        _ if free < LITTLE_DISK => Status::Problem,
        _ if free < ENOUGH_DISK.max(expected) => Status::Warning,
        _ => Status::Ok,
    };
    let detail = format!("{} free", format::size(free));
    findings.add(check, status, detail, "free some space, or move the folder to a larger disk");
}

/// Checks the clock against the dates of this program, the database and the release, and against itself since `began`.
pub(super) fn check_clock(
    now: i64,
    data: &DataFolderState,
    index: &IndexState,
    began: (SystemTime, Instant),
    findings: &mut Findings,
) {
    let built_at = index.built_at.as_deref().and_then(|text| OffsetDateTime::parse(text, &Rfc3339).ok());
    let known = KnownTimes {
        program: catalog::bundled_released_on().ok(),
        database: data.newest_time,
        jump: data.clock_jump,
        release: built_at.map(OffsetDateTime::unix_timestamp),
    };
    let elapsed = began.0.elapsed().map_or_else(|back| -back.duration().as_secs_f64(), |time| time.as_secs_f64());
    judge_clock(now, &known, elapsed - began.1.elapsed().as_secs_f64(), findings);
}

/// Times that are in the past if the clock is right.
#[derive(Default)]
struct KnownTimes {
    program: Option<Date>,
    /// In Unix seconds, like the following.
    database: Option<i64>,
    release: Option<i64>,
    /// The last jump of a server's clock.
    jump: Option<ClockJump>,
}

/// Time for which a jump of a server's clock is reported.
const JUMP_IS_RECENT: i64 = 7 * 86_400;

/// `jump` is the number of seconds that the clock advanced beyond the time that passed.
fn judge_clock(now: i64, known: &KnownTimes, jump: f64, findings: &mut Findings) {
    const CHECK: &str = "clock.time";
    const REMEDY: &str = "set the clock, and keep it with a time service: timedatectl set-ntp true";
    let recent_jump = known.jump.filter(|jump| now.abs_diff(jump.at) < JUMP_IS_RECENT.unsigned_abs());
    let ahead = |time: Option<i64>| time.filter(|time| *time > now.saturating_add(SKEW));
    let text = rfc3339(now);
    if known.program.is_some_and(|released| now < released.unix()) {
        let detail = format!("{text} is before the data that this program was built with: quotas reset on wrong days");
        findings.problem(CHECK, detail, REMEDY);
    } else if let Some(newest) = ahead(known.database).map(rfc3339) {
        let lost = "used quotas and ended keys come back";
        let detail = format!("{text} is before the newest time in the database, {newest}: {lost}");
        findings.problem(CHECK, detail, REMEDY);
    } else if let Some(built) = ahead(known.release) {
        let detail = format!("{text} is before the build of the release, {}", rfc3339(built));
        findings.warning(CHECK, detail, "set the clock here or on the machine that built the release");
    } else if jump.abs() > 1.0 {
        findings.warning(CHECK, format!("the clock jumped by {jump:.1} s during this check"), REMEDY);
    } else if let Some(ClockJump { at, seconds }) = recent_jump {
        let (at, days) = (rfc3339(at), seconds / 86_400);
        findings.warning(CHECK, format!("{text}; the clock of the server jumped by {days:+} days at {at}"), REMEDY);
    } else {
        findings.ok(CHECK, text);
    }
}

/// True if other users of the machine may open a file or folder, as far as the system has permissions.
pub(super) fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|file| std::os::unix::fs::MetadataExt::mode(&file) & 0o077 != 0);
    #[cfg(not(unix))]
    false
}

pub(super) fn warn_if_open(check: &'static str, path: &Path, findings: &mut Findings) -> bool {
    let is_open = is_open_to_others(path);
    if is_open {
        let detail = format!("{} can be read by other users of this machine", path.display());
        findings.warning(check, detail, format!("chmod 600 {}", path.display()));
    }
    is_open
}

/// True if this process may write to a file or create files in a folder. Root always may.
pub(super) fn is_writable(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    #[cfg(not(unix))]
    fs::metadata(path).is_ok_and(|file| !file.permissions().readonly())
}

/// Free bytes available to users other than root.
fn free_space(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    return rustix::fs::statvfs(folder).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    #[cfg(not(unix))]
    None
}

/// The effective user in `/proc/PID/status`. The files there belong to root, because the memory of a server is private.
fn parse_user(status: &str) -> Option<u32> {
    status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().nth(1)?.parse().ok()
}

/// True if a process is still a server: another one may have got its number, especially in a container.
fn is_server(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == "venturedex")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::status_of;

    fn found(check: &str, judge: impl FnOnce(&mut Findings)) -> Option<Status> {
        let mut findings = Findings::default();
        judge(&mut findings);
        status_of(findings, check)
    }

    #[test]
    fn a_disk_is_judged_by_what_is_free_and_what_will_be_written() {
        let of = |free, expected| found("data.disk", |findings| judge_disk("data.disk", free, expected, findings));
        assert_eq!(of(64 * MIB - 1, 0), Some(Status::Problem));
        assert_eq!(of(64 * MIB, 0), Some(Status::Warning));
        assert_eq!(of(1024 * MIB, 0), Some(Status::Ok));
        assert_eq!(of(1024 * MIB, 1025 * MIB), Some(Status::Warning));
    }

    #[test]
    fn a_process_must_be_able_to_open_all_connections_and_to_hold_the_releases() {
        let files =
            |limit| found("process.open_files", |findings| check_open_files("it", Some(limit), 4_096, findings));
        assert_eq!((files(1_024), files(4_351)), (Some(Status::Problem), Some(Status::Problem)));
        assert_eq!(files(4_352), Some(Status::Ok));
        let space =
            |limit| found("process.address_space", |findings| check_address_space("it", limit, 100 * MIB, findings));
        assert_eq!([Some(300 * MIB), Some(1 << 40), None].map(space), [Some(Status::Problem), Some(Status::Ok), None]);
        let memory = |budget, limit, needed| {
            let [budget, needed] = [budget, needed].map(|mebibytes| MemoryBudget::new(mebibytes * MIB));
            found("process.memory", |findings| check_memory("it", budget, limit, Some(needed), findings))
        };
        let without_release = |findings: &mut Findings| check_memory("it", MemoryBudget::new(1), None, None, findings);
        assert_eq!(found("process.memory", without_release), Some(Status::Ok));
        assert_eq!(memory(100, None, 101), Some(Status::Warning));
        assert_eq!(memory(101, Some(100 * MIB), 100), Some(Status::Warning), "above the limit");
        assert_eq!(memory(100, Some(100 * MIB), 100), Some(Status::Ok));
        let user = |user| found("process.user", |findings| check_user(user, findings));
        assert_eq!((user(0), user(1000)), (Some(Status::Warning), Some(Status::Ok)));
    }

    #[test]
    fn a_clock_is_wrong_if_it_is_before_what_has_happened_or_jumps() {
        let now = 1_800_000_000;
        let of = |known: KnownTimes, jump| found("clock.time", |findings| judge_clock(now, &known, jump, findings));
        let program = |date: &str| KnownTimes { program: Some(date.parse().unwrap()), ..KnownTimes::default() };
        assert_eq!(of(program("2026-11-20"), 0.2), Some(Status::Ok));
        assert_eq!(of(program("2030-01-01"), 0.0), Some(Status::Problem));
        let database = |time| KnownTimes { database: Some(time), ..KnownTimes::default() };
        assert_eq!(of(database(now + SKEW), 0.0), Some(Status::Ok));
        assert_eq!(of(database(now + SKEW + 1), 0.0), Some(Status::Problem));
        let release = |time| KnownTimes { release: Some(time), ..KnownTimes::default() };
        assert_eq!(of(release(now + SKEW + 1), 0.0), Some(Status::Warning));
        assert_eq!(of(KnownTimes::default(), -1.5), Some(Status::Warning));
        let jumped = |at| KnownTimes { jump: Some(ClockJump { at, seconds: -401 * 86_400 }), ..KnownTimes::default() };
        assert_eq!(of(jumped(now - JUMP_IS_RECENT + 1), 0.0), Some(Status::Warning));
        assert_eq!(of(jumped(now - JUMP_IS_RECENT), 0.0), Some(Status::Ok));
    }

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        assert_eq!(parse_user("Name:\tventuredex\nUid:\t1000\t1001\t1000\t1000\nGid:\t5\t5\t5\t5\n"), Some(1_001));
    }
}
