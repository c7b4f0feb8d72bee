//! Limits that the system sets for a process, and errors of a process that has reached one.

use std::fs;
use std::io;

/// A limit in `/proc/PID/limits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// `ulimit -n`
    OpenFiles,
    /// `ulimit -v`, in bytes: everything that is mapped or reserved, several times what is used.
    AddressSpace,
}

impl Limit {
    /// The soft limit of a process: of this one, `self`, or of another by its number. `None` if it has none, or the system
    /// does not say.
    pub fn of_process(self, process: &str) -> Option<u64> {
        self.parse(&fs::read_to_string(format!("/proc/{process}/limits")).ok()?)
    }

    /// Reads the limit from the content of `/proc/PID/limits`.
    pub fn parse(self, limits: &str) -> Option<u64> {
        let name = match self {
            Self::OpenFiles => "Max open files",
            Self::AddressSpace => "Max address space",
        };
        let line = limits.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

/// The remedy for an error of a process or machine that has reached a limit; `None` for all other errors.
pub fn remedy(error: &io::Error) -> Option<String> {
    // EMFILE and ENFILE have these numbers on every Unix, and no kind.
    match error.raw_os_error().filter(|_| cfg!(unix)) {
        Some(24) => {
            let limit = Limit::OpenFiles.of_process("self").map(|limit| format!(" ({limit})")).unwrap_or_default();
            return Some(format!(
                "the process has reached its limit of open files{limit}: raise it (LimitNOFILE in a systemd unit, ulimit -n), \
                 or lower --max-connections"
            ));
        }
        Some(23) => {
            return Some("the machine has reached its limit of open files: raise it (sysctl fs.file-max)".into());
        }
        _ => {}
    }
    let remedy = match error.kind() {
        io::ErrorKind::OutOfMemory => {
            "raise the limit of memory (MemoryMax in a systemd unit, ulimit -v), or hold fewer releases (--keep-releases)"
        }
        // The error of a thread that cannot be started.
        io::ErrorKind::WouldBlock => "raise the limits of memory (ulimit -v) and of threads (TasksMax, ulimit -u)",
        _ => return None,
    };
    Some(remedy.to_owned())
}

/// An error with the remedy, if it is that of a limit.
pub fn explain(error: &io::Error) -> String {
    remedy(error).map_or_else(|| error.to_string(), |remedy| format!("{error}: {remedy}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_the_system_writes_them() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max open files            1024                 524288               files     \n\
             Max address space         614400000            unlimited            bytes     \n";
        assert_eq!(Limit::OpenFiles.parse(limits), Some(1_024));
        assert_eq!(Limit::AddressSpace.parse(limits), Some(614_400_000));
        let unlimited = "Max open files            unlimited            unlimited            files";
        assert_eq!((Limit::OpenFiles.parse(unlimited), Limit::AddressSpace.parse(unlimited)), (None, None));
    }

    #[cfg(unix)]
    #[test]
    fn an_error_of_a_limit_names_it_and_the_remedy() {
        for (code, part) in [
            (24, "the process has reached its limit of open files"),
            (23, "the machine has reached its limit of open files"),
            (12, "raise the limit of memory"),
            (11, if cfg!(target_os = "linux") { "of threads" } else { "" }),
        ] {
            let error = io::Error::from_raw_os_error(code);
            assert!(explain(&error).starts_with(&error.to_string()) && explain(&error).contains(part), "{error}");
        }
        let other = io::Error::other("a disk that fails");
        assert_eq!((remedy(&other), explain(&other)), (None, "a disk that fails".to_owned()));
    }
}
