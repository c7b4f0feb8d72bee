//! Fields of an item, for field selection and documents.

use once_cell::sync::Lazy;

use crate::Resource;
use crate::json::computed::{CoInvestorFields, MatchFields, RankFields};
use data::Table;
use data::field::{Definition, Field, Model};

/// Fields of an item: those of a record, then computed ones. The index of a field is its position in this sequence.
#[derive(Clone, Copy, Debug)]
pub struct FieldSet {
    record: &'static [Field],
    pub computed: &'static [Field],
}

impl FieldSet {
    pub fn of_table(table: Table) -> Self {
        Self::with_computed(table, &[])
    }

    /// Fields stored in the records of a table, without those composed from other tables.
    pub(crate) fn stored(table: Table) -> Self {
        Self { record: table.fields(), computed: &[] }
    }

    pub fn of_all_tables() -> Self {
        static FIELDS: Lazy<Vec<Field>> = Lazy::new(|| {
            let mut fields: Vec<Field> = Vec::new();
            for field in Table::ALL.into_iter().flat_map(Table::fields) {
                if fields.iter().all(|known| known.name != field.name) {
                    fields.push(*field);
                }
            }
            fields
        });
        Self { record: &FIELDS, computed: &[] }
    }

    pub fn of_definition(definition: &'static Definition) -> Self {
        Self { record: definition.fields, computed: &[] }
    }

    pub fn with_computed(table: Table, computed: &'static [Field]) -> Self {
        Self { record: table.model().fields, computed }
    }

    pub fn of_list(resource: Resource) -> Self {
        let computed = match resource {
            Resource::Leaderboard => RankFields::DEFINITION.fields,
            Resource::CoInvestors => CoInvestorFields::DEFINITION.fields,
            Resource::Match => MatchFields::DEFINITION.fields,
            _ => &[],
        };
        Self::with_computed(resource.table(), computed)
    }

    pub fn find(self, name: &str) -> Option<&'static Field> {
        self.iter().find(|field| field.name == name)
    }

    pub fn iter(self) -> impl Iterator<Item = &'static Field> {
        self.record.iter().chain(self.computed)
    }

    /// All names, nested ones by their path (`score.value`), parents first.
    pub fn paths(self) -> Vec<String> {
        let paths = |field: &Field| [vec![field.name.to_owned()], nested_paths(field)].concat();
        self.iter().flat_map(paths).collect()
    }
}

pub(crate) fn nested_paths(field: &Field) -> Vec<String> {
    let mut paths = Vec::new();
    add_nested_paths(&mut paths, field.name, field);
    paths
}

fn add_nested_paths(paths: &mut Vec<String>, path: &str, field: &Field) {
    for nested in field.nested() {
        let path = format!("{path}.{}", nested.name);
        paths.push(path.clone());
        add_nested_paths(paths, &path, nested);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;
    use crate::bundled;
    use crate::json::{ComposedRecord, Fields};

    /// Adds the path of each key; panics at a key that has no definition.
    fn add_keys(value: &Value, fields: &[Field], path: &str, seen: &mut BTreeSet<String>) {
        match value {
            Value::Array(values) => values.iter().for_each(|value| add_keys(value, fields, path, seen)),
            Value::Object(object) => {
                for (key, value) in object {
                    let path = format!("{path}.{key}");
                    let field = fields.iter().find(|field| field.name == key);
                    let field = field.unwrap_or_else(|| panic!("{path} has no definition"));
                    add_keys(value, field.nested(), &path, seen);
                    seen.insert(path);
                }
            }
            _ => {}
        }
    }

    #[test]
    fn records_have_exactly_the_fields_of_their_definition() {
        let catalog = bundled().unwrap();
        for table in Table::ALL {
            let mut seen = BTreeSet::new();
            for row in 0..catalog.snapshot().rows(table) {
                let mut text = Vec::new();
                ComposedRecord::new(&catalog, table, row).write(&mut text, &Fields::All, true);
                add_keys(&serde_json::from_slice(&text).unwrap(), table.model().fields, table.name(), &mut seen);
            }
            let defined = FieldSet::of_table(table).paths().len();
            assert_eq!(seen.len(), defined, "{table:?} has fields that no record has: {seen:?}");
        }
    }
}
