//! Making a text index: the terms of each row's names, written as one segment.

use std::path::Path;

use tantivy::directory::{Directory, MmapDirectory, RamDirectory};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::{Index, IndexSettings, TantivyDocument};

use super::score::is_connecting;
use super::sound::sound_into;
use super::{FORMAT, SearchError};
use crate::dataset::Names;
use crate::dataset::fold::fold_into;

/// Memory that the writer may take, in bytes; it is for a table of many millions.
const MEMORY: usize = 2 << 30;

/// The fields of the segment. Terms are separated by spaces in what is given to tantivy.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields {
    /// Folded words.
    pub word: Field,
    /// Folded names without spaces.
    pub whole: Field,
    /// The sound of each name.
    pub sound: Field,
    /// The acronyms of each name.
    pub acronym: Field,
    /// Raw names that fold to nothing, without spaces.
    pub raw: Field,
}

/// The name of the file that tells the format of an index.
pub(super) const FORMAT_FILE: &str = "format";

pub(super) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("whitespace")
        .set_index_option(IndexRecordOption::Basic)
        .set_fieldnorms(false);
    let options = TextOptions::default().set_indexing_options(indexing);
    let mut field = |name| schema.add_text_field(name, options.clone());
    let fields = Fields {
        word: field("word"),
        whole: field("whole"),
        sound: field("sound"),
        acronym: field("acronym"),
        raw: field("raw"),
    };
    (schema.build(), fields)
}

/// The names of a row: its name, then its aliases.
pub(super) fn texts(names: &dyn Names, row: u32) -> impl Iterator<Item = &str> {
    let aliases = names.aliases(row).split('|').map(str::trim).filter(|alias| !alias.is_empty());
    std::iter::once(names.name(row)).chain(aliases)
}

/// A raw name that folds to nothing, as a term.
pub(super) fn raw_term(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).flat_map(char::to_lowercase).collect()
}

pub(super) fn build_in(directory: impl Into<Box<dyn Directory>>, names: &dyn Names) -> Result<Index, SearchError> {
    let (schema, fields) = schema();
    let settings = IndexSettings::default();
    let mut writer = Index::builder()
        .schema(schema)
        .settings(settings)
        .single_segment_index_writer::<TantivyDocument>(directory, MEMORY)?;
    let mut folded = String::new();
    let mut terms = Terms::default();
    for row in 0..names.len() {
        terms.clear();
        for text in texts(names, row) {
            fold_into(text, &mut folded);
            terms.add(text, &folded);
        }
        writer.add_document(terms.document(fields))?;
    }
    Ok(writer.finalize()?)
}

/// Builds an index in memory.
pub(super) fn build_in_memory(names: &dyn Names) -> Result<Index, SearchError> {
    build_in(RamDirectory::create(), names)
}

/// Builds an index in a folder, which is made.
pub(super) fn build_in_folder(names: &dyn Names, folder: &Path) -> Result<(), SearchError> {
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |cause| SearchError::File { path, cause }
    };
    std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    let directory = MmapDirectory::open(folder).map_err(|error| SearchError::Index(Box::new(error.into())))?;
    build_in(directory, names)?;
    let format = folder.join(FORMAT_FILE);
    std::fs::write(&format, format!("{FORMAT}\n")).map_err(file_error(&format))
}

/// The terms of one row.
#[derive(Default)]
struct Terms {
    word: String,
    whole: String,
    sound: String,
    acronym: String,
    raw: String,
    key: String,
}

impl Terms {
    fn clear(&mut self) {
        for terms in [&mut self.word, &mut self.whole, &mut self.sound, &mut self.acronym, &mut self.raw] {
            terms.clear();
        }
    }

    fn add(&mut self, text: &str, folded: &str) {
        if folded.is_empty() {
            push(&mut self.raw, &raw_term(text));
            return;
        }
        push(&mut self.word, folded);
        push(&mut self.whole, "");
        self.whole.extend(folded.split(' '));
        sound_into(folded, &mut self.key);
        push(&mut self.sound, &self.key);
        if folded.contains(' ') {
            let all = folded.split(' ').filter_map(|word| word.chars().next());
            let telling = folded.split(' ').filter(|word| !is_connecting(word)).filter_map(|word| word.chars().next());
            push(&mut self.acronym, "");
            self.acronym.extend(all);
            push(&mut self.acronym, "");
            self.acronym.extend(telling);
        }
    }

    fn document(&self, fields: Fields) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        for (field, terms) in [
            (fields.word, &self.word),
            (fields.whole, &self.whole),
            (fields.sound, &self.sound),
            (fields.acronym, &self.acronym),
            (fields.raw, &self.raw),
        ] {
            if !terms.is_empty() {
                document.add_text(field, terms);
            }
        }
        document
    }
}

fn push(terms: &mut String, term: &str) {
    if !terms.is_empty() {
        terms.push(' ');
    }
    terms.push_str(term);
}
