//! Values of a mapping as they are written: a column, several, or a table with settings.

use toml_edit::{Array, Item, TableLike, Value};

use crate::sources::input::column_name;

/// Last steps that choose an end of a range.
pub(super) const ENDS: [&str; 2] = ["min", "max"];

pub(super) fn is_same(left: &str, right: &str) -> bool {
    column_name(left) == column_name(right)
}

/// The text, or all texts of an array; of a table its columns.
pub(super) fn texts(item: &Item) -> Vec<String> {
    match item {
        Item::Value(Value::Array(array)) => array.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Item::Value(Value::String(text)) => vec![text.value().clone()],
        Item::Value(Value::Boolean(truth)) => vec![truth.value().to_string()],
        other => other.as_table_like().map(columns_of_table).unwrap_or_default(),
    }
}

fn columns_of_table(table: &dyn TableLike) -> Vec<String> {
    ["column", "columns"].into_iter().filter_map(|key| table.get(key)).flat_map(texts).collect()
}

/// Columns of a value.
pub(super) fn columns(item: &Item) -> Vec<String> {
    texts(item)
}

/// The item with the columns of a value, which is the value itself or in its table.
fn columns_item(item: &mut Item) -> Option<&mut Item> {
    if !item.is_table_like() {
        return Some(item);
    }
    let table = item.as_table_like_mut()?;
    let key = if table.contains_key("columns") { "columns" } else { "column" };
    table.get_mut(key)
}

pub(super) fn add(item: &mut Item, column: &str) {
    let Some(item) = columns_item(item) else { return };
    match item {
        Item::Value(Value::Array(array)) => array.push(column),
        Item::Value(known) => {
            let both = [known.as_str().unwrap_or_default(), column].into_iter().collect::<Array>();
            *item = Item::Value(keep_decor(item, both.into()));
        }
        _ => {}
    }
}

/// Removes a column from a value; true if no column is left, and the value has no constant instead.
pub(super) fn remove(item: &mut Item, column: &str) -> bool {
    let has_constant = item.get("value").is_some() && item.is_table_like();
    let Some(columns) = columns_item(item) else { return !has_constant };
    match columns {
        Item::Value(Value::Array(array)) => {
            array.retain(|known| known.as_str().is_none_or(|known| !is_same(known, column)));
            if let Some(first) = array.get_mut(0)
                && first.decor().prefix().and_then(|prefix| prefix.as_str()) == Some(" ")
            {
                first.decor_mut().set_prefix("");
            }
            let count = array.len();
            if let (1, Some(only)) = (count, array.get(0).and_then(Value::as_str).map(str::to_owned)) {
                *columns = Item::Value(keep_decor(columns, only.into()));
            }
            if count > 0 {
                return false;
            }
        }
        Item::Value(Value::String(known)) if !is_same(known.value(), column) => return false,
        _ => {}
    }
    if has_constant && let Some(table) = item.as_table_like_mut() {
        table.remove("column");
        table.remove("columns");
    }
    !has_constant
}

/// A value with this column in place of its own.
pub(super) fn only_column(mut item: Item, column: &str) -> Item {
    if let Some(columns) = columns_item(&mut item) {
        *columns = Item::Value(keep_decor(columns, column.into()));
    }
    item
}

pub(super) fn keep_decor(old: &Item, mut new: Value) -> Value {
    if let Some(old) = old.as_value() {
        *new.decor_mut() = old.decor().clone();
    }
    new
}

pub(super) fn keep_item_decor(old: &Item, new: Item) -> Item {
    match new {
        Item::Value(value) => Item::Value(keep_decor(old, value)),
        other => other,
    }
}

pub(super) fn put(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(keep_decor(item, value)),
        None => drop(table.insert(key, Item::Value(value))),
    }
}

/// Sets or removes the step `split(…)`, or the last one that chooses an end of a range.
pub(super) fn set_step(table: &mut dyn TableLike, setting: &str, value: &str) {
    let mut steps = table.get("do").map(texts).unwrap_or_default();
    if setting == "split" {
        let at = steps.iter().position(|step| step.starts_with("split("));
        at.map(|at| steps.remove(at));
        if !value.is_empty() {
            steps.insert(at.unwrap_or(0), format!("split({value})"));
        }
    } else {
        steps.retain(|step| !ENDS.contains(&step.as_str()));
        steps.extend(ENDS.contains(&value).then(|| value.to_owned()));
    }
    match steps.is_empty() {
        true => drop(table.remove("do")),
        false => put(table, "do", steps.iter().map(String::as_str).collect::<Array>().into()),
    }
}

/// Writes a table with nothing but its columns as these.
pub(super) fn collapse(item: &mut Item) {
    let is_plain = item.as_inline_table().is_some_and(|table| table.len() == 1);
    if is_plain && let Some(columns) = item.get("column").and_then(Item::as_value).cloned() {
        *item = Item::Value(keep_decor(item, columns));
    }
}

/// Removes a key. Comments above it stay, above the next key or below the one before.
pub(super) fn remove_key(table: &mut dyn TableLike, key: &str) {
    let comment = table.key(key).and_then(|key| key.leaf_decor().prefix()?.as_str().map(str::to_owned));
    let keys: Vec<String> = table.iter().map(|(name, _)| name.to_owned()).collect();
    table.remove(key);
    let Some(comment) = comment.filter(|comment| comment.contains('#')) else { return };
    let Some(at) = keys.iter().position(|known| known == key) else { return };
    if let Some(mut next) = keys.get(at + 1).and_then(|next| table.key_mut(next)) {
        let own = next.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
        next.leaf_decor_mut().set_prefix(format!("{comment}{own}"));
    } else if let Some(before) = at.checked_sub(1).and_then(|at| table.get_mut(&keys[at])).and_then(Item::as_value_mut)
    {
        let own = before.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default().to_owned();
        before.decor_mut().set_suffix(format!("{own}\n{}", comment.trim_end()));
    }
}
