//! The meaning of a search text: a name, if a record has a name with all of its words; else a question, if understood;
//! else words of descriptions, sectors and places, if a record has all of them. Only this module decides it. Tools,
//! pages and their twins list the records that the text means; lists of REST search by name and state other meanings.

use crate::ask::list::AskedList;
use crate::param_error::shortened;
use crate::{Catalog, Interpretation, Query, Resource};
use data::Table;
use data::number::counted;

/// Maximum number of words of a text that is hardly a question of another list.
const MAX_NAME: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadingKind {
    /// A name that records have in part or not at all.
    Name,
    /// A question: its parts are conditions.
    Question,
    /// Words of descriptions, sectors and places (`text`).
    Text,
}

/// A search text that is not a name.
#[derive(Clone, Debug)]
pub struct SearchReading {
    pub reading: ReadingKind,
    pub text: String,
    /// Its interpretation as a question, even if it is not read as one; `None` without any condition.
    pub question: Option<Interpretation>,
    /// Number of records with all of its words (`text`); 0 if each word is understood as a question.
    pub described: usize,
    /// Rows with similar names, if it is not read as a name.
    pub similar: Vec<u32>,
    /// True if names have some of its words.
    pub is_partly_named: bool,
    /// Another list that answers the text as a question, each word understood, if this one has no such answer.
    pub elsewhere: Option<(Resource, Interpretation)>,
    /// Sentences on what a question cannot be read for.
    pub question_notes: Vec<String>,
    table: Table,
}

impl Catalog {
    /// `None` if the query has no text, or if a record has a name with all of its words. `given` are other parameters.
    pub fn read_search(&self, resource: Resource, given: &[&str], query: &Query) -> Option<SearchReading> {
        let mut read = self.read_search_as(resource, given, query, |text| self.interpret(resource, text))?;
        let leaves_words = match read.as_question() {
            Some(question) => !question.unread.is_empty(),
            None => read.reading == ReadingKind::Name,
        };
        if leaves_words && resource.takes_questions() && read.text.split(' ').count() > MAX_NAME {
            let AskedList { resource: answering, interpretation, counted, .. } = self.ask(&read.text);
            let counted = counted.map(|counted| (Resource::Startups, counted));
            let (answering, question) = counted.unwrap_or((answering, interpretation));
            let is_understood = question.conditions() > 0 && question.unread.is_empty();
            read.elsewhere = (is_understood && answering != resource).then_some((answering, question));
        }
        Some(read)
    }

    /// The same for the list that answers the text as a question; `query` is the search of a table.
    pub fn read_asked(&self, text: &str, query: impl FnOnce(Table) -> Query) -> (Resource, Option<SearchReading>) {
        let AskedList { resource, interpretation, .. } = self.ask(text);
        (resource, self.read_search_as(resource, &["q"], &query(resource.table()), |_| interpretation))
    }

    fn read_search_as(
        &self,
        resource: Resource,
        given: &[&str],
        query: &Query,
        interpret: impl FnOnce(&str) -> Interpretation,
    ) -> Option<SearchReading> {
        let text = query.text.as_deref()?;
        let matches = self.all_matches(query.table, text);
        if !matches.is_partial() {
            return None;
        }
        // They have only some of the words, regardless of filters.
        let names = matches.rows.clone();
        // The page size does not change the meaning of a text.
        let (window, others): (Vec<&str>, Vec<&str>) = given.iter().partition(|name| **name == "limit");
        let question = resource.takes_questions().then(|| interpret(text).without(resource, &others));
        let question_notes = question.as_ref().map_or_else(Vec::new, |question| question.notes.clone());
        let question = question.filter(|question| question.conditions() > 0);
        let is_understood = |question: &Interpretation| question.unread.is_empty();
        // Names with some of the words give way only to a question with each word understood.
        let is_question = question.as_ref().is_some_and(|question| {
            question.conditions() >= question.unread.len() && (names.is_empty() || is_understood(question))
        });
        let described = match query.described().is_some() || question.as_ref().is_some_and(is_understood) {
            true => 0,
            false => self.count_described(resource, text),
        };
        let reading = match (is_question, names.is_empty()) {
            (true, _) => ReadingKind::Question,
            (false, true) if described > 0 => ReadingKind::Text,
            (false, _) => ReadingKind::Name,
        };
        let is_partly_named = !names.is_empty();
        let similar = match reading {
            ReadingKind::Name => Vec::new(),
            ReadingKind::Question => names,
            ReadingKind::Text => matches.found.did_you_mean.clone(),
        };
        let question = question.map(|question| question.without(resource, &window));
        let text = text.to_owned();
        let table = resource.table();
        let elsewhere = None;
        Some(SearchReading {
            reading,
            text,
            question,
            described,
            similar,
            is_partly_named,
            elsewhere,
            question_notes,
            table,
        })
    }
}

impl SearchReading {
    pub fn as_question(&self) -> Option<&Interpretation> {
        self.question.as_ref().filter(|_| self.reading == ReadingKind::Question)
    }

    /// Parameters with its meaning; `q` if it is read as a name.
    pub fn values(&self) -> Vec<(String, String)> {
        let of_text = |name: &str| vec![(name.to_owned(), self.text.clone())];
        match self.as_question() {
            Some(question) => question.values().collect(),
            None if self.reading == ReadingKind::Text => of_text("text"),
            None => of_text("q"),
        }
    }

    /// Notes for a caller that lists its meaning; `parameter` is the caller's parameter or argument.
    pub fn notes(&self, parameter: &str) -> Vec<String> {
        let noun = self.table.noun();
        let shown = shortened(&self.text);
        let mut notes = self.question_notes.clone();
        if self.reading == ReadingKind::Question {
            notes.push(format!("no {noun} is named `{shown}`: `{parameter}` was read as a question, see `question`"));
        }
        if self.described > 0 {
            let having = self.having_words();
            notes.push(match self.reading {
                ReadingKind::Text => {
                    format!("no {noun} is named `{shown}`: `{parameter}` was searched as `text`; {having}")
                }
                _ => format!("{having}; pass `{shown}` as `text`"),
            });
        }
        notes
    }

    /// The meaning that a search by name alone misses; `address` lists it, with [`Self::values`] in place of `q`.
    pub fn other_meaning(&self, address: &str) -> Option<String> {
        let (noun, having) = (self.table.noun(), self.having_words());
        let shown = shortened(&self.text);
        match self.reading {
            ReadingKind::Question => Some(format!("no {noun} is named `{shown}`; as a question it is {address}")),
            ReadingKind::Text => Some(format!("no {noun} is named `{shown}`; {having}: {address}")),
            ReadingKind::Name if self.described > 0 => Some(format!("{having}; pass `{shown}` as `text`")),
            ReadingKind::Name => None,
        }
    }

    fn having_words(&self) -> String {
        let count = counted(self.described, self.table.noun(), self.table.plural());
        let verb = if self.described == 1 { "has" } else { "have" };
        format!("{count} {verb} all of its words in descriptions, sectors or places")
    }
}
