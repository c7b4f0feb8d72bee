//! What fields records have, and what lies below them.

use crate::data::Table;

/// A field with the fields of the object, or of the objects of the list, that it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its name, in snake_case.
    pub name: &'a str,
    /// The names below it; none below a plain value.
    pub below: &'a [Field<'a>],
}

/// A field that holds a plain value.
#[must_use]
pub const fn plain(name: &str) -> Field<'_> {
    Field { name, below: &[] }
}

/// A field that holds an object or a list of objects.
#[must_use]
pub const fn holding<'a>(name: &'a str, below: &'a [Field<'a>]) -> Field<'a> {
    Field { name, below }
}

const REFERENCE: &[Field<'_>] = &[plain("slug"), plain("name")];
const RATINGS: &[Field<'_>] = &[plain("overall"), plain("responsiveness"), plain("fairness"), plain("value_add")];
const COMPONENTS: &[Field<'_>] =
    &[plain("name"), plain("weight"), plain("value"), plain("points"), plain("max_points")];
const SCORE: &[Field<'_>] = &[
    plain("value"),
    plain("low"),
    plain("high"),
    plain("status"),
    plain("review_count"),
    plain("method"),
    holding("components", COMPONENTS),
];
const CO_INVESTORS: &[Field<'_>] = &[plain("slug"), plain("name"), plain("shared_rounds")];
const INVESTORS: &[Field<'_>] = &[plain("slug"), plain("name"), plain("lead")];
const ORGANIZATION: &[Field<'_>] = &[plain("kind"), plain("slug"), plain("name")];
const ROUNDS: &[Field<'_>] = &[
    plain("id"),
    holding("startup", REFERENCE),
    plain("stage"),
    plain("amount_usd"),
    plain("announced_on"),
    holding("lead_investors", REFERENCE),
    holding("investors", REFERENCE),
    plain("sectors"),
    plain("country"),
];
const PEOPLE: &[Field<'_>] =
    &[plain("slug"), plain("name"), plain("title"), holding("organization", ORGANIZATION), plain("country")];

/// What lies below a field of a table's records.
fn below(table: Table, name: &str) -> &'static [Field<'static>] {
    match (table, name) {
        (Table::Firms, "ratings") => RATINGS,
        (Table::Firms, "score") => SCORE,
        (Table::Firms, "top_co_investors") => CO_INVESTORS,
        (Table::Startups, "investors") => INVESTORS,
        (Table::Startups, "rounds") => ROUNDS,
        (Table::Startups, "people") => PEOPLE,
        (Table::Rounds, "startup" | "lead_investors" | "investors") | (Table::Reviews, "vc") => REFERENCE,
        (Table::People, "organization") => ORGANIZATION,
        _ => &[],
    }
}

/// The fields that can be asked for: a table's ready-made ones, its composed ones, then further ones.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    table: Option<Table>,
    further: &'a [Field<'a>],
}

impl<'a> Shape<'a> {
    /// The fields of a table's records.
    #[must_use]
    pub fn of(table: Table) -> Self {
        Self { table: Some(table), further: &[] }
    }

    /// The fields of a table's records and those that a list adds.
    #[must_use]
    pub fn with(table: Table, further: &'a [Field<'a>]) -> Self {
        Self { table: Some(table), further }
    }

    /// The fields of an object that is no table's record.
    #[must_use]
    pub fn object(further: &'a [Field<'a>]) -> Self {
        Self { table: None, further }
    }

    /// The field of this name, with its place.
    #[must_use]
    pub fn find(self, name: &str) -> Option<(usize, Field<'a>)> {
        let own = self.table.map_or((&[][..], &[][..]), |table| (table.fields(), table.composed()));
        let place = own.0.iter().chain(own.1).position(|known| *known == name);
        if let Some((place, table)) = place.zip(self.table) {
            let name = own.0.iter().chain(own.1).nth(place).copied()?;
            return Some((place, Field { name, below: below(table, name) }));
        }
        let place = self.further.iter().position(|field| field.name == name)?;
        Some((own.0.len() + own.1.len() + place, *self.further.get(place)?))
    }

    /// All fields, in the order of their places.
    pub fn fields(self) -> impl Iterator<Item = Field<'a>> {
        let own = self.table.into_iter().flat_map(|table| {
            let names = table.fields().iter().chain(table.composed());
            names.map(move |name| Field { name, below: below(table, name) })
        });
        own.chain(self.further.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::api::fields::Fields;
    use crate::api::record_json;
    use crate::catalog::bundled;

    /// Complains of keys that the shape does not have; counts those that it has.
    fn compare(value: &Value, below: &[Field<'_>], place: &str, seen: &mut std::collections::BTreeSet<String>) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| compare(value, below, place, seen)),
            Value::Object(object) => {
                for (key, value) in object {
                    let place = format!("{place}.{key}");
                    let field = below.iter().find(|field| field.name == key);
                    let field = field.unwrap_or_else(|| panic!("the shape lacks {place}"));
                    compare(value, field.below, &place, seen);
                    seen.insert(place);
                }
            }
            _ => {}
        }
    }

    fn count(fields: &[Field<'_>]) -> usize {
        fields.iter().map(|field| 1 + count(field.below)).sum()
    }

    #[test]
    fn the_shape_is_that_of_the_records() {
        let catalog = bundled().unwrap();
        for table in Table::ALL {
            let fields: Vec<Field<'_>> = Shape::of(table).fields().collect();
            let mut seen = std::collections::BTreeSet::new();
            for row in 0..catalog.snapshot().rows(table) {
                let mut text = Vec::new();
                record_json::write(&mut text, &catalog, table, row, &Fields::All, true);
                compare(&serde_json::from_slice(&text).unwrap(), &fields, table.name(), &mut seen);
            }
            assert_eq!(seen.len(), count(&fields), "{table:?} has fields that no record has: {seen:?}");
        }
    }
}
