//! Other meanings of a search text that is not a name. Lists of REST search by name alone; warnings state what the
//! pages and the tools make of the text, and which other list answers it, and link to these.

use form_urlencoded::Serializer;

use crate::pin::PIN;
use crate::request::{Canonical, RequestUrl};
use crate::version::Version;
use crate::{ApiRequest, options};
use catalog::{Issues, ParameterError, ParsedRequest, Query, Request, Resource, SearchReading};

/// Warnings about a text that is not a name. `parameters` are the canonical ones, without those that the path sets.
pub(crate) fn other_meanings<N: AsRef<str>, V: AsRef<str>>(
    request: &ApiRequest<'_>,
    resource: Resource,
    reading: &SearchReading,
    parameters: &[(N, V)],
) -> Vec<ParameterError> {
    let ApiRequest { state, version, path, .. } = request;
    let address_of = |path: &str, others: &[(N, V)], values: Vec<(String, String)>| {
        let is_text = |name: &str| resource.parameter(name).is_some_and(|known| known.name == "q");
        let others = others.iter().filter(|(name, _)| !is_text(name.as_ref()));
        let pins = request.values.iter().filter(|(name, _)| PIN.contains(&name.as_str()));
        let mut query = Serializer::new(String::new());
        query.extend_pairs(others).extend_pairs(values).extend_pairs(pins);
        format!("{}/api/{}/{path}?{}", state.public_url, version.segment(), query.finish())
    };
    // The conditions of this list are not those of another. Other versions have no aggregates.
    let elsewhere = reading.elsewhere.as_ref().filter(|_| *version == Version::V3).map(|(other, question)| {
        let path = format!("{}{}", other.path(), if question.groups().is_some() { "/aggregate" } else { "" });
        format!("another list answers it as a question: {}", address_of(&path, &[], question.values_and_groups()))
    });
    let own = reading.other_meaning(&address_of(path, parameters, reading.values()));
    own.into_iter().chain(elsewhere).map(|note| ParameterError::no_name(note, reading.is_partly_named)).collect()
}

pub(crate) struct CountedQuery {
    pub query: Query,
    pub notes: Vec<ParameterError>,
    /// Its parameters; `None` if a note quotes a value as written.
    pub canonical: Option<Canonical>,
}

impl CountedQuery {
    pub(crate) fn parse(url: &RequestUrl<'_>, resource: Resource, values: &[(String, String)]) -> Result<Self, Issues> {
        let options = url.version.parse_options(options::names(url.version, url.route));
        let ParsedRequest { request, canonical, notes, .. } = url.catalog.parse(resource, values, options)?;
        let Request::List(query) = request else { unreachable!("{resource:?} is a list") };
        let canonical = (!notes.iter().any(ParameterError::depends_on_spelling)).then_some(canonical);
        Ok(Self { query, notes, canonical })
    }

    /// Warnings that the text is not a name.
    pub(crate) fn other_meanings(&self, request: &ApiRequest<'_>) -> Vec<ParameterError> {
        let parameters: Vec<(&str, &str)> = match &self.canonical {
            Some(canonical) => canonical.iter().map(|(name, value)| (*name, value.as_str())).collect(),
            None => request.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        };
        // Counts have an order and a limit of their own.
        let given: Vec<&str> = parameters.iter().map(|(name, _)| *name).chain(["sort", "limit"]).collect();
        let resource = Resource::of_table(self.query.table);
        let reading = request.catalog.read_search(resource, &given, &self.query);
        reading.map_or_else(Vec::new, |reading| other_meanings(request, resource, &reading, &parameters))
    }
}
