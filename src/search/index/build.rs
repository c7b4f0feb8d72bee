//! Builds a text index: a tantivy segment of the words of each row's names, and the side tables derived from it.

use std::fmt::Write;
use std::io;
use std::path::Path;

use tantivy::directory::{Directory, RamDirectory};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{
    DocSet, Index, IndexReader, ReloadPolicy, Searcher, SegmentReader, TERMINATED, TantivyDocument, TantivyError,
};
use tantivy_fst::MapBuilder;

use crate::index::dictionary::Dictionary;
use crate::index::hash_multi_map::HashMultiMapBuilder;
use crate::index::tables::{FIRST, Lookups, MAX_RARE_ROWS, MAX_ROWS, RowsOfWords, SideTables};
use crate::index::weights::Weights;
use crate::query::phonetic::phonetic_key;
use crate::query::reading::fold_name_into;
use crate::query::script_sounds::class_keys;
use crate::rank::{is_connecting, static_rank};
use crate::{FORMAT, IndexFiles, SearchError};
use data::Names;
use data::fold::fold_into;
use data::written::characters;

/// Memory for the terms of this number of rows, in bytes. A writer allocates a third of it at once, for a table that then
/// grows as needed; it never starts a second segment.
pub(super) fn writer_memory(rows: u32) -> usize {
    (rows as usize * 512).clamp(1 << 20, 2 << 30)
}

pub(crate) const FORMAT_FILE: &str = "format";
pub(crate) const TABLES_FILE: &str = "names.tables";

/// The fields of the segment: folded words of names and aliases, raw names that fold to nothing, without spaces, and
/// the [`character_terms`] of names. The terms of a document are separated by spaces.
fn schema() -> (Schema, [Field; 3]) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = ["word", "raw", "characters"].map(|name| schema.add_text_field(name, options.clone()));
    (schema.build(), fields)
}

/// The characters of a text, and each with the next one.
fn character_terms(characters: &str) -> impl Iterator<Item = &str> {
    let ends = |start: usize| {
        let mut rest = characters[start..].chars();
        rest.next().into_iter().chain(rest.next()).scan(start, |end, char| {
            *end += char.len_utf8();
            Some(*end)
        })
    };
    characters.char_indices().flat_map(move |(start, _)| ends(start).map(move |end| &characters[start..end]))
}

/// The terms that a name with a query's characters has: pairs, or a single character.
pub(crate) fn wanted_character_terms(characters: &str) -> impl Iterator<Item = &str> {
    let is_single = characters.chars().nth(1).is_none();
    let is_wanted = move |term: &&str| is_single || term.chars().nth(1).is_some();
    character_terms(characters).filter(is_wanted)
}

/// The names of a row: its name, then its aliases.
pub fn texts(names: &dyn Names, row: u32) -> impl Iterator<Item = &str> {
    let aliases = names.aliases(row).split('|').map(str::trim).filter(|alias| !alias.is_empty());
    std::iter::once(names.name(row)).chain(aliases)
}

/// A raw name that folds to nothing, as a term.
pub(crate) fn raw_term(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).flat_map(char::to_lowercase).collect()
}

pub(super) fn files_of(index: &Index, directory: &RamDirectory) -> Result<IndexFiles, SearchError> {
    let mut files = IndexFiles::new();
    for path in index.directory().list_managed_files() {
        let bytes = directory.open_read(&path).map_err(TantivyError::from)?.read_bytes().map_err(TantivyError::from)?;
        files.insert(path.to_string_lossy().into_owned(), bytes.to_vec());
    }
    Ok(files)
}

/// Opens the files of a stored index in memory. They were verified when they were read, and nothing writes to them.
pub(super) fn open_files(files: IndexFiles) -> Result<(Index, Searcher), SearchError> {
    let directory = RamDirectory::create();
    for (file, bytes) in files {
        directory.atomic_write(Path::new(&file), &bytes).map_err(TantivyError::from)?;
    }
    let index = Index::open(directory)?;
    let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
    Ok((index, reader.searcher()))
}

pub(crate) fn build_files(names: &dyn Names) -> Result<IndexFiles, SearchError> {
    if names.len() > MAX_ROWS {
        return Err(SearchError::TooManyRows { rows: names.len() });
    }
    let (schema, [word_field, raw_field, character_field]) = schema();
    let (index, directory) = (Index::builder().schema(schema), RamDirectory::create());
    let mut writer =
        index.single_segment_index_writer::<TantivyDocument>(directory.clone(), writer_memory(names.len()))?;
    let mut name_keys = NameKeys::default();
    let (mut folded, mut apart) = (String::new(), String::new());
    for row in 0..names.len() {
        let mut document = TantivyDocument::default();
        let mut words = String::new();
        for text in texts(names, row) {
            let characters = characters(text);
            if !characters.is_empty() {
                document.add_text(character_field, character_terms(&characters).collect::<Vec<_>>().join(" "));
            }
            fold_name_into(text, &mut folded);
            if folded.is_empty() {
                document.add_text(raw_field, raw_term(text));
            } else {
                name_keys.add(&folded, row);
                fold_into(text, &mut apart);
                if apart != folded {
                    name_keys.add(&apart, row);
                }
                words.extend((!words.is_empty()).then_some(' '));
                words.push_str(&folded);
            }
        }
        if !words.is_empty() {
            document.add_text(word_field, words);
        }
        writer.add_document(document)?;
    }
    let index = writer.finalize()?;
    let searcher = index.reader()?.searcher();
    let [segment] = searcher.segment_readers() else {
        return Err(SearchError::Shape { segments: searcher.segment_readers().len(), documents: 0, rows: names.len() });
    };
    let tables = build_side_tables(segment, word_field, names, name_keys)?;
    let mut files = files_of(&index, &directory)?;
    files.insert(TABLES_FILE.into(), tables.to_bytes().map_err(TantivyError::from)?);
    files.insert(FORMAT_FILE.into(), format!("{FORMAT}\n").into_bytes());
    Ok(files)
}

#[derive(Default)]
struct NameKeys {
    full_names: HashMultiMapBuilder,
    acronyms: HashMultiMapBuilder,
}

impl NameKeys {
    fn add(&mut self, folded: &str, row: u32) {
        if !folded.contains(' ') {
            return;
        }
        self.full_names.add(&folded.replace(' ', ""), row);
        let first = |word: &str| word.chars().next();
        self.acronyms.add(&folded.split(' ').filter_map(first).collect::<String>(), row);
        if folded.split(' ').any(is_connecting) {
            let main = folded.split(' ').filter(|word| !is_connecting(word));
            self.acronyms.add(&main.filter_map(first).collect::<String>(), row);
        }
    }
}

fn build_side_tables(
    segment: &SegmentReader,
    word_field: Field,
    names: &dyn Names,
    mut name_keys: NameKeys,
) -> Result<SideTables, SearchError> {
    let words = segment.inverted_index(word_field)?;
    let mut rows_of_words = RowsOfWords::default();
    let mut phonetic = HashMultiMapBuilder::default();
    let mut dictionary = MapBuilder::memory();
    let mut frequent_words = String::new();
    let mut folded = String::new();
    let mut rows = Vec::new();
    let damaged = || SearchError::Damaged { part: "the dictionary" };
    let io_error = |error: io::Error| SearchError::from(TantivyError::from(error));
    let mut terms = words.terms().stream().map_err(io_error)?;
    while let Some((term, info)) = terms.next() {
        let word = std::str::from_utf8(term).map_err(|_| damaged())?;
        let number = rows_of_words.len();
        dictionary.insert(term, u64::from(number)).map_err(|_| damaged())?;
        phonetic.add(&phonetic_key(word), number);
        class_keys(word).iter().for_each(|key| phonetic.add(key, number));
        if info.doc_freq >= Weights::min_frequency(names.len()) {
            writeln!(frequent_words, "{word} {}", info.doc_freq).expect("a string accepts any text");
        }
        rows.clear();
        let mut postings = words.read_postings_from_terminfo(info, IndexRecordOption::Basic).map_err(io_error)?;
        while postings.doc() != TERMINATED {
            let row = postings.doc();
            let mut is_first = false;
            for text in texts(names, row) {
                fold_name_into(text, &mut folded);
                is_first |= folded.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
                if info.doc_freq > MAX_RARE_ROWS && folded == word {
                    name_keys.full_names.add(word, row);
                }
            }
            rows.push(if is_first { row | FIRST } else { row });
            postings.advance();
        }
        if info.doc_freq > MAX_RARE_ROWS {
            rows.retain(|row| row & FIRST != 0);
            rows.iter_mut().for_each(|row| *row &= !FIRST);
            rows_of_words.add_common(info.doc_freq, &rows);
        } else {
            rows_of_words.add_rare(&rows);
        }
    }
    let lookups = Lookups {
        full_names: name_keys.full_names.build(),
        acronyms: name_keys.acronyms.build(),
        phonetic: phonetic.build(),
        dictionary: dictionary.into_inner().ok().and_then(Dictionary::from_bytes).ok_or_else(damaged)?,
        static_ranks: (0..names.len()).map(|row| static_rank(names.prominence(row))).collect(),
        frequent_words,
    };
    Ok(SideTables { rows_of_words, lookups })
}
