//! Lists the input files of an import: files, folders, and members of `.zip`, `.tar`, `.tar.gz` and `.gz` archives.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use regex::{Regex, RegexBuilder};

use crate::sources::SourceError;

/// A file, or a member of an archive.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub index: u32,
    /// Name in messages, such as `2026q1_d.zip/ISSUERS.tsv`.
    pub name: String,
    /// Path within the given folder or archive. Mappings find files by it.
    pub path: String,
    /// Uncompressed size in bytes; 0 if unknown.
    pub size: u64,
    file: PathBuf,
    container: Container,
}

#[derive(Clone, Copy, Debug)]
enum Container {
    None,
    Gzip,
    Zip(usize),
    Tar { index: usize, is_packed: bool },
}

impl Member {
    /// Lists all files of the inputs, in the order of the inputs. Files of a folder or an archive are sorted by path.
    pub(crate) fn list(inputs: &[PathBuf]) -> Result<Vec<Self>, SourceError> {
        let mut members = Vec::new();
        for input in inputs {
            let mut found = Vec::new();
            let metadata = fs::metadata(input).map_err(|error| SourceError::io(input, error))?;
            if metadata.is_dir() {
                Self::add_folder(input, "", &mut found)?;
            } else {
                Self::add_file(input, &file_name(input), &mut found)?;
            }
            found.sort_by(|left, right| left.path.cmp(&right.path));
            members.append(&mut found);
        }
        for (index, member) in members.iter_mut().enumerate() {
            member.index = index as u32;
        }
        Ok(members)
    }

    fn add_folder(folder: &Path, above: &str, members: &mut Vec<Self>) -> Result<(), SourceError> {
        let unreadable = |error| SourceError::io(folder, error);
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let name = file_name(&path);
            if name.starts_with('.') {
                continue;
            }
            let inside = format!("{above}{name}");
            if path.is_dir() {
                Self::add_folder(&path, &format!("{inside}/"), members)?;
            } else {
                Self::add_file(&path, &inside, members)?;
            }
        }
        Ok(())
    }

    fn add_file(file: &Path, inside: &str, members: &mut Vec<Self>) -> Result<(), SourceError> {
        let unreadable = |error| SourceError::io(file, error);
        let size = fs::metadata(file).map_err(unreadable)?.len();
        let member = |path: String, size: u64, container: Container| {
            let file_name = file.display();
            let name = match container {
                Container::None | Container::Gzip => file_name.to_string(),
                Container::Zip(_) | Container::Tar { .. } => format!("{file_name}/{path}"),
            };
            Self { index: 0, name, path, size, file: file.to_owned(), container }
        };
        let lower = inside.to_ascii_lowercase();
        if lower.ends_with(".zip") {
            let mut zip = open_zip(file)?;
            for index in 0..zip.len() {
                let entry = zip.by_index_raw(index).map_err(|error| bad_archive(file, error))?;
                if entry.is_file() {
                    let path = entry.name().map_err(|error| bad_archive(file, error))?.replace('\\', "/");
                    members.push(member(path, entry.size(), Container::Zip(index)));
                }
            }
        } else if [".tar", ".tar.gz", ".tgz"].iter().any(|ending| lower.ends_with(ending)) {
            let is_packed = !lower.ends_with(".tar");
            let mut tar = tar::Archive::new(open_tar(file, is_packed)?);
            for (index, entry) in tar.entries().map_err(unreadable)?.enumerate() {
                let entry = entry.map_err(unreadable)?;
                if entry.header().entry_type().is_file() {
                    let path = entry.path().map_err(unreadable)?.display().to_string();
                    members.push(member(path, entry.size(), Container::Tar { index, is_packed }));
                }
            }
        } else if lower.ends_with(".gz") {
            members.push(member(inside[..inside.len() - 3].to_owned(), 0, Container::Gzip));
        } else {
            members.push(member(inside.to_owned(), size, Container::None));
        }
        Ok(())
    }

    /// Known file extension in lowercase, without the dot; empty for any other.
    pub(crate) fn ending(&self) -> &'static str {
        const ENDINGS: [&str; 12] =
            ["tsv", "tab", "csv", "txt", "json", "jsonl", "ndjson", "xlsx", "xlsm", "xlsb", "xls", "ods"];
        let ending = self.path.rsplit_once('.').map_or("", |(_, ending)| ending);
        ENDINGS.iter().find(|known| known.eq_ignore_ascii_case(ending)).copied().unwrap_or("")
    }

    pub(crate) fn open(&self, to: &mut dyn FnMut(&mut dyn Read) -> Result<(), SourceError>) -> Result<(), SourceError> {
        let unreadable = |error| SourceError::io(&self.file, error);
        match self.container {
            Container::None => to(&mut File::open(&self.file).map_err(unreadable)?),
            Container::Gzip => to(&mut MultiGzDecoder::new(File::open(&self.file).map_err(unreadable)?)),
            Container::Zip(index) => {
                let mut zip = open_zip(&self.file)?;
                to(&mut zip.by_index(index).map_err(|error| bad_archive(&self.file, error))?)
            }
            Container::Tar { index, is_packed } => {
                let mut tar = tar::Archive::new(open_tar(&self.file, is_packed)?);
                let mut entries = tar.entries().map_err(unreadable)?;
                let changed = || unreadable(io::Error::other("the archive was changed while it was read"));
                to(&mut entries.nth(index).ok_or_else(changed)?.map_err(unreadable)?)
            }
        }
    }

    pub(crate) fn error(&self, line: u64, problem: impl std::fmt::Display) -> SourceError {
        SourceError::at_line(Path::new(&self.name), line, problem)
    }

    pub(crate) fn io(&self, error: io::Error) -> SourceError {
        SourceError::io(Path::new(&self.name), error)
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn open_zip(file: &Path) -> Result<zip::ZipArchive<File>, SourceError> {
    let opened = File::open(file).map_err(|error| SourceError::io(file, error))?;
    zip::ZipArchive::new(opened).map_err(|error| bad_archive(file, error))
}

fn open_tar(file: &Path, is_packed: bool) -> Result<Box<dyn Read>, SourceError> {
    let opened = File::open(file).map_err(|error| SourceError::io(file, error))?;
    Ok(if is_packed { Box::new(MultiGzDecoder::new(opened)) } else { Box::new(opened) })
}

fn bad_archive(file: &Path, error: impl std::fmt::Display) -> SourceError {
    SourceError::invalid(file, format!("cannot be read as an archive: {error}"))
}

/// Matches in any letter case: `*` is any text within a folder, `**/` any number of folders, `?` one character.
pub(crate) fn path_pattern(pattern: &str) -> Regex {
    let pattern = regex::escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*").replace(r"\?", "[^/]");
    // A pattern of any length is valid.
    RegexBuilder::new(&format!("(?is)^{pattern}$")).size_limit(usize::MAX).build().expect("a valid expression")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_paths() {
        for (pattern, path, expected) in [
            ("**/ISSUERS.tsv", "2026Q1_d/issuers.tsv", true),
            ("**/ISSUERS.tsv", "ISSUERS.tsv", true),
            ("**/ISSUERS.tsv", "a/b/ISSUERS.tsv", true),
            ("**/ISSUERS.tsv", "OTHER_ISSUERS.tsv", false),
            ("*.csv", "a.csv", true),
            ("*.csv", "a/b.csv", false),
            ("Basic*-20??-*.csv", "BasicCompanyData-2026-11-01.csv", true),
            ("Basic*-20??-*.csv", "BasicCompanyData-202-11-01.csv", false),
        ] {
            assert_eq!(path_pattern(pattern).is_match(path), expected, "{pattern} {path}");
        }
        assert!(path_pattern(&"*".repeat(20_000)).is_match("a"));
    }
}
