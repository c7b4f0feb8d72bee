//! Phrases that require a property to be known or unknown: `without funding`, `undisclosed amounts`.

use crate::ask::path::Path;
use crate::ask::question::Topic;
use crate::ask::words::{Phrase, phrases_from};
use data::Table;

impl Path<'_, '_> {
    /// Reads `without funding`, `undisclosed amounts`, `with a website` as a known or unknown property.
    pub(super) fn known_field(&mut self, at: usize) -> Option<usize> {
        // The name of the field that a word states.
        let field_at = |at: usize| {
            let word = self.tokens.get(at)?.word.as_str();
            let mut fields = phrases_from("known fields", word).filter(|field| field.text == word);
            fields.find_map(|field| field.meaning.strip_prefix(self.table.name())?.strip_prefix(' '))
        };
        if let Some(name) = field_at(at) {
            let from = at + 1 + usize::from(self.is_in(at + 1, "forms of be"));
            if let Some(behind) = self.find_phrase(from, "unknown") {
                return self.read_as(at..from + behind.words.len(), "unknown", name, "is not known");
            }
        }
        let Phrase { text, words, meaning: parameter } = self.find_phrase(at, "known")?;
        let is_known = *parameter == "known";
        // `with no more than 3 rounds`
        if self.is_in(at + words.len(), "comparatives") {
            return None;
        }
        let mut field = at + words.len();
        while !is_known && self.is_in(field, "before known fields") {
            field += 1;
        }
        // `undisclosed series A rounds`
        let is_of_amount = self.table == Table::Rounds
            && self.is_in(field - 1, "disclosed")
            && (field..field + 3).any(|at| self.record_at(at) == Some(Table::Rounds));
        let why = if is_known { "is known" } else { "is not known" };
        if is_of_amount && field_at(field).is_none() {
            return self.read_as(at..field, parameter, "amount_usd", why);
        }
        // `with websites`, but `with investors from Berlin`
        let known = field_at(field).filter(|name| *text != "with" || *name == "website");
        // `with no funding since 2012` is a date.
        if known == Some("total_raised_usd") && !is_known && self.is_date(field + 1) {
            self.topic = Some(Topic::Raising);
            self.negate(at);
            return Some(field + 1 - at);
        }
        let range = at..field + 1;
        if let Some(name) = known.filter(|_| is_known || !self.is_in(field + 1, "before others")) {
            return self.read_as(range, parameter, name, why);
        }
        // `without revenue in France`: the unknown part is not the place.
        let is_without = self.is_at(at, &["without"]) || self.starts(at, &["with", "no"]);
        let token = self.tokens.get(field).filter(|_| is_without)?;
        let is_value = self.has_meaning(field, 1) && !token.is_glue();
        if is_value || (token.is_capitalized() && self.name_at(field, &[Table::Firms, Table::Startups]).is_some()) {
            return None;
        }
        self.leave(range)
    }
}
