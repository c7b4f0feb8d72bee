//! Mapping lines for locations and amounts of money, which are guessed from the whole column.

use crate::sources::guess::columns::words;
use crate::sources::guess::quote;
use crate::sources::location::{self, Codes};
use crate::sources::money::{self, AmountForm, MoneyCell, Notation};

/// True if the country of most values can be read, as in `Paris, France`.
pub(super) fn are_locations(values: &[&str]) -> bool {
    let [mut known, mut seen] = [Codes::default(), Codes::default()];
    values.iter().for_each(|value| drop(location::read_country("", value, &known, &mut seen)));
    std::mem::swap(&mut known, &mut seen);
    let is_read = |value: &&&str| value.contains(',') && location::read_country("", value, &known, &mut seen).is_ok();
    values.is_empty() || values.iter().filter(is_read).count() * 10 >= values.len() * 6
}

pub(super) fn country_line(header: &str) -> String {
    format!("country = {{ column = {header}, do = [\"split(,)\", \"last\"], unknown = \"drop\" }}")
}

/// Mapping line for a field with amounts of money. `Err` has a remark if the values do not decide how to read them.
pub(super) fn amount_line(
    header: &str,
    field: &str,
    values: &[&str],
    table: &dyn Fn(&str) -> String,
) -> Result<String, String> {
    let cells: Vec<MoneyCell> = values.iter().filter_map(|value| MoneyCell::read(value)).collect();
    if cells.len() * 10 < values.len() * 6 {
        return Err("its values are not amounts of money".to_owned());
    }
    let step = match (cells.iter().any(|cell| matches!(cell, MoneyCell::Range(..))), field) {
        (true, "check_max_usd") => ", do = [\"max\"]",
        (true, _) => ", do = [\"min\"]",
        _ => "",
    };
    let line = |more: &str| table(&format!("{step}, currency = \"USD\"{more}"));
    let unit = money::unit_of_header(header).map(|(_, unit)| unit);
    let unit_text = match unit.map(money::name_of_unit) {
        None => String::new(),
        Some(Some(name)) => format!(", unit = {}", quote(name)),
        Some(None) => return Err("the unit of its header is written in no cell".to_owned()),
    };
    let form = AmountForm { unit, ..AmountForm::default() };
    let mut notation = Notation::default();
    cells.iter().for_each(|cell| notation.add(cell, &form));
    if notation.is_undecided() {
        let line = line(&format!("{unit_text}, decimal = \".\""));
        return Err(format!("its values have a decimal point or comma, or groups of digits; say which: {line}"));
    }
    if notation.lacks_unit {
        let line = line(", unit = \"million\"");
        return Err(format!("its values are too small without a unit; if they are millions: {line}"));
    }
    let is_usd = words(header).iter().any(|word| word == "usd") || values.iter().any(|value| value.contains("US$"));
    let is_dollar = header.contains('$') || values.iter().any(|value| value.contains('$'));
    match (is_usd, is_dollar) {
        (true, _) => Ok(line(&unit_text)),
        (false, true) => Ok(format!("{}  # dollars of the United States?", line(&unit_text))),
        (false, false) => Err(format!("an amount without a currency; if it is US dollars: {}", line(&unit_text))),
    }
}
