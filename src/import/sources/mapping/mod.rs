//! Mappings in TOML: define the statements that the columns of a source's files become.
//! A mapping is read to the end, so that all mistakes are reported, each with line and column.

pub(crate) mod date_format;
pub(crate) mod document;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod transform;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use crate::sources::field::{FieldForm, SourceField};
use crate::sources::input::InputFormat;
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::mapping::document::LineColumn;
use crate::sources::mapping::transform::Transform;
use crate::sources::money::{AmountForm, Decimal};
use crate::sources::{EntityKind, Extent};

pub(crate) struct Mapping {
    /// Name of its file in messages.
    pub name: String,
    pub source: SourceValues,
    pub inputs: Vec<MappingInput>,
    pub sections: Vec<MappingSection>,
    pub rates: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(crate) struct SourceValues {
    pub id: String,
    pub title: String,
    pub license: String,
    pub url: String,
    pub priority: u32,
    pub extent: Extent,
}

pub(crate) struct MappingInput {
    pub name: String,
    /// Pattern of paths; if missing, all files are read.
    pub file: Option<String>,
    pub format: InputFormat,
    /// Column by which other inputs join this one.
    pub key: Option<ColumnRef>,
    /// Texts that stand for an unknown value.
    pub none: Vec<String>,
    pub optional: Vec<String>,
    /// Columns that are not read on purpose.
    pub ignore: Vec<String>,
    /// Alternative names of columns, from other versions of the files.
    pub names: Vec<(String, Vec<String>)>,
    pub when: Vec<Condition>,
    pub may_lack: bool,
    pub decimal: Option<Decimal>,
    pub position: LineColumn,
}

/// Reference to a column of an input or of a joined input.
#[derive(Clone, Debug)]
pub(crate) struct ColumnRef {
    pub input: usize,
    pub name: String,
    pub position: LineColumn,
    /// Index in the evaluated rows; set when the import begins.
    pub index: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub column: ColumnRef,
    pub test: CellTest,
}

#[derive(Clone, Debug)]
pub(crate) enum CellTest {
    /// One of these texts, in any letter case.
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Present(bool),
    Matches(Regex),
    MatchesNot(Regex),
}

/// Translations of a source's values. Values are looked up in any letter case.
pub(crate) type MappingVocabulary = HashMap<String, Vec<String>>;

/// A value that is computed from the columns of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct MappedValue {
    pub columns: Vec<ColumnRef>,
    /// A value that does not depend on the row.
    pub constant: Option<String>,
    /// Text that joins the columns into one value; without it each column is a value.
    pub join: Option<String>,
    pub none: Vec<String>,
    pub steps: Vec<Transform>,
    pub vocabulary: Option<Arc<MappingVocabulary>>,
    /// True if the field has words of its own, which the vocabulary adds to.
    pub extends_words: bool,
    pub unknown: Unknown,
    pub dates: Vec<DateFormat>,
    pub default: Option<String>,
    pub when: Vec<Condition>,
}

/// Treatment of values that are not in the vocabulary, or do not fit the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// Drop them, and fail the import if they are many.
    #[default]
    Report,
    Drop,
    /// Use values that are not in the vocabulary as they are.
    Keep,
}

pub(crate) enum Currency {
    Code(String),
    Of(MappedValue),
    /// Each amount has its own. The codes tell which currencies signs of several mean, such as `$`.
    Written(Vec<String>),
}

pub(crate) enum KeyForm {
    Plain,
    /// Normal form of an identifier, with its scheme: `cik:320193`.
    Scheme(String),
    Name,
}

pub(crate) struct EntityReference {
    pub kind: EntityKind,
    pub key: KeyForm,
    /// True if the entity is created, with the text as its name.
    pub is_created: bool,
}

pub(crate) enum FieldTarget {
    Field(&'static SourceField),
    Identifier(String),
}

impl FieldTarget {
    /// Name of the field in statements.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Field(field) => field.name.to_owned(),
            Self::Identifier(scheme) => format!("{}{scheme}", data::identifier::FIELD),
        }
    }

    pub(crate) fn form(&self) -> FieldForm {
        match self {
            Self::Field(field) => field.form,
            Self::Identifier(_) => FieldForm::Identifier,
        }
    }

    /// True if the field takes several values, as those of identifiers do.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Self::Identifier(_) | Self::Field(SourceField { is_list: true, .. }))
    }
}

pub(crate) struct FieldValue {
    pub target: FieldTarget,
    pub value: MappedValue,
    pub currency: Option<Currency>,
    /// Day of the currency rate.
    pub rate_on: Option<MappedValue>,
    pub amount: AmountForm,
    pub reference: Option<EntityReference>,
    /// True if the amounts of all rows of the entity are added up.
    pub is_sum: bool,
    pub position: LineColumn,
}

/// A section of a mapping: entities made from the rows of an input.
pub(crate) struct MappingSection {
    pub kind: EntityKind,
    pub from: usize,
    pub joins: Vec<Join>,
    pub when: Vec<Condition>,
    /// If missing, the key is the folded name and the country.
    pub key: Option<(MappedValue, KeyForm)>,
    /// The entity's row with the greatest value counts, the last among equal ones. Earlier rows fill fields that it lacks.
    pub latest_by: Option<MappedValue>,
    /// Key of the row in its source; defaults to the key of the entity.
    pub source_key: Option<MappedValue>,
    pub fields: Vec<FieldValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub input: usize,
    /// Column of the section's own input that contains the key.
    pub column: ColumnRef,
}

impl FieldValue {
    pub(crate) fn new(target: FieldTarget, value: MappedValue, position: LineColumn) -> Self {
        let (amount, is_sum) = (AmountForm::default(), false);
        Self { target, value, currency: None, rate_on: None, amount, reference: None, is_sum, position }
    }

    /// Columns of the currency and of the day of its rate.
    pub(crate) fn read_for_amount(&self) -> impl Iterator<Item = &ColumnRef> {
        let currency = match &self.currency {
            Some(Currency::Of(currency)) => Some(currency),
            _ => None,
        };
        currency.into_iter().chain(&self.rate_on).flat_map(|value| &value.columns)
    }

    fn values_mut(&mut self) -> impl Iterator<Item = &mut MappedValue> {
        let currency = match &mut self.currency {
            Some(Currency::Of(currency)) => Some(currency),
            _ => None,
        };
        std::iter::once(&mut self.value).chain(currency).chain(&mut self.rate_on)
    }
}

impl MappedValue {
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut ColumnRef> {
        self.columns.iter_mut().chain(self.when.iter_mut().map(|condition| &mut condition.column))
    }
}

impl MappingSection {
    /// Columns that the section reads, except those of its joins.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut ColumnRef> {
        let (when, values) = self.parts_mut();
        when.iter_mut().map(|condition| &mut condition.column).chain(values.flat_map(MappedValue::columns_mut))
    }

    /// Its conditions and values.
    pub(crate) fn parts_mut(&mut self) -> (&mut [Condition], impl Iterator<Item = &mut MappedValue>) {
        let Self { when, key, latest_by, source_key, fields, .. } = self;
        let key = key.iter_mut().map(|(value, _)| value);
        let fields = fields.iter_mut().flat_map(FieldValue::values_mut);
        (when.as_mut_slice(), key.chain(latest_by).chain(source_key).chain(fields))
    }
}
