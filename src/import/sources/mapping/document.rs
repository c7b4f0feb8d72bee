//! A TOML document with positions, so that each mistake in it is reported with line and column.

use std::cell::RefCell;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::sources::SourceError;
use data::import::diagnostics::{did_you_mean, quoted};
use search::nearest;

/// Line and column in a mapping, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineColumn {
    pub line: usize,
    pub column: usize,
}

pub(crate) type TomlNode<'a> = Spanned<DeValue<'a>>;

pub(crate) struct Document<'a> {
    /// Name of the file in messages.
    pub name: &'a str,
    text: &'a str,
    problems: RefCell<Vec<(LineColumn, String)>>,
}

impl<'a> Document<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str) -> Self {
        Self { name, text, problems: RefCell::default() }
    }

    pub(crate) fn parse(&self) -> Result<Spanned<DeTable<'a>>, SourceError> {
        DeTable::parse(self.text).map_err(|error| {
            let position = self.position(error.span().map_or(0, |span| span.start));
            SourceError::Problems(vec![self.message(position, error.message())])
        })
    }

    pub(crate) fn position(&self, at: usize) -> LineColumn {
        let before = &self.text[..at.min(self.text.len())];
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        LineColumn { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }

    pub(crate) fn position_of(&self, node: &TomlNode<'_>) -> LineColumn {
        self.position(node.span().start)
    }

    pub(crate) fn message(&self, position: LineColumn, problem: &str) -> String {
        format!("{}:{}:{}: {problem}", self.name, position.line, position.column)
    }

    /// Adds a problem. Reading goes on, so that all problems are reported.
    pub(crate) fn problem(&self, position: LineColumn, problem: impl Into<String>) {
        self.problems.borrow_mut().push((position, problem.into()));
    }

    /// Returns the problems in document order; `Ok` if there are none.
    pub(crate) fn finish(self) -> Result<(), SourceError> {
        let mut problems = self.problems.take();
        problems.sort_by_key(|(position, _)| (position.line, position.column));
        if problems.is_empty() {
            return Ok(());
        }
        let messages = problems.iter().map(|(position, problem)| self.message(*position, problem));
        Err(SourceError::Problems(messages.collect()))
    }

    /// Reports keys of a table that are not in `known`.
    pub(crate) fn check_keys(&self, table: &DeTable<'_>, known: &[&str]) {
        for key in table.keys().filter(|key| !known.contains(&&**key.get_ref())) {
            self.problem(self.position(key.span().start), unknown("key", key.get_ref(), known.iter().copied()));
        }
    }

    /// Reads a table. Reports keys that are not in `known`.
    pub(crate) fn table<'t>(&self, node: &'t TomlNode<'a>, known: &[&str]) -> Option<&'t DeTable<'a>> {
        self.any_table(node).inspect(|table| self.check_keys(table, known))
    }

    pub(crate) fn any_table<'t>(&self, node: &'t TomlNode<'a>) -> Option<&'t DeTable<'a>> {
        self.expect(node, node.get_ref().as_table(), "a table, such as `{ column = \"NAME\" }`")
    }

    /// Reports a node without a value of the expected type.
    fn expect<T>(&self, node: &TomlNode<'_>, value: Option<T>, expected: &str) -> Option<T> {
        if value.is_none() {
            let found = node.get_ref().type_str();
            self.problem(self.position_of(node), format!("is of type {found}; expected {expected}"));
        }
        value
    }

    pub(crate) fn text(&self, node: &TomlNode<'a>) -> Option<String> {
        self.expect(node, node.get_ref().as_str().map(str::to_owned), "a string in quotes")
    }

    /// Reads a text by `read`. Reports a text that cannot be read with a `problem`.
    pub(crate) fn word<T>(
        &self,
        node: &TomlNode<'a>,
        read: impl FnOnce(&str) -> Option<T>,
        problem: impl FnOnce(&str) -> String,
    ) -> Option<T> {
        let text = self.text(node)?;
        let word = read(&text);
        if word.is_none() {
            self.problem(self.position_of(node), problem(&text));
        }
        word
    }

    /// Reads one string, or an array of strings, with their positions.
    pub(crate) fn texts(&self, node: &TomlNode<'a>) -> Vec<(String, LineColumn)> {
        let nodes: Vec<&TomlNode<'a>> = match node.get_ref().as_array() {
            Some(array) => array.iter().collect(),
            None => vec![node],
        };
        nodes.into_iter().filter_map(|node| Some((self.text(node)?, self.position_of(node)))).collect()
    }

    pub(crate) fn plain_texts(&self, node: &TomlNode<'a>) -> Vec<String> {
        self.texts(node).into_iter().map(|(text, _)| text).collect()
    }

    pub(crate) fn truth(&self, node: &TomlNode<'a>) -> bool {
        self.expect(node, node.get_ref().as_bool(), "true or false without quotes").unwrap_or_default()
    }

    pub(crate) fn number(&self, node: &TomlNode<'a>) -> Option<u32> {
        let number = node.get_ref().as_integer().and_then(|number| number.as_str().parse().ok());
        self.expect(node, number, "a whole number without quotes, from 0")
    }
}

/// Problem with a name that is not one of `known`.
pub(crate) fn unknown<'k>(noun: &str, name: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let hint = did_you_mean(nearest(name, known.iter().copied()));
    let list = if known.len() > 40 { String::new() } else { format!(" (known: {})", known.join(", ")) };
    format!("unknown {noun} {}{hint}{list}", quoted(name))
}
