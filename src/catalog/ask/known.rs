//! Phrases that require a property to be known or unknown: `without funding`, `undisclosed amounts`.

use crate::ask::path::Path;
use crate::ask::words::{Phrase, phrases_from};
use data::Table;

impl Path<'_, '_> {
    /// Reads `without funding`, `undisclosed amounts`, `with a website` as a known or unknown property.
    pub(super) fn known_field(&mut self, at: usize) -> Option<usize> {
        // The name of the field that the longest phrase states, and its length.
        let phrase_at = |at: usize| {
            let word = self.tokens.get(at)?.word.as_str();
            let fields = phrases_from("known fields", word).filter(|field| self.starts(at, &field.words));
            let own = fields.filter_map(|field| {
                Some((field.meaning.strip_prefix(self.table.name())?.strip_prefix(' ')?, field.words.len()))
            });
            own.max_by_key(|(_, length)| *length)
        };
        let field_at = |at: usize| phrase_at(at).filter(|(_, length)| *length == 1).map(|(name, _)| name);
        if let Some((name, length)) = phrase_at(at) {
            let from = at + length + usize::from(self.is_in(at + length, "forms of be"));
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
        // `without funding`: no round, rather than rounds of unknown amounts.
        if self.table == Table::Startups && matches!(*text, "with no" | "without" | "no") {
            let is_funds = known == Some("total_raised_usd") && self.tokens[field].word.starts_with("fund");
            let rounds = self.records_at(field).filter(|(table, _)| *table == Table::Rounds).map(|(_, length)| length);
            if let Some(length) = rounds.or((is_funds && !self.is_foreign).then_some(1)) {
                self.negate(at);
                return Some(self.no_rounds(field..field + length)? + field - at);
            }
        }
        let range = at..field + 1;
        if let Some(name) = known.filter(|_| is_known || !self.is_in(field + 1, "before others")) {
            return self.read_as(range, parameter, name, why);
        }
        // `without revenue in France`: the unknown part is not the place.
        let is_without = self.is_at(at, &["without"]) || self.starts(at, &["with", "no"]);
        let token = self.tokens.get(field).filter(|_| is_without)?;
        let is_value = self.has_meaning(field, 1) && (!token.is_glue() || self.is_country_us(field));
        // `without investments from Accel` excludes Accel.
        let is_relation = phrases_from("relations", &token.word).any(|relation| self.starts(field, &relation.words));
        let is_named = || token.is_capitalized() && self.name_at(field, &[Table::Firms, Table::Startups]).is_some();
        if is_value || is_relation || is_named() {
            return None;
        }
        let length = self.leave(range);
        // `with no deals in India`: India is not the place of the firm.
        if self.record_at(field) == Some(Table::Rounds) && self.table != Table::Rounds {
            self.deny(at);
        }
        length
    }
}
