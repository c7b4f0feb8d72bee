//! The columns of lists, and which of them an address chooses.

use search::nearest;

use data::parameter_error::{ParameterError, shortened};

/// The parameter that chooses columns: names, most important first, or `all`.
pub const COLUMNS: &str = "columns";

pub struct Column {
    /// Its name in [`COLUMNS`].
    pub name: &'static str,
    pub label: &'static str,
    /// What its values are, below the label; empty if the label says it.
    pub note: &'static str,
    /// The value of `sort` that the first click on its heading selects; empty if no order sorts by it.
    pub sort: &'static str,
    pub legend: Option<ColumnLegend>,
    /// Numbers, amounts and dates are aligned on the right.
    pub is_number: bool,
    /// 1 for the column that is shown first if there is little room.
    pub priority: usize,
}

/// A drawing below a label that explains those of the rows, and its words below the table.
type ColumnLegend = (fn() -> String, &'static str);

/// A column of numbers, amounts or dates.
pub const fn number(name: &'static str, label: &'static str, sort: &'static str, priority: usize) -> Column {
    Column { name, label, note: "", sort, legend: None, is_number: true, priority }
}

pub const fn words(name: &'static str, label: &'static str, priority: usize) -> Column {
    Column { name, label, note: "", sort: "", legend: None, is_number: false, priority }
}

impl Column {
    /// True if its values need no label on a phone: names and drawings with letters.
    pub fn is_plain(&self) -> bool {
        !self.is_number && self.sort.is_empty()
    }

    pub const fn with_note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    pub const fn with_legend(self, draw: fn() -> String, words: &'static str) -> Self {
        Self { legend: Some((draw, words)), ..self }
    }

    pub const fn sorted_by(self, sort: &'static str) -> Self {
        Self { sort, ..self }
    }
}

/// The columns that an address chooses; by default all, as far as they fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnChoice(Vec<&'static str>);

impl ColumnChoice {
    /// All columns, also those that do not fit.
    pub const ALL: &'static str = "all";

    /// The choice of a query, and an error for each name that is not a column.
    pub fn parse(given: &[(String, String)], columns: &'static [Column]) -> (Self, Vec<ParameterError>) {
        let (mut chosen, mut errors): (Vec<&str>, Vec<ParameterError>) = (Vec::new(), Vec::new());
        let values = given.iter().filter(|(name, _)| name == COLUMNS).flat_map(|(_, value)| value.split(','));
        for value in values.map(str::trim).filter(|value| !value.is_empty()) {
            let names = || columns.iter().map(|column| column.name).chain([Self::ALL]);
            match names().find(|name| name.eq_ignore_ascii_case(value)) {
                Some(name) if !chosen.contains(&name) => chosen.push(name),
                Some(_) => (),
                // One error suffices for a value that is no list of columns at all.
                None if errors.len() < columns.len() => {
                    let detail = format!(
                        "`{}` is not a column; `{COLUMNS}` takes {}",
                        shortened(value),
                        names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
                    );
                    let near = nearest(&value.to_lowercase(), names()).map(str::to_owned);
                    errors.push(ParameterError::unknown_value(COLUMNS, detail, near, Some(names().collect())));
                }
                None => (),
            }
        }
        if chosen.contains(&Self::ALL) {
            chosen = vec![Self::ALL];
        }
        (Self(chosen), errors)
    }

    /// The value of [`COLUMNS`]; empty for the default.
    pub fn text(&self) -> String {
        self.0.join(",")
    }

    pub fn is_all(&self) -> bool {
        self.0 == [Self::ALL]
    }

    /// True if the address names the column.
    pub fn names(&self, column: &str) -> bool {
        self.0.contains(&column)
    }

    /// True if the column may be shown.
    pub fn contains(&self, column: &str) -> bool {
        self.0.is_empty() || self.is_all() || self.names(column)
    }

    /// The order in which columns get room.
    pub fn rank(&self, column: &Column) -> usize {
        self.0.iter().position(|name| *name == column.name).unwrap_or(column.priority)
    }

    /// The columns with one before the others.
    pub fn with_first(&self, column: &'static str, columns: &'static [Column]) -> String {
        let mut others: Vec<&Column> =
            columns.iter().filter(|known| known.name != column && self.contains(known.name)).collect();
        others.sort_by_key(|known| self.rank(known));
        [column].into_iter().chain(others.into_iter().map(|known| known.name)).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Column] = &[words("stages", "Stages", 2), number("rounds", "Rounds", "-round_count", 1)];

    fn choice(values: &[&str]) -> (ColumnChoice, Vec<ParameterError>) {
        let given: Vec<_> = values.iter().map(|value| (COLUMNS.to_owned(), (*value).to_owned())).collect();
        ColumnChoice::parse(&given, KNOWN)
    }

    #[test]
    fn chosen_columns_are_those_of_the_address_in_its_order() {
        for (values, text) in [
            (vec![], ""),
            (vec!["", " , "], ""),
            (vec!["stages,rounds"], "stages,rounds"),
            (vec!["stages", "Rounds", "stages"], "stages,rounds"),
            (vec!["stages,all"], "all"),
        ] {
            let (chosen, errors) = choice(&values);
            assert_eq!((chosen.text().as_str(), errors.len()), (text, 0), "{values:?}");
        }
        let (default, chosen, all) = (choice(&[]).0, choice(&["stages"]).0, choice(&["all"]).0);
        assert!(default.contains("rounds") && !chosen.contains("rounds") && all.contains("rounds"));
        assert!(!default.names("rounds") && chosen.names("stages") && !all.names("stages"));
        assert_eq!(
            [default.with_first("stages", KNOWN), chosen.with_first("rounds", KNOWN)],
            ["stages,rounds", "rounds,stages"]
        );
    }

    #[test]
    fn an_unknown_column_is_reported_with_the_nearest_one_and_the_others_are_chosen() {
        let (chosen, errors) = choice(&["round,stages"]);
        assert_eq!(chosen.text(), "stages");
        let [error] = errors.as_slice() else { panic!("{errors:?}") };
        assert_eq!((error.parameter.as_str(), error.did_you_mean.as_deref()), (COLUMNS, Some("rounds")));
        assert!(error.detail.contains("`round` is not a column") && error.detail.contains("`all`"), "{}", error.detail);
        assert!(choice(&[&"x,".repeat(500)]).1.len() <= KNOWN.len());
    }
}
