//! Places in questions: states and their cities, and the records that a place belongs to.

use std::ops::Range;
use std::rc::Rc;

use foldhash::HashMap;
use once_cell::sync::Lazy;

use crate::ask::lexicon::PhraseMeaning;
use crate::ask::path::Path;
use crate::ask::question::records_meant;
use crate::ask::token::QuestionToken;
use crate::ask::{GROUP_BY, ReadPart};
use data::fold::fold;
use data::{Country, Facet, Table, city, word_file};

/// The countries of cities that share their English names with others.
pub(super) static COUNTRIES: Lazy<HashMap<&str, &str>> = Lazy::new(|| {
    let lines = word_file::entries(include_str!("exonyms.txt")).filter_map(|line| line.split_once(": "));
    lines.flat_map(|(country, cities)| cities.split(", ").map(move |city| (city, country))).collect()
});

impl Path<'_, '_> {
    /// Reads a city with its state: `Atlanta, Georgia`, `Austin, TX`.
    pub(super) fn city_of_state(&mut self, at: usize) -> Option<usize> {
        self.resource.parameter("city")?;
        // In capitals `OR` and `IN` are also words.
        let is_upper = |token: &QuestionToken| token.raw.to_uppercase() == token.raw;
        let has_codes = self.text.chars().any(char::is_lowercase);
        let state_at = |at: usize| {
            // In lower case some are also words.
            let is_code = |token: &&QuestionToken| {
                token.raw.len() == 2 && if is_upper(token) { has_codes } else { !token.is_in("no states") }
            };
            let code = self.tokens.get(at).filter(is_code);
            code.and_then(|code| city::state(city::us_state_of_code(&code.word)?)).map(|state| (state, 1)).or_else(
                || (1..=3).rev().find_map(|length| Some((city::state_of_city(&self.phrase_at(at, length)?)?, length))),
            )
        };
        let (city, country, length) = (1..=3).rev().find_map(|length| {
            let city = self.phrase_at(at, length)?;
            let (state, more) = state_at(at + length)?;
            let is_of_state = state.cities.contains(&city.as_str());
            // Cities in several states may share the name. `CA` and `DE` are also countries.
            let code = &self.tokens[at + length];
            let is_other = self.tokens[at].is_capitalized()
                && (self.tokens[at + length - 1].ends_clause || (code.raw.len() == 2 && is_upper(code)))
                && Country::from_alpha2(&code.raw).is_none()
                && self.catalog.snapshot().find_term(Facet::City, &city).is_some();
            (is_of_state || is_other).then_some((city, state.country, length + more))
        })?;
        let range = at..at + length;
        self.add_country(range.clone(), country);
        self.read_as(range, "city", city, "city of the state")
    }

    /// Adds records that have the city as it is written, and its country if the list has its namesakes: `Roma` is Rome and
    /// Roma, `Wien` is not Vienna in Virginia.
    pub(super) fn tell_namesakes_apart(&mut self) {
        for place in 0..self.parts.len() {
            let (range, part) = self.parts[place].clone();
            let city = part.value.split(',').next().unwrap_or_default();
            let written = fold(&self.written(&range));
            if !part.parameter.ends_with("city") || written == city || self.misspelling(&range).is_some() {
                continue;
            }
            let is_name = city::names_of(city).contains(&written.as_str()) && !part.value.contains(&written);
            if is_name && self.catalog.snapshot().find_term(Facet::City, &written).is_some() {
                let part = Rc::make_mut(&mut self.parts[place].1);
                part.value = format!("{},{written}", part.value);
            }
            let Some(country) = COUNTRIES.get(city).filter(|_| part.parameter == "city") else { continue };
            let elsewhere = [("city", part.value.as_str()), ("not_country", country)];
            if self.lists_any(elsewhere.map(|(name, value)| (name.to_owned(), value.to_owned())).into()) {
                self.add_country(range, country);
            }
        }
    }

    /// Adds the country of a place, unless the question names or excludes one.
    fn add_country(&mut self, range: Range<usize>, country: &str) {
        if !self.is_negated() && !self.parts.iter().any(|(_, part)| part.parameter == "country") {
            self.add(range, "country", country, "country of the place");
        }
    }

    /// Reads a state or province. After one of its cities, the city is meant: `Austin, Texas`.
    pub(super) fn state(&mut self, at: usize) -> Option<usize> {
        let (length, meanings) = self.longest_meaning(at)?;
        let (country, cities, why) = meanings.iter().find_map(|meaning| match meaning {
            PhraseMeaning::State { country, names } => {
                Some((*country, names, "cities of the state, as far as no other state has one of the name"))
            }
            PhraseMeaning::Area(cities) => Some(("US", cities, "cities of the area")),
            _ => None,
        })?;
        let range = at..at + length;
        // `Georgia` is a country, `Georgia, USA` is not.
        let is_country = meanings.iter().any(|meaning| matches!(meaning, PhraseMeaning::Country(_)));
        if self.is_of_investors(at) {
            return self.leave(range);
        }
        if (is_country && !self.is_in(range.end, "usa"))
            || self.is_of_others(range.end)
            || self.resource.parameter("city").is_none()
        {
            return None;
        }
        self.add_country(range.clone(), country);
        // Without its country, it may be a city of the same name.
        let is_of_country = |part: &ReadPart| part.parameter == "country" && part.value == country;
        if !self.parts.iter().any(|(_, part)| is_of_country(part)) {
            self.sign = None;
            return self.leave(range);
        }
        if !self.parts.iter().any(|(other, part)| other.end == at && part.parameter == "city") {
            self.add(range, "city", cities, why);
        }
        Some(length)
    }

    /// True if a word states who founded or runs startups, which is not known: `founded by women`.
    pub(super) fn is_doer(&self, at: usize) -> bool {
        self.is_after(at, &["by"]) && self.follows(at - 1, "done by")
    }

    /// True if a nationality describes people or a product, not the place of a startup.
    pub(super) fn is_of_people(&self, range: &Range<usize>) -> bool {
        let is_market = self.is_in(range.end, "market")
            && range.start > 1
            && (self.starts(range.start - 2, &["to", "the"]) || self.starts(range.start - 2, &["for", "the"]));
        self.table != Table::People && (self.is_in(range.end, "of people") || self.is_doer(range.start) || is_market)
    }

    /// True if a place belongs to other records than those of the list: `VCs that invest in German startups`.
    pub(super) fn is_of_others(&self, at: usize) -> bool {
        let other = if self.table == Table::Firms { Table::Startups } else { Table::Firms };
        // Other languages write the adjective behind the noun: `startups brasileiras`.
        if self.table == Table::Firms && self.is_foreign && at > 1 && self.record_at(at - 2) == Some(Table::Startups) {
            return true;
        }
        for length in 0..3 {
            let Some(token) = self.tokens.get(at + length) else { return false };
            if let Some(table) = records_meant(&token.word) {
                return table == other;
            }
            // `investors in Spain back mobile startups`
            if self.tokens[at + length - 1].ends_clause || token.is_glue() || self.topic_of(token).is_some() {
                return false;
            }
        }
        false
    }

    /// True if a place belongs to the investors of startups or rounds (`VCs in London`), to the startups of investors, or is
    /// where firms of another place invest (`VCs in Germany investing in the US`).
    pub(super) fn is_of_investors(&self, at: usize) -> bool {
        let article = usize::from(self.is_after(at, &["the"]));
        let Some(before) = at.checked_sub(article + 1).filter(|before| self.is_in(*before, "in or from")) else {
            return false;
        };
        let based = usize::from(self.follows(before, "based"));
        let Some(mut noun) = before.checked_sub(based + 1) else { return false };
        // `without investors in Berlin`, `with more than 10 portfolio companies in Berlin`
        let is_counted = |part: &ReadPart| part.parameter == "unknown" || part.parameter.starts_with("min_");
        if self.parts.iter().any(|(range, part)| (range.start..=range.end).contains(&noun) && is_counted(part)) {
            return false;
        }
        // `companies in healthcare in London`
        if let Some((range, part)) = self.parts.last()
            && (range.end, part.parameter.as_str()) == (noun + 1, "sector")
            && range.start > 1
            && self.is_in(range.start - 1, "in or from")
        {
            noun = range.start - 2;
        }
        if self.table == Table::Firms {
            let has_place = self.parts.iter().any(|(_, part)| matches!(part.parameter.as_str(), "country" | "city"));
            // `investors that backed startups in Boston`: the place is that of the startups.
            let is_investor = |at: usize| self.record_at(at) == Some(Table::Firms) || self.is_investing(at);
            let is_of_startups = self.record_at(noun) == Some(Table::Startups) && (0..noun).any(is_investor);
            return has_place && self.is_in(noun, "invests") || is_of_startups;
        }
        // `software firms in Seattle` are startups; in `investors in US health rounds` the place belongs to the rounds.
        let is_investor = self.record_at(noun) == Some(Table::Firms) && !self.is_in(noun, "firm");
        let own = (at + 1..at + 5).take_while(|at| !self.tokens.get(at - 1).is_none_or(|token| token.ends_clause));
        let is_own = own.into_iter().any(|at| self.record_at(at) == Some(self.table));
        // In `rounds with corporate investors in Germany`, the place may equally belong to the rounds.
        // `the most active investors in London`
        let counts_investors =
            self.parts.iter().any(|(_, part)| part.parameter == GROUP_BY && part.value == "investor");
        let is_sure = self.table == Table::Startups || counts_investors || based > 0 || self.is_at(before, &["from"]);
        self.table != Table::People && is_sure && is_investor && !self.tokens[noun].ends_clause && !is_own
    }

    /// True if `or` or `and` joins a phrase to a city: `Shenzhen or Hong Kong`.
    pub(super) fn joins_city(&self, at: usize) -> bool {
        let joined = self.parts.iter().find(|(range, _)| range.end + 1 == at);
        joined.is_some_and(|(_, part)| part.parameter.ends_with("city")) && self.is_in(at - 1, "joints of exclusions")
    }

    /// True if `us` is a country: in capitals, after `in the`, or where it cannot mean people: `us fintech startups`.
    pub(super) fn is_country_us(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_before_term = || {
            let term = at + 1 + usize::from(self.is_in(at + 1, "joints"));
            term < self.tokens.len() && (self.record_at(term).is_some() || self.has_meaning(term, 1))
        };
        let is_last = || at > 0 && at + 1 == self.tokens.len();
        token.word == "us"
            && (token.raw == "US"
                || token.raw == "U.S"
                || self.follows(at, "before the us")
                || (!self.follows(at, "before us") && (is_before_term() || is_last())))
    }

    /// A country that is also a city counts as the city if it is joined to one: `Singapore or Jakarta`.
    pub(super) fn join_cities(&mut self) {
        let mut parts = self.parts.clone();
        for index in 1..parts.len() {
            let [(range, country), (next, city)] = &mut parts[index - 1..=index] else { continue };
            let is_joined = range.end + 1 == next.start && self.is_in(range.end, "joints");
            if !is_joined || country.parameter != "country" || city.parameter != "city" {
                continue;
            }
            let meanings = self.phrase_at(range.start, range.len()).map(|phrase| self.lexicon.meanings(&phrase));
            let mut own = meanings.unwrap_or_default().iter().filter_map(|meaning| self.value_of(meaning, range));
            if let Some((parameter, value, why)) = own.find(|(parameter, ..)| *parameter == "city") {
                let country = Rc::make_mut(country);
                [country.parameter, country.value, country.why] = [parameter, value, why].map(str::to_owned);
            }
        }
        self.keep_valid(parts);
    }
}
