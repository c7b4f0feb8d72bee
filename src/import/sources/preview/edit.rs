//! Edits the text of a mapping: what a column means, how its texts are read, and how an input is read.
//! What an edit does not change stays as it was written: comments, order, and parts that only people edit.

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::sources::EntityKind;
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::mapping::read::{SECTION_KEYS, is_identified};
use crate::sources::preview::meaning::Meaning;
use crate::sources::preview::value::{
    ENDS, add, collapse, columns, is_same, keep_decor, keep_item_decor, only_column, put, remove, remove_key, set_step,
    texts,
};
use data::vocabulary::Vocabulary as _;

/// Reason why a mapping cannot be edited, for people.
pub type EditError = String;

pub struct MappingEdit {
    document: DocumentMut,
}

impl MappingEdit {
    pub fn parse(text: &str) -> Result<Self, EditError> {
        let document = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
        Ok(Self { document })
    }

    pub fn text(&self) -> String {
        self.document.to_string()
    }

    /// Gives a column of an input another meaning: `old` is removed, `new` added. A field with one value is taken from the
    /// column that had it; a list takes both. `suggested` is a line of a mapping for the new field, empty if there is none.
    pub fn set_meaning(
        &mut self,
        input: &str,
        column: &str,
        old: Option<&Meaning>,
        new: Option<&Meaning>,
        suggested: &str,
    ) -> Result<(), EditError> {
        if old == new {
            return Ok(());
        }
        if let Some(new) = new {
            let kept = old.filter(|old| old.form() == new.form()).and_then(|old| self.value(old)).cloned();
            let item = kept.map(|item| only_column(item, column)).or_else(|| read_line(suggested, new, column));
            self.add_column(input, column, new, item)?;
        }
        old.map_or(Ok(()), |old| self.remove_column(column, old))
    }

    /// The setting of a field, such as its currency; empty if it has none.
    pub fn setting(&self, meaning: &Meaning, setting: &str) -> String {
        let table = self.value(meaning).and_then(Item::as_table_like);
        let step = |name: &str| {
            let steps = table.and_then(|table| table.get("do")).map(texts).unwrap_or_default();
            steps
                .iter()
                .find_map(|step| step.strip_prefix(name)?.strip_prefix('(')?.strip_suffix(')').map(str::to_owned))
        };
        match setting {
            "split" => step("split").unwrap_or_default(),
            "end" => {
                let steps = table.and_then(|table| table.get("do")).map(texts).unwrap_or_default();
                steps.last().filter(|step| ENDS.contains(&step.as_str())).cloned().unwrap_or_default()
            }
            _ => table.and_then(|table| table.get(setting)).map(|item| texts(item).join(" | ")).unwrap_or_default(),
        }
    }

    /// Sets a setting of a field; an empty value removes it.
    pub fn set_setting(&mut self, meaning: &Meaning, setting: &str, value: &str) -> Result<(), EditError> {
        let value = value.trim();
        if !meaning.settings().contains(&setting) {
            return Err(format!("{setting:?} is not a setting of {}", meaning.label()));
        }
        if self.setting(meaning, setting) == value {
            return Ok(());
        }
        let missing = || format!("{} has no column now; load the page again", meaning.label());
        let item = self.value_mut(meaning).ok_or_else(missing)?;
        if !item.is_table_like() {
            let mut table = InlineTable::new();
            let mut columns = item.as_value().cloned().unwrap_or_else(|| Array::new().into());
            columns.decor_mut().clear();
            table.insert("column", columns);
            *item = Item::Value(keep_decor(item, table.into()));
        }
        let Some(table) = item.as_table_like_mut() else { return Err(missing()) };
        match setting {
            "split" | "end" => set_step(table, setting, value),
            _ if value.is_empty() => drop(table.remove(setting)),
            // The name of a column has no place for a code.
            "currency" if !is_code(value) && value != "written" => {
                let mut of = InlineTable::new();
                of.insert("column", value.into());
                put(table, setting, of.into());
            }
            "dates" => {
                let formats: Vec<&str> = value.split('|').map(str::trim).filter(|format| !format.is_empty()).collect();
                put(table, setting, formats.into_iter().collect::<Array>().into());
            }
            _ => put(table, setting, value.into()),
        }
        collapse(item);
        Ok(())
    }

    /// Values that all records of a section have in common, such as `country = { value = "DE" }`.
    pub fn constants(&self, section: &Meaning) -> Vec<(Meaning, String)> {
        let fields = self.section(section).into_iter().flat_map(|table| table.iter());
        let constant = |(field, item): (&str, &Item)| {
            let meaning = Meaning { field: field.to_owned(), ..section.clone() };
            let text = item.as_table_like()?.get("value")?.as_str()?.to_owned();
            (columns(item).is_empty() && meaning.may_be_constant()).then_some((meaning, text))
        };
        fields.filter_map(constant).collect()
    }

    /// Gives all records of a section this value, which no column has; an empty one removes it.
    pub fn set_constant(&mut self, meaning: &Meaning, value: &str) -> Result<(), EditError> {
        let value = value.trim();
        if !meaning.may_be_constant() {
            return Err(format!("{} differs from record to record: choose its column", meaning.label()));
        }
        let section = self.section_mut(meaning).ok_or("the mapping has no such section; load the page again")?;
        if let Some(column) = section.get(&meaning.field).and_then(|known| columns(known).into_iter().next()) {
            return Err(format!("{} is read from {column}: choose `not used` there first", meaning.label()));
        }
        if value.is_empty() {
            remove_key(section, &meaning.field);
            return Ok(());
        }
        let mut item = default_item(meaning, "");
        if !item.is_table_like() {
            item = Item::Value(InlineTable::new().into());
        }
        if let Some(table) = item.as_inline_table_mut() {
            table.remove("column");
            table.insert("value", value.into());
        }
        match section.get_mut(&meaning.field) {
            Some(known) => *known = keep_item_decor(known, item),
            None => drop(section.insert(&meaning.field, item)),
        }
        Ok(())
    }

    /// A setting of an input, of the source, or of the mapping itself, whose path is empty.
    pub fn table_setting(&self, path: &[&str], key: &str) -> String {
        let table = path.iter().try_fold(self.document.as_item(), |item, name| item.get(name));
        match table.and_then(|table| table.get(key)) {
            Some(Item::Value(Value::Integer(number))) => number.value().to_string(),
            Some(item) => texts(item).join(", "),
            None => String::new(),
        }
    }

    pub fn set_table_setting(&mut self, path: &[&str], key: &str, value: &str) -> Result<(), EditError> {
        let item = path.iter().try_fold(self.document.as_item_mut(), |item, name| item.get_mut(name));
        let Some(table) = item.and_then(Item::as_table_like_mut) else {
            return Err(format!("the mapping has no [{}]", path.join(".")));
        };
        if value.is_empty() {
            // A comment above a setting goes on with what follows.
            remove_key(table, key);
        } else if let Some(number) = value.parse::<i64>().ok().filter(|_| COUNTS.contains(&key)) {
            put(table, key, number.into());
        } else if LISTS.contains(&key) {
            let texts = value.split(',').map(str::trim).filter(|text| !text.is_empty());
            put(table, key, texts.collect::<Array>().into());
        } else {
            put(table, key, value.into());
        }
        Ok(())
    }

    /// Makes records of another kind of the rows of a section, or none. Fields that the other kind lacks are removed.
    pub fn set_kind(&mut self, section: &Meaning, kind: Option<EntityKind>) -> Result<(), EditError> {
        let old = section.kind.name();
        if kind == Some(section.kind) {
            return Ok(());
        }
        let taken = match self.document.get_mut(old) {
            Some(Item::ArrayOfTables(sections)) if section.section < sections.len() => {
                let taken = sections.get(section.section).cloned();
                sections.remove(section.section);
                taken
            }
            Some(Item::Table(table)) if section.section == 0 => Some(std::mem::take(table)),
            _ => None,
        };
        let Some(mut table) = taken else {
            return Err("the mapping has no such section; load the page again".to_owned());
        };
        if self.document.get(old).is_some_and(|item| item.as_array_of_tables().is_none_or(ArrayOfTables::is_empty)) {
            self.document.remove(old);
        }
        let Some(kind) = kind else { return Ok(()) };
        for (from, to) in [("name", "startup"), ("startup", "name"), ("stage", "stages"), ("stages", "stage")] {
            let known = |name| SourceField::named(kind, name).is_some();
            if known(from) || !known(to) || table.contains_key(to) {
                continue;
            }
            if let Some(item) = table.remove(from)
                && let Some(column) = columns(&item).first()
            {
                let meaning = Meaning { kind, section: 0, field: to.to_owned() };
                table.insert(to, if meaning.is_list() { item } else { default_item(&meaning, column) });
            }
        }
        if [section.kind, kind].contains(&EntityKind::Round) {
            // A firm has one row, a startup as many rounds as it has rows.
            if table.get("key").is_some_and(is_made) {
                remove_key(&mut table, "key");
            }
            let parts = IDENTIFYING.iter().filter_map(|field| table.get(field)).flat_map(columns).collect::<Vec<_>>();
            if kind == EntityKind::Round && !table.contains_key("key") && !parts.is_empty() {
                table.insert("key", Item::Value(round_key(parts.iter().map(String::as_str))));
            }
        }
        let is_kept = |key: &str| match key {
            "id" => is_identified(kind),
            _ => SECTION_KEYS.contains(&key) || SourceField::of_section(kind, key).is_some(),
        };
        let lost: Vec<String> = table.iter().map(|(key, _)| key.to_owned()).filter(|key| !is_kept(key)).collect();
        lost.iter().for_each(|key| remove_key(&mut table, key));
        let entry = self.document.entry(kind.name()).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
        let sections = entry.as_array_of_tables_mut();
        let problem = || format!("write [{kind}] as [[{kind}]], so that there can be several");
        sections.ok_or_else(problem)?.push(table);
        Ok(())
    }

    fn section(&self, meaning: &Meaning) -> Option<&dyn TableLike> {
        match self.document.get(meaning.kind.name())? {
            Item::ArrayOfTables(tables) => tables.get(meaning.section).map(|table| table as &dyn TableLike),
            Item::Table(table) if meaning.section == 0 => Some(table),
            _ => None,
        }
    }

    fn section_mut(&mut self, meaning: &Meaning) -> Option<&mut dyn TableLike> {
        match self.document.get_mut(meaning.kind.name())? {
            Item::ArrayOfTables(tables) => tables.get_mut(meaning.section).map(|table| table as &mut dyn TableLike),
            Item::Table(table) if meaning.section == 0 => Some(table),
            _ => None,
        }
    }

    fn value(&self, meaning: &Meaning) -> Option<&Item> {
        let section = self.section(meaning)?;
        match meaning.scheme() {
            Some(scheme) => section.get("id")?.as_table_like()?.get(scheme),
            None => section.get(&meaning.field),
        }
    }

    fn value_mut(&mut self, meaning: &Meaning) -> Option<&mut Item> {
        let section = self.section_mut(meaning)?;
        match meaning.scheme() {
            Some(scheme) => section.get_mut("id")?.as_table_like_mut()?.get_mut(scheme),
            None => section.get_mut(&meaning.field),
        }
    }

    fn add_column(&mut self, input: &str, column: &str, new: &Meaning, item: Option<Item>) -> Result<(), EditError> {
        let kind = new.kind.name();
        if self.section(new).is_none() {
            let mut section = Table::new();
            section.insert("from", Item::Value(input.into()));
            section.decor_mut().set_prefix("\n");
            let entry = self.document.entry(kind).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
            let Some(sections) = entry.as_array_of_tables_mut() else {
                return Err(format!("write [{kind}] as [[{kind}]], so that there can be several"));
            };
            sections.push(section);
        }
        let Some(section) = self.section_mut(new) else {
            return Err(format!("the mapping has no such section [[{kind}]]; load the page again"));
        };
        let fields = match new.scheme() {
            None => section,
            Some(_) => {
                let dotted = || {
                    let mut table = Table::new();
                    table.set_dotted(true);
                    Item::Table(table)
                };
                let identifiers = section.entry("id").or_insert_with(dotted);
                identifiers.as_table_like_mut().ok_or("write `id` as `id.SCHEME = \"COLUMN\"`")?
            }
        };
        let key = new.scheme().unwrap_or(&new.field);
        let before = fields.get(key).map(columns).unwrap_or_default();
        match fields.get_mut(key) {
            Some(known) if new.is_list() => add(known, column),
            Some(known) => *known = keep_item_decor(known, item.unwrap_or_else(|| default_item(new, column))),
            None => drop(fields.insert(key, item.unwrap_or_else(|| default_item(new, column)))),
        }
        let replaced = if new.is_list() { Vec::new() } else { before };
        self.follow(new, &replaced, Some(column));
        Ok(())
    }

    fn remove_column(&mut self, column: &str, old: &Meaning) -> Result<(), EditError> {
        let Some(item) = self.value_mut(old) else { return Ok(()) };
        if remove(item, column) {
            let Some(section) = self.section_mut(old) else { return Ok(()) };
            match old.scheme() {
                None => remove_key(section, &old.field),
                Some(scheme) => {
                    if let Some(identifiers) = section.get_mut("id").and_then(Item::as_table_like_mut) {
                        remove_key(identifiers, scheme);
                        if identifiers.is_empty() {
                            section.remove("id");
                        }
                    }
                }
            }
        }
        self.follow(old, &[column.to_owned()], None);
        let is_empty = |section: &dyn TableLike| section.iter().all(|(key, _)| key == "from");
        if self.section(old).is_some_and(is_empty) {
            let kind = old.kind.name();
            match self.document.get_mut(kind) {
                Some(Item::ArrayOfTables(sections)) if sections.len() > 1 => drop(sections.remove(old.section)),
                _ => drop(self.document.remove(kind)),
            }
        }
        Ok(())
    }

    /// Changes the key with a field that makes it: a key by name with the name, a key of several columns with those of a
    /// round.
    fn follow(&mut self, meaning: &Meaning, replaced: &[String], column: Option<&str>) {
        let is_part = match meaning.kind {
            EntityKind::Round => IDENTIFYING.contains(&meaning.field.as_str()),
            _ => meaning.field == "name",
        };
        let Some(section) = self.section_mut(meaning).filter(|_| is_part) else { return };
        let is_round = meaning.kind == EntityKind::Round;
        let Some(key) = section.get_mut("key") else {
            if let Some(column) = column.filter(|_| is_round) {
                section.insert("key", Item::Value(round_key([column].into_iter())));
            }
            return;
        };
        if !is_made(key) {
            return;
        }
        let had = columns(key);
        let goes = |known: &String| replaced.iter().any(|replaced| is_same(known, replaced));
        if let Some(column) = column.filter(|_| is_round || had.iter().any(goes))
            && !had.iter().any(|known| is_same(known, column))
        {
            add(key, column);
        }
        let gone = had.iter().filter(|known| goes(known)).filter(|known| column.is_none_or(|new| !is_same(known, new)));
        let mut is_empty = false;
        for gone in gone {
            is_empty |= remove(key, gone);
        }
        if is_empty {
            remove_key(section, "key");
        }
    }
}

/// Fields that identify a round without an id.
const IDENTIFYING: [&str; 3] = ["startup", "announced_on", "stage"];

fn round_key<'c>(columns: impl Iterator<Item = &'c str>) -> Value {
    let mut key = InlineTable::new();
    key.insert("columns", columns.collect::<Array>().into());
    key.insert("by", "name".into());
    key.into()
}

/// True if a key has this setting, as one that was made of other fields.
fn is_made(key: &Item) -> bool {
    key.is_table_like() && key.get("by").is_some_and(|item| texts(item) == ["name"])
}

/// Settings of inputs that are numbers.
const COUNTS: [&str; 1] = ["skip"];

/// Settings of inputs that are lists, written with commas.
const LISTS: [&str; 1] = ["none"];

pub(crate) fn is_code(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// Reads the value of a suggested line of this field and column.
fn read_line(line: &str, meaning: &Meaning, column: &str) -> Option<Item> {
    let document: DocumentMut = line.parse().ok()?;
    let item = match meaning.scheme() {
        Some(scheme) => document.get("id")?.get(scheme)?,
        None => document.get(&meaning.field)?,
    };
    let is_own = matches!(&*columns(item), [only] if is_same(only, column));
    // A vocabulary of the mapping may not have been written.
    (is_own && item.get("map").is_none()).then(|| item.clone())
}

/// Value for a field of which nothing is known but the column.
fn default_item(meaning: &Meaning, column: &str) -> Item {
    let FieldForm::Reference(kinds) = meaning.form() else { return Item::Value(column.into()) };
    let mut table = InlineTable::new();
    table.insert("column", column.into());
    if let [first, _, ..] = kinds {
        table.insert("kind", first.name().into());
    }
    table.insert("by", "name".into());
    table.insert("create", true.into());
    Item::Value(table.into())
}
