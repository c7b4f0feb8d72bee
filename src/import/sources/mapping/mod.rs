//! A mapping: how the columns of a source's files become statements, written in TOML.
//!
//! It is read as a whole, so that all its mistakes are reported, each with line and column.

pub(crate) mod date_format;
pub(crate) mod document;
mod read;
pub(crate) mod transform;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use crate::sources::field::Field;
use crate::sources::input::Format;
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::mapping::document::Place;
use crate::sources::mapping::transform::Transform;
use crate::sources::money::{AmountForm, Decimal};
use crate::sources::{EntityKind, Extent};

#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    /// Its file in messages.
    pub name: String,
    pub source: SourceValues,
    pub inputs: Vec<Input>,
    pub sections: Vec<Section>,
    /// The file with rates of currencies.
    pub rates: Option<PathBuf>,
}

/// The source that a mapping reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceValues {
    pub id: String,
    pub title: String,
    pub license: String,
    pub url: String,
    pub priority: u32,
    pub extent: Extent,
}

/// Files of one kind.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub name: String,
    /// A pattern of paths; without one all files are read.
    pub file: Option<String>,
    pub format: Format,
    /// The column by which other inputs join it.
    pub key: Option<Column>,
    /// Texts that mean an unknown value.
    pub none: Vec<String>,
    /// Columns that a file may lack.
    pub optional: Vec<String>,
    /// Other names of columns, as other versions of the files have them.
    pub names: Vec<(String, Vec<String>)>,
    /// Rows that are of use.
    pub when: Vec<Condition>,
    /// Whether there may be no such file.
    pub may_lack: bool,
    /// The decimal separator of its amounts.
    pub decimal: Option<Decimal>,
    pub place: Place,
}

/// A column of an input or of one that is joined to it.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub input: usize,
    pub name: String,
    pub place: Place,
    /// Its position in the rows that are evaluated; set when the import begins.
    pub index: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub column: Column,
    pub test: Test,
}

#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// In any letter case.
    OneOf(Vec<String>),
    NoneOf(Vec<String>),
    Present(bool),
    Matches(Regex),
    MatchesNot(Regex),
}

/// What to write for the values of a source. The values are found in any letter case.
pub(crate) type Vocabulary = HashMap<String, Vec<String>>;

/// A value that is computed from the columns of a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    pub columns: Vec<Column>,
    /// A value that does not depend on the row.
    pub constant: Option<String>,
    /// What joins the columns into one text; without it each column is a value.
    pub join: Option<String>,
    pub none: Vec<String>,
    pub steps: Vec<Transform>,
    pub vocabulary: Option<Arc<Vocabulary>>,
    pub unknown: Unknown,
    pub dates: Vec<DateFormat>,
    /// If there is no value.
    pub default: Option<String>,
    pub when: Vec<Condition>,
}

/// What happens to values that are not in a vocabulary, or not of the form of the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// They are left out, and the import fails if they are many.
    #[default]
    Report,
    /// They are left out.
    Drop,
    /// Those that the vocabulary does not have are used as they are.
    Keep,
}

#[derive(Clone, Debug)]
pub(crate) enum Currency {
    Code(String),
    Of(Value),
}

/// How the key of an entity is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// The text itself.
    Plain,
    /// The normal form of an identifier, with its scheme: `cik:320193`.
    Scheme(String),
    /// A folded name.
    Name,
}

/// A field that refers to another entity.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub kind: EntityKind,
    pub key: KeyForm,
    /// Whether the entity is created with the text as its name.
    pub is_created: bool,
}

#[derive(Clone, Debug)]
pub(crate) enum Target {
    Field(&'static Field),
    /// A scheme of identifiers.
    Identifier(String),
}

impl Target {
    /// The name of the field in statements.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Field(field) => field.name.to_owned(),
            Self::Identifier(scheme) => format!("{}{scheme}", data::identifier::FIELD),
        }
    }
}

/// How a field of an entity is read.
#[derive(Clone, Debug)]
pub(crate) struct FieldValue {
    pub target: Target,
    pub value: Value,
    pub currency: Option<Currency>,
    /// The day of the rate of a currency.
    pub rate_on: Option<Value>,
    pub amount: AmountForm,
    pub reference: Option<Reference>,
    /// Whether the amounts of all rows of the entity are added.
    pub is_sum: bool,
    pub place: Place,
}

/// The entities that the rows of an input make.
#[derive(Clone, Debug)]
pub(crate) struct Section {
    pub kind: EntityKind,
    pub from: usize,
    pub joins: Vec<Join>,
    pub when: Vec<Condition>,
    /// Without one, the key is the folded name and the country.
    pub key: Option<(Value, KeyForm)>,
    /// Of the rows of one entity the one with the greatest value counts, of equal ones the last; earlier ones count for
    /// fields that it has not.
    pub latest_by: Option<Value>,
    /// The key of the row in its source; by default that of the entity.
    pub source_key: Option<Value>,
    pub fields: Vec<FieldValue>,
}

/// The row of another input whose key is in a column of this one.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub input: usize,
    /// A column of the section's own input.
    pub column: Column,
}

impl Value {
    /// All columns that the value depends on.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut Column> {
        self.columns.iter_mut().chain(self.when.iter_mut().map(|condition| &mut condition.column))
    }
}

impl Section {
    /// All values that the section computes.
    pub(crate) fn values_mut(&mut self) -> Vec<&mut Value> {
        let mut values: Vec<&mut Value> = self.key.as_mut().map(|(value, _)| value).into_iter().collect();
        values.extend(self.latest_by.as_mut());
        values.extend(self.source_key.as_mut());
        for field in &mut self.fields {
            values.push(&mut field.value);
            if let Some(Currency::Of(currency)) = &mut field.currency {
                values.push(currency);
            }
            values.extend(field.rate_on.as_mut());
        }
        values
    }

    /// All columns that the section reads, except those of its joins.
    pub(crate) fn columns_mut(&mut self) -> Vec<&mut Column> {
        let Self { when, key, latest_by, source_key, fields, .. } = self;
        let mut columns: Vec<&mut Column> = when.iter_mut().map(|condition| &mut condition.column).collect();
        let values = key.as_mut().map(|(value, _)| value).into_iter();
        let values = values.chain(latest_by.as_mut()).chain(source_key.as_mut());
        columns.extend(values.flat_map(Value::columns_mut));
        for field in fields {
            columns.extend(field.value.columns_mut());
            if let Some(Currency::Of(currency)) = &mut field.currency {
                columns.extend(currency.columns_mut());
            }
            columns.extend(field.rate_on.iter_mut().flat_map(Value::columns_mut));
        }
        columns
    }
}
