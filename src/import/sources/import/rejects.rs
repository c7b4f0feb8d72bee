//! The file of what an import leaves out: a line for each row and value, with its place, the reason and the remedy.

use std::borrow::Cow;
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use crate::sources::SourceError;
use crate::sources::convert::has_email;
use crate::sources::input::Place;
use crate::sources::sort::{Sorter, put_text, take_text};
use crate::sources::statement::make_readable;
use crate::sources::update::write_line;
use data::formula;
use data::parameter_error::shortened_to;

const HEADER: [&str; 6] = ["file", "line", "column", "value", "reason", "remedy"];

/// Maximum number of characters of a value in the file.
const MAX_VALUE: usize = 1_000;

/// Refuses to replace a file that no import wrote, such as one of the inputs.
pub(super) fn check(to: &Path) -> Result<(), SourceError> {
    let mut begin = Vec::new();
    let header = HEADER.join(",");
    match std::fs::File::open(to) {
        Ok(file) => {
            file.take(header.len() as u64).read_to_end(&mut begin).map_err(|error| SourceError::io(to, error))?
        }
        Err(_) => return Ok(()),
    };
    if begin.is_empty() || begin == header.as_bytes() {
        return Ok(());
    }
    Err(SourceError::invalid(to, "is not a file of `--rejects`, and is not replaced; name another one"))
}

/// A row or value that is left out.
pub(super) struct Reject<'a> {
    pub place: Place,
    pub column: &'a str,
    pub value: &'a str,
    pub reason: &'a str,
    pub remedy: &'a str,
}

/// Rejects in the order of their places. They are sorted on disk, because joins and merges find them in another order.
pub(super) struct Rejects {
    sorter: Sorter,
    bytes: Vec<u8>,
    /// First error of the disk, which [`Rejects::write`] returns.
    error: Option<io::Error>,
}

impl Rejects {
    pub(super) fn new(folder: &Path) -> Self {
        Self { sorter: Sorter::new(folder), bytes: Vec::new(), error: None }
    }

    pub(super) fn push(&mut self, reject: &Reject<'_>) {
        self.bytes.clear();
        let value = shown(reject.column, reject.value);
        let hidden = if value.is_none() && !reject.value.is_empty() { HIDDEN } else { "" };
        let value = shortened_to(MAX_VALUE, value.unwrap_or_default());
        for text in [reject.column, &value, &format!("{}{hidden}", reject.reason), reject.remedy] {
            put_text(&mut self.bytes, text);
        }
        if let Err(error) = self.sorter.push(&reject.place.bytes(), &self.bytes) {
            self.error.get_or_insert(error);
        }
    }

    /// Writes or replaces the file. `files` are the names of the inputs' files.
    pub(super) fn write(self, to: &Path, files: &[String]) -> io::Result<()> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut out = BufWriter::with_capacity(1 << 16, tempfile::NamedTempFile::new_in(folder)?);
        let mut line = Vec::new();
        write_line(&mut line, &HEADER);
        out.write_all(&line)?;
        let mut sorted = self.sorter.finish()?;
        let mut last = (Place::default(), Vec::new());
        while let Some((key, bytes)) = sorted.next()? {
            let place = Place::of_key(key).unwrap_or_default();
            // An input that is read for several sections tells of its unreadable rows each time.
            if last.0 == place && last.1 == bytes {
                continue;
            }
            last = (place, bytes.to_vec());
            let mut rest = bytes;
            let mut text = || take_text(&mut rest).map(|text| formula::neutralize(text.to_owned())).unwrap_or_default();
            let [column, value, reason, remedy] = [text(), text(), text(), text()];
            let file = files.get(place.file as usize).cloned().map(formula::neutralize).unwrap_or_default();
            line.clear();
            write_line(&mut line, &[&file, &place.line.to_string(), &column, &value, &reason, &remedy]);
            out.write_all(&line)?;
        }
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        make_readable(&file)?;
        file.as_file().sync_all()?;
        file.persist(to).map(drop).map_err(|error| error.error)
    }
}

/// End of the reason if a value is not shown.
const HIDDEN: &str = " (the value is private and not shown)";

/// A value that may be shown; `None` if it is private: an e-mail address, or a telephone number.
pub(super) fn shown<'v>(column: &str, value: &'v str) -> Option<&'v str> {
    (!has_email(value) && !PHONE.is_match(value.trim()) && !is_private(column)).then_some(value)
}

/// Quotes a value for a message; `(private)` if it may not be shown.
pub(super) fn quoted_if_shown(column: &str, value: &str) -> Cow<'static, str> {
    shown(column, value).map_or("(private)".into(), |value| data::import::diagnostics::quoted(value).into())
}

/// A number with a country or area code; groups of three digits alone are an amount.
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    let area = r"(?:\([0-9]{2,5}\)|0[0-9]{1,4}|[0-9]{3})[ /-][0-9]{3,4}[ -][0-9]{4}";
    let pattern = format!(r"^(?:tel\S*\s*)?(?:(?:\+|00)[1-9][0-9 ()./-]{{6,}}|{area}|0[0-9]{{1,4}}[ /-][0-9]{{5,8}})$");
    Regex::new(&pattern).expect("a valid expression")
});

/// Parts of headers, in lowercase, of columns whose values are private.
static PRIVATE: LazyLock<Vec<&str>> =
    LazyLock::new(|| data::word_file::entries(include_str!("private_headers.txt")).collect());

/// True if the header says that its values are private.
fn is_private(header: &str) -> bool {
    let header = header.to_lowercase();
    let mut words = header.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    // Scripts without spaces have no words to compare.
    words.any(|word| PRIVATE.iter().any(|known| word == *known || !known.is_ascii() && word.contains(known)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_values_are_not_shown() {
        for (column, value) in [
            ("Contact", "Ana Reed <ana@alder.example>"),
            ("Contact", "+49 30 555 0100"),
            ("Contact", "(020) 555-0100"),
            ("Contact", "555-555-0100"),
            ("Contact", "030 5550100"),
            ("Work phone", "5550100"),
            ("E-Mail", "none"),
            ("Telefonnummer", "5550100"),
            ("电话号码", "5550100"),
        ] {
            assert_eq!(shown(column, value), None, "{column}: {value}");
        }
        for (column, value) in [
            ("Owner", "Ana Reed"),
            ("Amount", "1500000"),
            ("Amount", "12 500 000"),
            ("Amount", "500-1000"),
            ("Date", "01/2026"),
            ("Amount", "+5.2%"),
            ("Date", "2026-11-20"),
            ("Mailand", "x"),
        ] {
            assert_eq!(shown(column, value), Some(value), "{column}: {value}");
        }
    }

    #[test]
    fn the_file_is_in_the_order_of_the_places_and_safe_for_spreadsheets() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("rejects.csv");
        let mut rejects = Rejects::new(folder.path());
        for (line, value) in [(9, "=1+1"), (2, "a, \"b\""), (2, "a, \"b\""), (2, "ana@alder.example")] {
            let place = Place { file: 0, line };
            rejects.push(&Reject { place, column: "City", value, reason: "is wrong", remedy: "" });
        }
        rejects.write(&to, &["f.csv".to_owned()]).unwrap();
        let expected = "file,line,column,value,reason,remedy\nf.csv,2,City,\"a, \"\"b\"\"\",is wrong,\n\
                        f.csv,2,City,,is wrong (the value is private and not shown),\nf.csv,9,City,'=1+1,is wrong,\n";
        assert_eq!(std::fs::read_to_string(&to).unwrap(), expected);
        assert!(check(&to).is_ok());
        std::fs::write(&to, "Name,Land\n").unwrap();
        assert!(check(&to).unwrap_err().to_string().contains("is not a file of `--rejects`"));
    }
}
