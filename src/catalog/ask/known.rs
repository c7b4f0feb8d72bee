//! Phrases that require a property to be known or unknown: `without funding`, `undisclosed amounts`.

use crate::ask::reader::{GLUE, QuestionReader, Topic};
use data::Table;

/// Words that state that a field is known or not, and its name in `known` and `unknown`.
const FIELDS: &[(Table, &[&str], &str)] = &[
    (Table::Firms, &["website", "websites", "homepage"], "website"),
    (Table::Startups, &["website", "websites", "homepage"], "website"),
    (Table::Startups, &["investor", "investors", "backer", "backers", "vc", "vcs"], "investor"),
    (Table::Startups, &["funding", "funds"], "total_raised_usd"),
    (Table::Rounds, &["amount", "amounts", "size", "sizes"], "amount_usd"),
    (Table::Rounds, &["investor", "investors"], "investor"),
    (Table::Rounds, &["date", "dates"], "announced_on"),
];

impl QuestionReader<'_> {
    /// Reads `without funding`, `undisclosed amounts`, `with a website` as a known or unknown property.
    pub(super) fn known_field(&mut self, at: usize) -> Option<usize> {
        const MARKERS: &[(&[&str], bool)] = &[
            (&["with", "no"], false),
            (&["without"], false),
            (&["no"], false),
            (&["with", "undisclosed"], false),
            (&["with", "unknown"], false),
            (&["undisclosed"], false),
            (&["unknown"], false),
            (&["with", "disclosed"], true),
            (&["with", "known"], true),
            (&["disclosed"], true),
            (&["with", "a"], true),
            (&["have", "a"], true),
            (&["has", "a"], true),
            (&["with"], true),
        ];
        // `amount not disclosed`, `website unknown`
        const BEHIND: &[&[&str]] = &[
            &["not", "disclosed"],
            &["not", "known"],
            &["not", "given"],
            &["wasnt", "disclosed"],
            &["undisclosed"],
            &["unknown"],
        ];
        let field_at =
            |at: usize| FIELDS.iter().find(|(table, words, _)| *table == self.table && self.is_at(at, words));
        if let Some((_, _, name)) = field_at(at) {
            let from = at + 1 + usize::from(self.is_at(at + 1, &["is", "are", "was", "were"]));
            if let Some(words) = BEHIND.iter().find(|words| self.starts(from, words)) {
                let range = at..from + words.len();
                self.add(range.clone(), "unknown", (*name).to_owned(), "is not known");
                return Some(range.len());
            }
        }
        let (words, is_known) = MARKERS.iter().find(|(words, _)| self.starts(at, words))?;
        let mut field = at + words.len();
        while !is_known && self.is_at(field, &["a", "an", "any", "known", "disclosed"]) {
            field += 1;
        }
        // `undisclosed series A rounds`
        let is_of_amount = self.table == Table::Rounds
            && self.is_at(field - 1, &["disclosed", "undisclosed"])
            && (field..field + 3).any(|at| self.record_at(at) == Some(Table::Rounds));
        let (parameter, why) = if *is_known { ("known", "is known") } else { ("unknown", "is not known") };
        if is_of_amount && field_at(field).is_none() {
            self.add(at..field, parameter, "amount_usd".to_owned(), why);
            return Some(field - at);
        }
        // `with websites`, but `with investors from Berlin`
        let is_plain = *words == ["with"];
        let known = field_at(field).filter(|(.., name)| !is_plain || *name == "website");
        // `with no funding since 2012` is a date.
        if let Some((.., "total_raised_usd")) = known.filter(|_| !is_known && self.is_date(field + 1)) {
            (self.topic, self.is_negated) = (Some(Topic::Raising), true);
            return Some(field + 1 - at);
        }
        let range = at..field + 1;
        if let Some((_, _, name)) = known.filter(|_| *is_known || !self.is_at(field + 1, &["from", "by", "of"])) {
            self.add(range.clone(), parameter, (*name).to_owned(), why);
            return Some(range.len());
        }
        // `without revenue in France`: the unknown part is not the place.
        let is_without = self.is_at(at, &["without"]) || self.starts(at, &["with", "no"]);
        let token = self.tokens.get(field).filter(|_| is_without)?;
        let is_value = self.has_meaning(field, 1) && !GLUE.contains(token.word.as_str());
        let tables = [Table::Firms, Table::Startups];
        if is_value || (token.is_capitalized() && self.name_at(field, &tables).is_some()) {
            return None;
        }
        self.leave(range)
    }
}
