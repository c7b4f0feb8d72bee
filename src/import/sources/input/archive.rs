//! Lists the input files of an import: files, folders, and members of `.zip`, `.tar`, `.tar.gz` and `.gz` archives.
//!
//! An archive is listed once. Then each member is read at its place: a packed tar archive, which has no places, is unpacked
//! to a temporary file while it is listed, and so is an archive within an archive.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use encoding_rs::Encoding;
use flate2::read::MultiGzDecoder;
use once_cell::sync::OnceCell;
use regex::{Regex, RegexBuilder};
use zip::read::OwnedZipFileEntry;
use zip::{ZipArchive, ZipReadOptions};

use crate::sources::SourceError;
use crate::sources::input::contained::contain_result;
use crate::sources::input::limits::{self, LimitExceeded};
use crate::sources::input::ordinary::{self, InputFile};
use crate::sources::input::unpacked::{HeaderReader, SliceReader, UnpackReader, check_unpacked, unpack};
use data::parameter_error::shortened;

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
    file: Arc<InputFile>,
    place: MemberPlace,
    /// Detected when it is first needed: an import may read the file several times.
    pub(super) encoding: OnceCell<&'static Encoding>,
}

#[derive(Clone, Debug)]
enum MemberPlace {
    /// The file itself.
    Whole,
    Gzip,
    Zip(Arc<OwnedZipFileEntry>),
    /// A piece of a tar archive.
    Tar {
        start: u64,
    },
}

impl Member {
    /// Lists all files of the inputs, in the order of the inputs. Files of a folder or an archive are sorted by path.
    pub(crate) fn list(inputs: &[PathBuf]) -> Result<Vec<Self>, SourceError> {
        let mut members = Vec::new();
        for input in inputs {
            let mut found = MemberList { earlier: members.len(), ..MemberList::default() };
            if ordinary::is_folder(input)? {
                let root = fs::canonicalize(input).map_err(|error| SourceError::io(input, error))?;
                found.add_folder(&root, input, "", 1)?;
            } else {
                found.add_file(input, &file_name(input))?;
            }
            found.members.sort_by(|left, right| left.path.cmp(&right.path));
            members.append(&mut found.members);
        }
        for (index, member) in members.iter_mut().enumerate() {
            member.index = index as u32;
        }
        Ok(members)
    }

    /// Known file extension in lowercase, without the dot; empty for any other.
    pub(crate) fn ending(&self) -> &'static str {
        const ENDINGS: [&str; 13] =
            ["tsv", "tab", "csv", "txt", "json", "jsonl", "ndjson", "xlsx", "xlsm", "xlsb", "xls", "ods", "parquet"];
        let ending = self.path.rsplit_once('.').map_or("", |(_, ending)| ending);
        ENDINGS.iter().find(|known| known.eq_ignore_ascii_case(ending)).copied().unwrap_or("")
    }

    /// True for a Markdown document, which has no [`ending`](Self::ending): in a folder or an archive it is about the files.
    pub(crate) fn is_markdown(&self) -> bool {
        let ending = self.path.rsplit_once('.').map_or("", |(_, ending)| ending);
        ["md", "markdown"].iter().any(|known| known.eq_ignore_ascii_case(ending))
    }

    pub(crate) fn open(&self, to: &mut dyn FnMut(&mut dyn Read) -> Result<(), SourceError>) -> Result<(), SourceError> {
        match &self.place {
            MemberPlace::Whole => to(&mut self.file.open()?),
            MemberPlace::Gzip => {
                let (file, packed) = self.file.reader()?;
                to(&mut UnpackReader::new(MultiGzDecoder::new(BufReader::new(file)), packed))
            }
            MemberPlace::Zip(entry) => {
                let mut file = BufReader::new(self.file.reader()?.0);
                let (entry, reader) = (OwnedZipFileEntry::as_ref(entry), &mut file);
                let opened = contain_result(move || entry.with_reader(reader, ZipReadOptions::new()));
                let from = opened.map_err(|problem| {
                    self.error(1, format!("the member cannot be unpacked: {problem}; pack the archive again"))
                })?;
                to(&mut UnpackReader::of_member(from))
            }
            MemberPlace::Tar { start } => {
                let (start, end) = (*start, *start + self.size);
                self.file.with(|file| to(&mut SliceReader { file, at: start, end }))
            }
        }
    }

    /// The file on disk that the member is, if it is not part of another file.
    pub(crate) fn open_whole(&self) -> Result<Option<File>, SourceError> {
        match &self.place {
            MemberPlace::Whole => self.file.open().map(Some),
            _ => Ok(None),
        }
    }

    pub(crate) fn error(&self, line: u64, problem: impl std::fmt::Display) -> SourceError {
        SourceError::at_line(Path::new(&self.name), line, problem)
    }

    /// Error of reading: a limit, a damaged file, or else a disk that fails. `line` is where a reader that counts no lines
    /// stopped.
    pub(crate) fn fault(&self, line: u64, error: io::Error) -> SourceError {
        if let Some(exceeded) = LimitExceeded::of(&error) {
            return self.error(exceeded.line.unwrap_or(line), exceeded);
        }
        if error.raw_os_error().is_some() {
            return SourceError::io(Path::new(&self.name), error);
        }
        self.error(line, format!("the file is damaged or cut off here: {error}"))
    }
}

/// Archives within an archive that are unpacked, each in the one before.
const MAX_NESTED: u64 = 2;

/// The files of an input.
#[derive(Default)]
struct MemberList {
    members: Vec<Member>,
    /// Number of files of the inputs before.
    earlier: usize,
    /// Archives around the files that are added, and the path to them.
    depth: u64,
    above: String,
    /// Bytes of the outermost archive on disk. All that unpacks from it counts against them.
    packed: u64,
    unpacked: u64,
}

impl MemberList {
    /// Adds the files of a folder. `root` is the real path of the input, which links must not leave.
    fn add_folder(&mut self, root: &Path, folder: &Path, above: &str, depth: u64) -> Result<(), SourceError> {
        limits::FOLDER_DEPTH.check(depth).map_err(|exceeded| SourceError::invalid(folder, exceeded))?;
        let unreadable = |error| SourceError::io(folder, error);
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let path = entry.path();
            let name = file_name(&path);
            if is_debris(&name) {
                continue;
            }
            let inside = format!("{above}{name}");
            let kind = entry.file_type().map_err(|error| SourceError::io(&path, error))?;
            if kind.is_dir() {
                self.add_folder(root, &path, &format!("{inside}/"), depth + 1)?;
            } else if kind.is_symlink() {
                let target = ordinary::target_of_link(root, &path)?;
                self.add_file(&target, &inside)?;
            } else {
                self.add_file(&path, &inside)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, inside: &str) -> Result<(), SourceError> {
        let input = InputFile::new(file);
        let opened = input.open()?;
        let length = input.length(&opened)?;
        (self.packed, self.unpacked) = (length, 0);
        self.add_opened(input, opened, length, inside)
    }

    fn add_opened(&mut self, input: InputFile, opened: File, length: u64, inside: &str) -> Result<(), SourceError> {
        let lower = inside.to_ascii_lowercase();
        let file = &input.path.clone();
        if lower.ends_with(".zip") {
            self.add_zip(input, opened, length)
        } else if lower.ends_with(".tar") {
            self.add_tar(input, opened, length)
        } else if [".tar.gz", ".tgz"].iter().any(|ending| lower.ends_with(ending)) {
            let mut from = UnpackReader::new(MultiGzDecoder::new(opened), length);
            let unpacked = unpack(&mut from).map_err(|error| bad_archive(file, error))?;
            let length = input.length(&unpacked)?;
            let again = unpacked.try_clone().map_err(|error| SourceError::io(file, error))?;
            self.add_tar(input.with_content(unpacked), again, length)
        } else if lower.ends_with(".gz") {
            let path = inside.get(..inside.len() - 3).unwrap_or_default().to_owned();
            self.add(&Arc::new(input), file.display().to_string(), path, 0, MemberPlace::Gzip)
        } else {
            self.add(&Arc::new(input), file.display().to_string(), inside.to_owned(), length, MemberPlace::Whole)
        }
    }

    fn add_zip(&mut self, file: InputFile, opened: File, length: u64) -> Result<(), SourceError> {
        let path = file.path.clone();
        let archive = contain_result(|| ZipArchive::new(BufReader::new(opened)));
        let archive = archive.map_err(|problem| bad_zip(&path, &problem))?;
        let file = Arc::new(file);
        for index in 0..archive.len() {
            let entry = archive.by_index_data(index).map_err(|error| bad_zip(&path, &error))?;
            if !entry.is_file() {
                continue;
            }
            let inside = entry.name().map_err(|error| bad_zip(&path, &error))?.replace('\\', "/");
            let size = entry.size();
            self.unpacked = self.unpacked.saturating_add(size);
            check_unpacked(self.unpacked, self.packed.min(length))
                .map_err(|exceeded| SourceError::invalid(&path, exceeded))?;
            let name = member_name(&path, &inside);
            self.add(&file, name, inside, size, MemberPlace::Zip(Arc::new(entry.into())))?;
        }
        Ok(())
    }

    fn add_tar(&mut self, file: InputFile, opened: File, length: u64) -> Result<(), SourceError> {
        let (path, file) = (file.path.clone(), Arc::new(file));
        let headers = HeaderReader::new(opened);
        let count = headers.count();
        let mut tar = tar::Archive::new(headers);
        for entry in tar.entries_with_seek().map_err(|error| bad_archive(&path, error))? {
            let entry = entry.map_err(|error| bad_archive(&path, error))?;
            count.set(0);
            if !entry.header().entry_type().is_file() {
                continue;
            }
            let inside = entry.path().map_err(|error| bad_archive(&path, error))?.display().to_string();
            let (start, size) = (entry.raw_file_position(), entry.size());
            let name = member_name(&path, &inside);
            if start.checked_add(size).is_none_or(|end| end > length) {
                let problem = format!("the archive ends before this member does, at byte {length}; copy it again");
                return Err(SourceError::invalid(Path::new(&name), problem));
            }
            self.add(&file, name, inside, size, MemberPlace::Tar { start })?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        file: &Arc<InputFile>,
        name: String,
        path: String,
        size: u64,
        place: MemberPlace,
    ) -> Result<(), SourceError> {
        let refused = |exceeded: LimitExceeded| SourceError::invalid(&file.path, exceeded);
        limits::MEMBER_NAME.check(path.len() as u64).map_err(refused)?;
        limits::MEMBERS.check((self.earlier + self.members.len()) as u64 + 1).map_err(refused)?;
        let is_whole = matches!(place, MemberPlace::Whole | MemberPlace::Gzip);
        if !is_whole && path.split(['/', '\\']).any(is_debris) {
            return Ok(());
        }
        let member = Member { index: 0, name, path, size, file: Arc::clone(file), place, encoding: OnceCell::new() };
        if !is_whole && is_packed(&member.path) {
            return self.add_nested(&member);
        }
        self.members.push(Member { path: format!("{}{}", self.above, member.path), ..member });
        Ok(())
    }

    /// Adds the files of an archive within an archive.
    fn add_nested(&mut self, member: &Member) -> Result<(), SourceError> {
        if self.depth >= MAX_NESTED {
            let problem = format!("is an archive within {MAX_NESTED} others; unpack it and name its files as inputs");
            return Err(SourceError::invalid(Path::new(&member.name), problem));
        }
        let mut content = None;
        member.open(&mut |from: &mut dyn Read| {
            content = Some(unpack(from).map_err(|error| member.fault(1, error))?);
            Ok(())
        })?;
        let Some(content) = content else { return Ok(()) };
        let path = Path::new(&member.name);
        let again = content.try_clone().map_err(|error| SourceError::io(path, error))?;
        let input = InputFile::new(path).with_content(content);
        let length = input.length(&again)?;
        let name = member.path.rsplit('/').next().unwrap_or_default();
        let outer = (self.depth, self.above.clone());
        self.depth += 1;
        let lower = name.to_ascii_lowercase();
        if !lower.ends_with(".gz") || lower.ends_with(".tar.gz") {
            self.above = format!("{}{}/", self.above, member.path);
        }
        let result = self.add_opened(input, again, length, name);
        (self.depth, self.above) = outer;
        result
    }
}

/// True for a file that a system or a program leaves next to the files of people, such as `__MACOSX/._list.csv`.
fn is_debris(name: &str) -> bool {
    const NAMES: [&str; 4] = ["__MACOSX", "Thumbs.db", "ehthumbs.db", "desktop.ini"];
    let is_hidden = name.starts_with('.') && !name.chars().all(|char| char == '.');
    is_hidden || name.starts_with("~$") || NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// True for the name of an archive or a packed file.
fn is_packed(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    [".zip", ".tar", ".tgz", ".gz"].iter().any(|ending| lower.ends_with(ending))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Name of a member in messages.
fn member_name(archive: &Path, path: &str) -> String {
    format!("{}/{}", archive.display(), printable(path))
}

/// A path for messages. Whoever packed the archive chose it: control characters are escaped.
pub(crate) fn printable(path: &str) -> Cow<'_, str> {
    match path.chars().any(char::is_control) {
        true => path.escape_debug().to_string().into(),
        false => path.into(),
    }
}

/// The first of several names, for messages.
pub(crate) fn listed(names: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    const MAX_SHOWN: usize = 50;
    let mut names = names.into_iter();
    let first = names.by_ref().take(MAX_SHOWN);
    let mut shown: Vec<String> = first.map(|name| printable(&shortened(name.as_ref())).into_owned()).collect();
    shown.extend(names.next().map(|_| "…".to_owned()));
    shown.join(", ")
}

fn bad_archive(file: &Path, error: io::Error) -> SourceError {
    if let Some(exceeded) = LimitExceeded::of(&error) {
        return SourceError::invalid(file, exceeded);
    }
    if error.raw_os_error().is_some() {
        return SourceError::io(file, error);
    }
    SourceError::invalid(file, format!("cannot be read as an archive: {error}"))
}

fn bad_zip(file: &Path, error: &dyn std::fmt::Display) -> SourceError {
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
