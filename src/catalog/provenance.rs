//! Statements of sources about a record.

use serde::Serialize;

use crate::Catalog;
use crate::row_filter::distinct;
use data::field::model;
use data::import::provenance::{Source, SourceStatement};
use data::{Date, Table};

model! {
    /// What a source says about a field of a record.
    #[derive(Clone, Debug, Serialize)]
    pub struct ProvenanceStatement as "Statement" {
        /// The field of the record; of an identifier `id:` and its scheme.
        pub field: String,
        /// The value, as text: of a reference the slug.
        pub value: String,
        /// Whether the record has this value.
        pub used: bool,
        /// The value as the source writes it; `null` if it is the same.
        pub original: Option<String>,
        /// The id of the source.
        pub source: String,
        /// The key of the record in the source.
        pub source_key: Option<String>,
        /// The license of the source.
        pub license: String,
        /// When the source was first read with this value.
        pub first_seen: Option<Date>,
        /// When the source was last read with this value.
        pub last_seen: Option<Date>,
    }
}

impl Catalog {
    /// All statements of the sources about a record, including those it does not use.
    pub fn provenance(&self, table: Table, row: u32) -> Vec<ProvenanceStatement> {
        let sources = self.snapshot().sources();
        self.snapshot().statements(table, row).into_iter().filter_map(|statement| stated(sources, statement)).collect()
    }

    /// Sources with a statement about a record, in their order in the release.
    pub fn sources_of(&self, table: Table, row: u32) -> Vec<&Source> {
        let statements = self.snapshot().statements(table, row);
        let indexes = distinct(statements.iter().map(|(statement, _)| statement.source as usize));
        indexes.into_iter().filter_map(|index| self.snapshot().sources().get(index)).collect()
    }
}

fn stated(sources: &[Source], (statement, used): (SourceStatement, bool)) -> Option<ProvenanceStatement> {
    let SourceStatement { field, value, original, source, source_key, first_seen, last_seen } = statement;
    let source = sources.get(source as usize)?;
    let (source, license) = (source.id.clone(), source.license.clone());
    Some(ProvenanceStatement { field, value, used, original, source, source_key, license, first_seen, last_seen })
}
