//! Questions in plain words, read as parameters of a list: "AI startups in Berlin that raised a seed round last year".
//! Only rules over the words of the release: the longest phrase wins, and unread words are reported.

mod amount;
pub mod association;
mod content;
mod investors;
mod known;
mod language;
mod lattice;
pub(crate) mod lexicon;
pub mod list;
mod names;
mod one_record;
mod order;
mod path;
mod period;
mod place;
mod question;
mod reader;
mod sector;
mod stage;
#[cfg(test)]
mod tests;
mod token;
mod words;

use std::rc::Rc;

use serde::Serialize;

use crate::aggregate::GroupOrder;
use crate::{AggregateOptions, Catalog, Resource};

use crate::ask::lattice::COSTS;
use crate::ask::lexicon::Lexicon;
use crate::ask::path::Path;
use crate::ask::question::{Question, QuestionWords};
use data::field::model;
use data::vocabulary::Vocabulary;

/// The parameter of aggregates that names the properties to count records by.
pub const GROUP_BY: &str = "group_by";

/// Its name as an argument of tools.
pub const COUNT_BY: &str = "count_by";

pub const MAX_QUESTION_CHARS: usize = 500;

const READ_LANGUAGES: &str = "questions are read in English, German, French, Spanish, Portuguese and Italian";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Interpretation {
    /// Parts in the order of the text.
    #[serde(rename = "interpreted")]
    pub parts: Vec<ReadPart>,
    pub unread: Vec<String>,
    /// Sentences on what questions cannot be read for: their language, the currency of an amount.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The order of the groups, if not the usual one: `which sectors got the most funding`.
    #[serde(skip)]
    pub group_order: Option<GroupOrder>,
    /// The cost of the reading; a name of a record costs nothing.
    #[serde(skip)]
    pub(crate) cost: u32,
}

model! {
    /// Words that were read as the value of a parameter.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct ReadPart as "Interpreted" {
        /// As they were written.
        pub text: String,
        /// The parameter.
        pub parameter: String,
        /// Its value, as in a request.
        pub value: String,
        /// Why they mean it.
        pub why: String,
    }
}

impl Interpretation {
    /// Drops the parts for parameters that are given otherwise; their words then change nothing.
    pub fn without(mut self, resource: Resource, given: &[&str]) -> Self {
        let is_given = |name: &str| {
            let own = resource.parameter(name).map_or(name, |own| own.included());
            given.iter().any(|given| resource.parameter(given).map_or(*given, |given| given.included()) == own)
        };
        let (given, parts): (Vec<_>, Vec<_>) = self.parts.into_iter().partition(|part| is_given(&part.parameter));
        self.parts = parts;
        self.unread.extend(given.into_iter().map(|part| part.text));
        self
    }

    pub(crate) fn conditions(&self) -> usize {
        self.parts.iter().filter(|part| !matches!(part.parameter.as_str(), "q" | "text" | "sort" | "limit")).count()
    }

    pub fn values(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let of_list = self.parts.iter().filter(|part| part.parameter != GROUP_BY);
        of_list.map(|part| (part.parameter.clone(), part.value.clone()))
    }

    /// The properties that the records are counted by, as in `group_by` of their aggregates.
    pub fn groups(&self) -> Option<&str> {
        self.parts.iter().find(|part| part.parameter == GROUP_BY).map(|part| part.value.as_str())
    }

    /// The options of an aggregate with at most `limit` of these groups.
    pub fn group_options(&self, resource: Resource, limit: usize) -> Option<AggregateOptions> {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let order = self.group_order.map(|order| named("sort", order.name()));
        let options = [named(GROUP_BY, self.groups()?), named("limit", &limit.to_string())].into_iter().chain(order);
        AggregateOptions::parse(resource, &options.collect::<Vec<_>>()).ok()
    }

    /// The values with those of `group_by`.
    pub fn values_and_groups(&self) -> Vec<(String, String)> {
        let groups = self.groups().map(|groups| (GROUP_BY.to_owned(), groups.to_owned()));
        self.values().chain(groups).collect()
    }
}

impl Catalog {
    /// Reads a question about the records of a list. Relative dates count from the day of the release.
    pub fn interpret(&self, resource: Resource, text: &str) -> Interpretation {
        self.interpret_words(resource, &QuestionWords::new(self, self.lexicon(), text))
    }

    fn interpret_words(&self, resource: Resource, words: &Rc<QuestionWords<'_>>) -> Interpretation {
        let mut interpretation = Path::read(Question::new(Rc::clone(words), resource), &COSTS);
        if !interpretation.unread.is_empty() {
            let language = language::unread_language(words.text, words.lexicon);
            interpretation.notes.extend(language.map(|language| {
                format!("the question was read as English only, and seems to be in {language}; {READ_LANGUAGES}")
            }));
        }
        interpretation
    }

    fn lexicon(&self) -> &Lexicon {
        self.cached.lexicon.get_or_init(|| Lexicon::from_snapshot(self.snapshot(), self.sector_names()))
    }
}
