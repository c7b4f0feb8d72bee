//! The order and number of the records that a question asks for, and the properties to count them by.

use crate::Resource;
use crate::aggregate::group_bys;
use crate::ask::period::count_of;
use crate::ask::reader::{GLUE, QuestionReader, records_meant};
use crate::ask::token::QuestionToken;
use crate::ask::{GROUP_BY, ReadPart};
use data::Table;

/// Words after which `by` states an order ([`SORTED`]) or an agent ([`DONE`]).
const SORTED: &[&str] = &["sort", "sorted", "order", "ordered", "rank", "ranked"];
const DONE: &[&str] = &["backed", "funded", "financed", "led", "made", "done", "acquired", "bought", "owned", "run"];

/// The property of `group_by` for a word.
fn group_by(resource: Resource, word: &str) -> Option<&'static str> {
    let name = match word {
        "industry" | "industries" | "vertical" | "verticals" => "sector",
        "countries" => "country",
        "cities" | "town" | "towns" => "city",
        "type" | "types" => "kind",
        "statuses" => "status",
        "funder" | "backer" => "investor",
        "year" | "years" if resource != Resource::Rounds => "founded_year",
        word => word.strip_suffix('s').unwrap_or(word),
    };
    group_bys(resource).into_iter().map(|(known, _)| known).find(|known| *known == name || *known == word)
}

impl QuestionReader<'_> {
    /// Reads groups: `by country`, `per year and stage`, `for each sector`, `which cities have the most`.
    pub(super) fn groups(&mut self, at: usize) -> Option<usize> {
        let property = |at: usize| self.tokens.get(at).and_then(|token| group_by(self.resource, &token.word));
        // `by founding year`
        let founded =
            |at: usize| self.is_at(at, &["founding", "foundation"]) && property(at + 1) == Some("founded_year");
        let is_every = |at: usize| {
            self.is_at(at, &["every"]) && matches!(property(at + 1), Some("year" | "quarter" | "founded_year"))
        };
        // `have the most`
        let most = |at: usize| {
            let is_the = self.is_at(at + 1, &["the"]);
            const VERBS: &[&str] =
                &["have", "has", "had", "with", "did", "do", "made", "got", "get", "raised", "received"];
            let is_most = self.is_at(at, VERBS) && self.is_at(at + 1 + usize::from(is_the), &["most"]);
            if is_most { 2 + usize::from(is_the) } else { 0 }
        };
        let start = at + usize::from(self.is_at(at, &["group", "grouped", "split", "counted"]));
        // `how many a year`
        let is_yearly = at > 0
            && self.is_at(at, &["a"])
            && self.is_at(at - 1, &["many", "rounds", "deals"])
            && self.is_at(at + 1, &["year", "quarter"]);
        let first = if self.is_at(start, &["by", "per", "each"]) || is_every(start) || is_yearly {
            // `backed by investors`, `sorted by year`
            let is_after = |words: &[&str]| start == at && at > 0 && self.is_at(at - 1, words);
            let is_who = !matches!(property(start + 1), Some("sector" | "country" | "city" | "stage" | "founded_year"));
            // `by investors in Berlin`
            let is_whose = property(start + 1) == Some("investor")
                && self.is_at(start + 2, &["in", "from", "based", "located", "outside"]);
            let is_other = self.is_at(start, &["by"])
                && (is_after(SORTED) || (is_after(DONE) && is_who) || is_whose)
                && !(at > 0 && self.tokens[at - 1].ends_clause);
            // The date of an acquisition is not known.
            let is_end = is_after(&["acquired", "bought", "closed"]) && property(start + 1) == Some("founded_year");
            if is_other || is_end {
                return None;
            }
            start + 1 + usize::from(self.is_at(start + 1, &["each"]))
        } else {
            // `top 3 cities`
            let is_top = self.is_at(at, &["top"]);
            let is_number = is_top && self.tokens.get(at + 1).is_some_and(|token| count_of(&token.word).is_some());
            // `the most common sectors`
            let is_common = self.is_at(at, &["most"]) && self.is_at(at + 1, &["common", "popular", "frequent"]);
            let is_top = is_top || is_common;
            let first =
                at + usize::from(is_top || self.is_at(at, &["which", "what"])) + usize::from(is_number || is_common);
            let is_place = matches!(property(first)?, "country" | "city" | "sector" | "stage");
            let is_investor = property(first)? == "investor" && self.is_at(at, &["which", "what"]);
            if (most(first + 1) == 0 && !is_top) || !(is_place || is_investor) {
                return None;
            }
            first
        };
        let first = first + usize::from(founded(first));
        let mut properties = vec![property(first)?];
        let mut end = first + 1;
        while self.is_at(end, &["and", "by", "per"])
            && let Some(further) = property(end + 1).filter(|further| !properties.contains(further))
        {
            properties.push(further);
            end += 2;
        }
        end += most(end);
        if self.parts.iter().any(|(_, part)| part.parameter == GROUP_BY) {
            return None;
        }
        let (text, value) = (self.written(&(at..end)), properties.join(","));
        let why = "what records are counted by".to_owned();
        self.parts.push((at..end, ReadPart { text, parameter: GROUP_BY.to_owned(), value, why }));
        Some(end - at)
    }

    /// Reads `the 10 largest`, `newest`, `most active`, `top 5`.
    pub(super) fn superlative(&mut self, at: usize) -> Option<usize> {
        let count = |at: usize| {
            self.tokens.get(at).and_then(|token| count_of(&token.word)).filter(|count| (1..=100).contains(count))
        };
        let start = at + usize::from(self.is_at(at, &["the"]));
        let is_single = self.is_at(start, &["single"]) && self.sort_at(start + 1).is_some();
        let start = start + usize::from(is_single);
        if self.is_at(start, &["top", "first"])
            && let Some(number) = count(start + 1)
        {
            self.add(at..start + 2, "limit", number.to_string(), "that many records");
            return Some(start + 2 - at);
        }
        // `the last 20 rounds`
        if self.table == Table::Rounds
            && self.is_at(start, &["last", "latest"])
            && let Some(number) = count(start + 1).filter(|_| self.counts_records(start + 2))
        {
            self.add(at..start + 2, "sort", "-announced_on".to_owned(), "order");
            self.add(at..start + 2, "limit", number.to_string(), "that many records");
            return Some(start + 2 - at);
        }
        if self.is_at(at, &["limit"])
            && let to = at + 1 + usize::from(self.is_at(at + 1, &["to", "of"]))
            && let Some(number) = count(to)
        {
            self.add(at..to + 1, "limit", number.to_string(), "that many records");
            return Some(to + 1 - at);
        }
        let before = count(start);
        let from = start + usize::from(before.is_some());
        let Some((sort, length)) = self.sort_at(from) else {
            let number = before.filter(|_| self.counts_records(from))?;
            self.add(at..from, "limit", number.to_string(), "that many records");
            return Some(from - at);
        };
        let after = count(from + length).filter(|_| before.is_none());
        let end = from + length + usize::from(after.is_some());
        // `oldest first`
        let end = end + usize::from(self.is_at(end, &["first"]) && count(end + 1).is_none());
        self.add(at..end, "sort", sort.to_owned(), "order");
        if let Some(number) = before.or(after) {
            self.add(at..end, "limit", number.to_string(), "that many records");
        } else if is_single || self.asks_for_one() || ((start > at || at == 0) && self.is_singular(end)) {
            self.add(at..end, "limit", "1".to_owned(), "a single record");
        }
        Some(end - at)
    }

    /// True if a number before a word counts the records to list: `10 fintech companies in Berlin`.
    fn counts_records(&self, at: usize) -> bool {
        let is_plain = |token: &QuestionToken| GLUE.contains(token.word.as_str()) || token.is(&["last", "latest"]);
        let is_first = self.tokens[..at - 1].iter().all(is_plain);
        let kind = |at: usize| (1..=2).rev().find_map(|length| records_meant(&self.phrase_at(at, length)?));
        // Skip phrases that are understood, up to the word for the records.
        let mut until = at;
        while kind(until).is_none()
            && self.tokens.get(until).is_some_and(|token| !token.ends_clause)
            && let glue = usize::from(GLUE.contains(self.tokens[until].word.as_str()))
            && let length = self.longest_meaning(until).map_or(glue, |(length, _)| length)
            && length > 0
        {
            until += length;
        }
        is_first
            && kind(until) == Some(self.table)
            && !self.is_at(
                at,
                &["million", "billion", "year", "years", "month", "months", "day", "days", "person", "or", "and", "to"],
            )
    }

    /// True if the next word for a kind of record is in the singular: `the largest fintech round`, but not
    /// `funding rounds`.
    fn is_singular(&self, at: usize) -> bool {
        let kind = |at: usize, length: usize| {
            let phrase = self.phrase_at(at, length)?;
            records_meant(&phrase).map(|_| !phrase.ends_with('s'))
        };
        (at..at + 4).find_map(|at| (1..=4).rev().find_map(|length| kind(at, length))) == Some(true)
    }

    /// True if the question asks for a single record: `which VC has the largest portfolio`.
    fn asks_for_one(&self) -> bool {
        let kind = self.tokens.get(1).filter(|token| records_meant(&token.word) == Some(self.table));
        self.is_at(0, &["which", "what"]) && kind.is_some_and(|kind| !kind.word.ends_with('s'))
    }

    fn sort_at(&self, at: usize) -> Option<(&'static str, usize)> {
        // `by the number of deals`
        let article = usize::from(self.starts(at, &["by", "the"]));
        let place = |offset: usize| at + offset + if offset > 0 { article } else { 0 };
        let word = |offset: usize| self.tokens.get(place(offset)).map_or("", |token| token.word.as_str());
        let (sort, length) = sort_of(self.table, word)?;
        Some((sort, length + article))
    }
}

/// The order that words state, and the number of these words.
fn sort_of<'a>(table: Table, word: impl Fn(usize) -> &'a str) -> Option<(&'static str, usize)> {
    // `by number of deals`
    let counted = ["by", "number", "of"].iter().enumerate().all(|(offset, known)| word(offset) == *known);
    match (table, word(3)) {
        (Table::Firms, "deals" | "investments" | "rounds") if counted => return Some(("-investment_count", 4)),
        (Table::Firms, "companies" | "startups") if counted => return Some(("-portfolio_count", 4)),
        (Table::Startups, "rounds") if counted => return Some(("-round_count", 4)),
        _ => {}
    }
    let words = (word(0), word(1), word(2));
    Some(match (table, words) {
        (_, ("by", "name" | "names", _)) => ("name", 2),
        (_, ("alphabetically", ..)) => ("name", 1),
        (_, ("a", "to", "z")) => ("name", 3),
        (_, ("alphabetical", "order", _)) => ("name", 2),
        (Table::Rounds, ("by", "date", _)) => ("-announced_on", 2),
        (Table::Firms, ("most", "recently", "active")) | (Table::Firms, ("by", "last", "investment")) => {
            ("-last_investment_on", 3)
        }
        (Table::Firms, ("recently", "active", _)) => ("-last_investment_on", 2),
        (Table::Firms, ("lately" | "recently", ..)) => ("-last_investment_on", 1),
        (Table::Firms, ("most", "active" | "prolific", _)) => ("-investment_count", 2),
        (Table::Firms, ("least", "active", _)) => ("investment_count", 2),
        (Table::Startups, ("least", "funded", _)) => ("total_raised_usd", 2),
        (Table::Rounds, ("chronological", "order", _)) => ("announced_on", 2),
        (Table::Rounds, ("chronologically", ..)) => ("announced_on", 1),
        (Table::Firms, ("busiest", _, _)) => ("-investment_count", 1),
        (Table::Firms, ("most", "responsive", _)) => ("-responsiveness", 2),
        (Table::Firms, ("highest" | "best" | "by", "health", "score")) => ("-health_score", 3),
        (Table::Firms, ("responsive", ..)) => ("-responsiveness", 1),
        (Table::Firms, ("reply" | "replies" | "respond" | "responds", "quickly" | "fast", _)) => ("-responsiveness", 2),
        (Table::Firms, ("best" | "top" | "highest", "rated" | "scored", _)) => ("-health_score", 2),
        (Table::Firms, ("by", "portfolio", "size")) => ("-portfolio_count", 3),
        (Table::Firms, ("by", "portfolio", _)) => ("-portfolio_count", 2),
        (Table::Firms, ("by", "investments" | "deals" | "rounds" | "activity", _)) => ("-investment_count", 2),
        (Table::Startups, ("by", "funding" | "money", "raised")) => ("-total_raised_usd", 3),
        (Table::Startups, ("by", "last" | "latest", "round")) => ("-last_round_on", 3),
        (Table::Startups, ("by", "date", "of")) if word(3) == "last" && word(4) == "round" => ("-last_round_on", 5),
        (Table::Startups, ("by", "total", "funding" | "raised")) => ("-total_raised_usd", 3),
        (Table::Startups, ("by", "funding", _)) => ("-total_raised_usd", 2),
        (Table::Firms | Table::Startups, ("by", "founding", "year" | "date")) => ("founded_year", 3),
        (Table::Firms | Table::Startups, ("by", "year", "founded")) => ("founded_year", 3),
        (Table::Firms | Table::Startups, ("by", "year", "they")) if word(3) == "were" && word(4) == "founded" => {
            ("founded_year", 5)
        }
        (Table::Rounds, ("by", "amount" | "size", _)) => ("-amount_usd", 2),
        (Table::Rounds, ("first", "round", _)) => ("announced_on", 1),
        (Table::Firms, ("most", "investments" | "deals" | "rounds", _)) => ("-investment_count", 2),
        (Table::Firms, ("most", "companies" | "startups", _)) => ("-portfolio_count", 2),
        (Table::Firms, ("most", "portfolio", "companies")) => ("-portfolio_count", 3),
        (Table::Firms, ("largest" | "biggest", "portfolio" | "portfolios", _)) => ("-portfolio_count", 2),
        (Table::Firms, ("largest" | "biggest", _, _)) => ("-portfolio_count", 1),
        (Table::Firms, ("most", "reviewed" | "reviews", _)) => ("-review_count", 2),
        (Table::Firms, ("lowest" | "low" | "least", "ghosting", _)) => ("ghosting_rate", 2),
        (Table::Rounds, ("last", "round", _)) => ("-announced_on", 1),
        (Table::Rounds, ("top", "rounds" | "deals" | "funding" | "investments", _)) => ("-amount_usd", 1),
        (Table::Startups, ("most", "funding" | "financing", "rounds")) => ("-round_count", 3),
        (Table::Startups, ("most", "money" | "funding" | "capital", "raised")) => ("-total_raised_usd", 3),
        (Table::Startups, ("most", "money" | "funding" | "capital", _)) => ("-total_raised_usd", 2),
        (Table::Startups, ("raised" | "raising", "most", _)) => ("-total_raised_usd", 2),
        (Table::Startups, ("raised" | "raising", "the", "most")) => ("-total_raised_usd", 3),
        (Table::Firms | Table::Startups, ("newest" | "youngest", _, _)) => ("-founded_year", 1),
        (Table::Firms | Table::Startups, ("oldest", _, _)) => ("founded_year", 1),
        (Table::Startups, ("most" | "best" | "highest" | "top", "funded", _)) => ("-total_raised_usd", 2),
        (Table::Startups, ("most", "recently", "funded")) => ("-last_round_on", 3),
        (Table::Startups, ("recently" | "newly", "funded", _)) => ("-last_round_on", 2),
        (Table::Startups, ("most", "recently", "founded")) => ("-founded_year", 3),
        (Table::Startups, ("recently" | "newly", "founded", _)) => ("-founded_year", 2),
        (Table::Startups, ("highest", "total" | "funding" | "raised", _)) => ("-total_raised_usd", 2),
        (Table::Startups, ("most", "rounds", _)) => ("-round_count", 2),
        (Table::Startups, ("largest" | "biggest", _, _)) => ("-total_raised_usd", 1),
        (Table::Rounds, ("largest" | "biggest" | "highest", _, _)) => ("-amount_usd", 1),
        (Table::Rounds, ("smallest", _, _)) => ("amount_usd", 1),
        (Table::Rounds, ("most", "recent", _)) => ("-announced_on", 2),
        (Table::Rounds, ("newest" | "latest" | "recent", _, _)) => ("-announced_on", 1),
        (Table::Rounds, ("oldest" | "earliest", _, _)) => ("announced_on", 1),
        _ => return None,
    })
}
