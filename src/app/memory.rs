//! The memory of the server holds passwords while they are checked, and keys in the buffers of connections, which belong to
//! the HTTP library and are not cleared. So no other process of the same user may read it, and no core file may have it.

use std::io;

/// Makes the memory of this process unreadable to others than root, and turns off core files, also for whatever raises the
/// limit later. The process cannot be debugged by its own user afterwards.
pub(crate) fn keep_private() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::{DumpableBehavior, Resource, dumpable_behavior, getrlimit};

    use super::*;

    #[test]
    fn nobody_reads_the_memory_and_no_core_file_is_written() {
        keep_private().unwrap();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
    }
}
