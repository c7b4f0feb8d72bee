//! Records as flat rows, for CSV and Parquet. The fields of an object are columns of their own (`score_value`). A date
//! that may be known only to the month or year has two: its first day and its precision. Lists of objects stay JSON.

mod csv;
mod value;

pub use csv::CsvWriter;
pub use value::{FlatValue, visit_values};

use crate::Resource;
use crate::json::{FieldMask, FieldSet, Fields};
use data::Table;
use data::field::{Field, JsonType};

#[derive(Clone, Debug)]
pub struct FlatColumn {
    /// Path of the field, joined by `_`: `score_value`.
    pub name: String,
    pub description: String,
    pub kind: ColumnType,
    pub is_nullable: bool,
    /// The field. Its bounds, pattern and vocabulary apply to the values, or to the items of a list.
    pub field: &'static Field,
    /// Names of the field and of the objects around it, outermost first.
    path: Vec<&'static str>,
    /// The index of the outermost in the [`FieldSet`].
    index: usize,
    /// The part of the value that is selected.
    mask: FieldMask,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    Text,
    /// From 0 to 2^53 − 1.
    Integer,
    Number,
    Boolean,
    /// A date; the first day of a month or a year.
    Date,
    /// The precision of a date: one of [`PRECISIONS`].
    Precision,
    Texts,
    /// JSON text of a list or an object.
    Json,
}

pub const PRECISIONS: [&str; 3] = ["year", "month", "day"];

/// Columns of the records of a table as stored: all fields except those from other tables.
pub fn table_columns(table: Table) -> Vec<FlatColumn> {
    columns(table.fields().iter().enumerate().map(in_full))
}

fn in_full((index, field): (usize, &'static Field)) -> (usize, &'static Field, FieldMask) {
    (index, field, FieldMask::full())
}

pub fn list_columns(resource: Resource, fields: &Fields) -> Vec<FlatColumn> {
    let set = FieldSet::of_list(resource);
    match fields {
        Fields::Default | Fields::DefaultWithDays => {
            let listed = resource.table().default_fields().len();
            let own = resource.table().model().fields.len();
            columns(set.iter().enumerate().filter(|(index, _)| *index < listed || *index >= own).map(in_full))
        }
        Fields::All => columns(set.iter().enumerate().map(in_full)),
        Fields::Some(parts) => {
            let fields: Vec<&Field> = set.iter().collect();
            columns(parts.iter().map(|(index, mask)| (*index, fields[*index], mask.clone())))
        }
    }
}

fn columns(fields: impl Iterator<Item = (usize, &'static Field, FieldMask)>) -> Vec<FlatColumn> {
    let mut columns = Vec::new();
    fields.for_each(|(index, field, mask)| {
        Above { index, path: &[], is_nullable: false }.add(&mut columns, field, &mask)
    });
    columns
}

/// The objects around a field.
struct Above<'p> {
    index: usize,
    path: &'p [&'static str],
    is_nullable: bool,
}

impl Above<'_> {
    /// Adds the columns of a field.
    fn add(&self, columns: &mut Vec<FlatColumn>, field: &'static Field, mask: &FieldMask) {
        let path = [self.path, &[field.name]].concat();
        let (index, is_nullable) = (self.index, self.is_nullable || field.is_nullable || field.is_optional);
        if let JsonType::Object(definition) = field.json {
            let above = Above { index, path: &path, is_nullable };
            for nested in definition.fields {
                let mask = if mask.is_full() { Some(mask) } else { mask.nested(nested.name) };
                mask.into_iter().for_each(|mask| above.add(columns, nested, mask));
            }
            return;
        }
        let kind = match field.json {
            JsonType::Text => ColumnType::Text,
            JsonType::Date | JsonType::PartialDate => ColumnType::Date,
            JsonType::Integer | JsonType::Long | JsonType::Signed => ColumnType::Integer,
            JsonType::Number => ColumnType::Number,
            JsonType::Boolean => ColumnType::Boolean,
            JsonType::List(JsonType::Text) => ColumnType::Texts,
            JsonType::List(_) | JsonType::Map(_) | JsonType::Object(_) | JsonType::Record => ColumnType::Json,
        };
        let name = path.join("_");
        let mut description = field.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        if !self.path.is_empty() {
            description = format!("`{}`: {description}", path.join("."));
        }
        let precision = matches!(field.json, JsonType::PartialDate).then(|| FlatColumn {
            name: format!("{name}_precision"),
            description: format!("How exactly `{name}` is known; of a month or a year, it is the first day."),
            kind: ColumnType::Precision,
            is_nullable,
            field,
            path: path.clone(),
            index,
            mask: mask.clone(),
        });
        let mask = mask.clone();
        columns.push(FlatColumn { name, description, kind, is_nullable, field, path, index, mask });
        columns.extend(precision);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use data::vocabulary::Vocabulary;

    fn names(columns: &[FlatColumn]) -> Vec<&str> {
        columns.iter().map(|column| column.name.as_str()).collect()
    }

    fn parse(fields: &str, resource: Resource) -> Fields {
        Fields::parse(&[("fields".to_owned(), fields.to_owned())], FieldSet::of_list(resource)).unwrap()
    }

    #[test]
    fn nested_fields_are_columns_and_partial_dates_two() {
        let columns = table_columns(Table::Rounds);
        let expected = [
            "id",
            "startup_slug",
            "startup_name",
            "stage",
            "amount_usd",
            "announced_on",
            "announced_on_precision",
            "lead_investors",
            "investors",
            "sectors",
            "country",
            "suspect",
        ];
        assert_eq!(names(&columns), expected);
        use ColumnType::{Boolean, Date, Integer, Json, Precision, Text, Texts};
        let kinds: Vec<ColumnType> = columns.iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [Text, Text, Text, Text, Integer, Date, Precision, Json, Json, Texts, Text, Boolean]);
        assert!(columns[5].is_nullable && columns[6].is_nullable && !columns[1].is_nullable);
        assert_eq!(columns[1].description, "`startup.slug`: The record's slug.");
    }

    #[test]
    fn a_selection_of_fields_is_a_selection_of_columns() {
        let columns = list_columns(Resource::Firms, &parse("score.value,name,topCoInvestors.slug", Resource::Firms));
        assert_eq!(names(&columns), ["name", "score_value", "top_co_investors"]);
        let columns = list_columns(Resource::Match, &parse("slug,points", Resource::Match));
        assert_eq!(names(&columns), ["slug", "points"]);
        let default = list_columns(Resource::CoInvestors, &Fields::Default);
        assert_eq!(names(&default)[..2], ["slug", "name"]);
        assert_eq!(names(&default)[default.len() - 2..], ["last_shared_on", "last_shared_on_precision"]);
    }

    #[test]
    fn no_list_has_two_columns_of_one_name() {
        for resource in Resource::ALL.iter().copied() {
            let columns = list_columns(resource, &Fields::All);
            let distinct: BTreeSet<&str> = names(&columns).into_iter().collect();
            assert_eq!(distinct.len(), columns.len(), "{resource:?}");
            assert!(columns.iter().all(|column| !column.description.is_empty()), "{resource:?}");
        }
    }
}
