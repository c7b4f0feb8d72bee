//! Making a text index: one tantivy segment of the words of each row's names, and the side tables beside it.

use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{DocSet, Index, SegmentReader, TERMINATED, TantivyDocument};

use crate::data::Names;
use crate::data::fold::fold_into;
use crate::search::index::dictionary::{Dictionary, Writer};
use crate::search::index::hash_multi_map::Entries;
use crate::search::index::tables::{Beside, FIRST, Filling, MOST_ROWS, RARE, Tables};
use crate::search::index::weights::Weights;
use crate::search::query::phonetic::sound_into;
use crate::search::rank::{is_connecting, standing};
use crate::search::{FORMAT, SearchError};

/// Memory that the writer may take, in bytes, before it would begin a second segment.
const MEMORY: usize = 2 << 30;

/// The name of the file that tells the format of an index.
pub(crate) const FORMAT_FILE: &str = "format";
/// The name of the file of side tables.
pub(crate) const TABLES_FILE: &str = "names.tables";

/// The fields of the segment. Terms are separated by spaces in what is given to tantivy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Folded words of names and aliases.
    pub word: Field,
    /// Raw names that fold to nothing, without spaces.
    pub raw: Field,
}

fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields =
        Fields { word: schema.add_text_field("word", options.clone()), raw: schema.add_text_field("raw", options) };
    (schema.build(), fields)
}

/// The names of a row: its name, then its aliases.
pub(crate) fn texts(names: &dyn Names, row: u32) -> impl Iterator<Item = &str> {
    split(names.name(row), names.aliases(row))
}

/// A name, and the aliases that are given in one text.
pub(crate) fn split<'a>(name: &'a str, aliases: &'a str) -> impl Iterator<Item = &'a str> {
    let aliases = aliases.split('|').map(str::trim).filter(|alias| !alias.is_empty());
    std::iter::once(name).chain(aliases)
}

/// A raw name that folds to nothing, as a term.
pub(crate) fn raw_term(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Builds an index in memory.
pub(crate) fn build_in_memory(names: &dyn Names) -> Result<(Index, Tables), SearchError> {
    build(RamDirectory::create(), names)
}

/// Builds an index in a folder, which is made.
pub(crate) fn build_in_folder(names: &dyn Names, folder: &Path) -> Result<(), SearchError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |cause| SearchError::File { path, cause }
    };
    std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    let directory = MmapDirectory::open(folder).map_err(|error| SearchError::Index(Box::new(error.into())))?;
    let (_, tables) = build(directory, names)?;
    tables.write(&folder.join(TABLES_FILE), names.len())?;
    let format = folder.join(FORMAT_FILE);
    std::fs::write(&format, format!("{FORMAT}\n")).map_err(file_error(&format))
}

fn build(directory: impl Into<Box<dyn Directory>>, names: &dyn Names) -> Result<(Index, Tables), SearchError> {
    if names.len() > MOST_ROWS {
        return Err(SearchError::TooMany { rows: names.len() });
    }
    let (schema, fields) = schema();
    let mut writer =
        Index::builder().schema(schema).single_segment_index_writer::<TantivyDocument>(directory, MEMORY)?;
    let mut keys = Keys::default();
    let mut folded = String::new();
    for row in 0..names.len() {
        let mut document = TantivyDocument::default();
        let mut words = String::new();
        for text in texts(names, row) {
            fold_into(text, &mut folded);
            if folded.is_empty() {
                document.add_text(fields.raw, raw_term(text));
            } else {
                keys.add(&folded, row);
                if !words.is_empty() {
                    words.push(' ');
                }
                words.push_str(&folded);
            }
        }
        if !words.is_empty() {
            document.add_text(fields.word, words);
        }
        writer.add_document(document)?;
    }
    let index = writer.finalize()?;
    let searcher = index.reader()?.searcher();
    let [segment] = searcher.segment_readers() else {
        return Err(SearchError::Shape { segments: searcher.segment_readers().len(), documents: 0, rows: names.len() });
    };
    let tables = lay_tables(segment, fields, names, keys)?;
    Ok((index, tables))
}

/// Look-ups by whole names.
#[derive(Default)]
pub(crate) struct Keys {
    wholes: Entries,
    acronyms: Entries,
    key: String,
}

impl Keys {
    fn add(&mut self, folded: &str, row: u32) {
        if !folded.contains(' ') {
            return;
        }
        self.key.clear();
        self.key.extend(folded.split(' '));
        self.wholes.add(&self.key, row);
        let first = |word: &str| word.chars().next();
        self.key.clear();
        self.key.extend(folded.split(' ').filter_map(first));
        self.acronyms.add(&self.key, row);
        if folded.split(' ').any(is_connecting) {
            self.key.clear();
            self.key.extend(folded.split(' ').filter(|word| !is_connecting(word)).filter_map(first));
            self.acronyms.add(&self.key, row);
        }
    }
}

/// Lays down the side tables from what tantivy has inverted.
fn lay_tables(
    segment: &SegmentReader,
    fields: Fields,
    names: &dyn Names,
    mut keys: Keys,
) -> Result<Tables, SearchError> {
    let words = segment.inverted_index(fields.word)?;
    let mut filling = Filling::default();
    let mut sounds = Entries::default();
    let mut dictionary = Writer::new();
    let mut weighed = String::new();
    let (mut folded, mut sound) = (String::new(), String::new());
    let mut rows = Vec::new();
    let damaged = || SearchError::Damaged { part: "the dictionary" };
    let io_error = |error: std::io::Error| SearchError::from(tantivy::TantivyError::from(error));
    let mut terms = words.terms().stream().map_err(io_error)?;
    while let Some((term, info)) = terms.next() {
        let word = std::str::from_utf8(term).map_err(|_| damaged())?;
        if !dictionary.add(term, filling.next()) {
            return Err(damaged());
        }
        sound_into(word, &mut sound);
        sounds.add(&sound, filling.next());
        if info.doc_freq >= Weights::common_from(names.len()) {
            weighed.push_str(&format!("{word} {}\n", info.doc_freq));
        }
        rows.clear();
        let mut postings = words.read_postings_from_terminfo(info, IndexRecordOption::Basic).map_err(io_error)?;
        while postings.doc() != TERMINATED {
            let row = postings.doc();
            let mut is_first = false;
            for text in texts(names, row) {
                fold_into(text, &mut folded);
                is_first |= folded.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
                if info.doc_freq > RARE && folded == word {
                    keys.wholes.add(word, row);
                }
            }
            rows.push(if is_first { row | FIRST } else { row });
            postings.advance();
        }
        if info.doc_freq > RARE {
            rows.retain(|row| row & FIRST != 0);
            rows.iter_mut().for_each(|row| *row &= !FIRST);
            filling.add_common(info.doc_freq, &rows);
        } else {
            filling.add_rare(&rows);
        }
    }
    let dictionary = dictionary.finish().and_then(Dictionary::read).ok_or_else(damaged)?;
    let standing = (0..names.len()).map(|row| standing(names.name(row).len(), names.prominence(row))).collect();
    Ok(filling.finish(Beside {
        wholes: keys.wholes.bucket(),
        acronyms: keys.acronyms.bucket(),
        sounds: sounds.bucket(),
        dictionary,
        standing,
        weighed,
    }))
}
