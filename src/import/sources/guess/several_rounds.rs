//! Columns of rounds of which a row has several: its record is a startup, and no round.

use crate::sources::guess::header::{Meaning, words};
use crate::sources::guess::table::Column;
use crate::sources::guess::values::{self, most};
use crate::sources::mapping::list;
use crate::sources::money::MoneyCell;
use data::Stage;
use data::meaning::Meaning as _;

/// Columns of rounds that have lists of one length in the same rows, such as days and amounts: each row has several rounds.
pub(super) fn rounds_in_cells(columns: &[Column<'_>], places: &[Vec<usize>]) -> Vec<usize> {
    let is_value = |part: &str| values::is_date(part) || values::is_year(part) || MoneyCell::read(part).is_some();
    let parts = |text: &str| -> Vec<String> {
        let is_known = |part: &str| is_value(part) || Stage::meaning(part).is_some();
        let by_commas = || text.split(", ").map(str::to_owned).collect::<Vec<_>>();
        list::split_clear(text)
            .or_else(|| Some(by_commas()).filter(|parts| parts.iter().all(|part| is_known(part))))
            .unwrap_or_default()
    };
    let has = |column: &Column<'_>, nouns: &[&str]| nouns.iter().any(|noun| column.meaning.has(noun));
    // Stages may be those of a firm.
    let is_of_round =
        |column: &Column<'_>| has(column, &["amount", "date", "round"]) && !has(column, &["check", "aum"]);
    struct Lists {
        column: usize,
        /// Lengths of the lists by row.
        lengths: Vec<(usize, usize)>,
        is_of_round: bool,
        /// True if their parts are days or amounts.
        has_values: bool,
        /// True if they name several stages.
        has_stages: bool,
    }
    let read = |(index, places): (usize, &Vec<usize>)| {
        let column = columns.get(index)?;
        let is_of_round = is_of_round(column);
        if !is_of_round && !column.meaning.has("stage") && column.meaning.noun().is_some() {
            return None;
        }
        let lists = places.iter().zip(&column.texts).map(|(row, text)| (*row, parts(text)));
        let lists: Vec<(usize, Vec<String>)> = lists.filter(|(_, parts)| parts.len() > 1).collect();
        let all: Vec<&str> = lists.iter().flat_map(|(_, parts)| parts).map(String::as_str).collect();
        let is_stages = |(_, parts): &&(usize, Vec<String>)| {
            let stages: Vec<_> = parts.iter().filter_map(|part| Stage::meaning(part)).collect();
            stages.len() == parts.len() && stages.iter().any(|stage| *stage != stages[0])
        };
        (!lists.is_empty()).then(|| Lists {
            column: index,
            lengths: lists.iter().map(|(row, parts)| (*row, parts.len())).collect(),
            is_of_round,
            has_values: most(&all, is_value),
            has_stages: column.meaning.has("round") && lists.iter().filter(is_stages).count() >= 2,
        })
    };
    let lists: Vec<Lists> = places.iter().enumerate().filter_map(read).collect();
    let is_pair = |one: &Lists, other: &Lists| {
        one.column != other.column
            && one.lengths == other.lengths
            && (one.is_of_round || other.is_of_round)
            && (one.has_values || other.has_values)
    };
    let has_several = |one: &&Lists| one.has_stages || lists.iter().any(|other| is_pair(one, other));
    lists.iter().filter(has_several).map(|lists| lists.column).collect()
}

/// Columns of rounds of which a row has several, as their headers tell: `Date 1`, `Date 2`, or `Seed date`, `Series A date`. Only
/// amounts may be those of several investors.
pub(super) fn rounds_in_columns(columns: &[Column<'_>]) -> Vec<usize> {
    // What the header says besides the number or the stage of the round.
    let bare = |column: &Column<'_>| -> Option<String> {
        let words = words(column.header);
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        let rest: Vec<&str> = words.iter().filter(|word| !is_number(word)).map(String::as_str).collect();
        if rest.len() < words.len() && !rest.is_empty() {
            return Some(rest.join(" "));
        }
        let is_stage = |text: &str| Stage::meaning(text).is_some_and(|stage| stage != Stage::Other);
        let ends = (1..words.len()).rev();
        ends.into_iter().find_map(|end| {
            let [(begin, rest), (first, last)] = [words.split_at(end), words.split_at(words.len() - end)];
            let [begin, rest, first, last] = [begin, rest, first, last].map(|words| words.join(" "));
            is_stage(&begin).then_some(rest).or_else(|| is_stage(&last).then_some(first))
        })
    };
    let is_of_round =
        |column: &Column<'_>| matches!(Meaning::read(&bare(column).unwrap_or_default()).noun(), Some("date" | "round"));
    let named: Vec<(usize, String)> =
        columns.iter().enumerate().filter_map(|(index, column)| Some((index, bare(column)?))).collect();
    let count = |name: &String| named.iter().filter(|(_, other)| other == name).count();
    let has_rounds = named.iter().any(|(index, name)| count(name) > 1 && is_of_round(&columns[*index]));
    let is_part = |(index, name): &&(usize, String)| {
        has_rounds
            && count(name) > 1
            && matches!(Meaning::read(name).noun(), Some("date" | "round" | "stage" | "amount"))
            && columns.get(*index).is_some_and(|column| column.is_named)
    };
    named.iter().filter(is_part).map(|(index, _)| *index).collect()
}
