//! Permissions of release files and folders: anyone who may write to them decides what is served.
//!
//! Others may read a release but not change it, regardless of the umask. While it is being built, nobody else may even
//! enter its folder, because libraries create files there with their own permissions.

use std::fs;
use std::io;
use std::path::Path;

pub(crate) fn create_folder(path: &Path, recursive: bool) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o755);
    folder.recursive(recursive).create(path)
}

pub(crate) fn file_options() -> fs::OpenOptions {
    let mut options = fs::File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o644);
    options
}

/// Makes a file read-only, so that a slip of its owner is an error and not a damaged release.
pub(crate) fn make_read_only(path: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

/// Removes all permissions of others from a folder. Returns the previous ones, for [`fs::set_permissions`].
pub(crate) fn close(folder: &Path) -> io::Result<fs::Permissions> {
    let permissions = fs::metadata(folder)?.permissions();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(permissions.mode() & 0o700))?;
    }
    Ok(permissions)
}

/// True if the group or everybody may write to a file or folder; false if its permissions cannot be read.
pub(crate) fn are_writable_by_others(path: &Path) -> bool {
    #[cfg(unix)]
    return fs::metadata(path).is_ok_and(|file| std::os::unix::fs::MetadataExt::mode(&file) & 0o022 != 0);
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
