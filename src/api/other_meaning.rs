//! Other meanings of a search text that is not a name. Lists of REST search by name alone; a warning states what the
//! pages and the tools make of the text, and links to that list.

use form_urlencoded::Serializer;

use crate::pin::PIN;
use crate::request::{Canonical, RequestUrl};
use crate::{ApiRequest, options};
use catalog::{Issues, ParameterError, ParsedRequest, Query, Request, Resource, SearchReading};

/// A warning about a text that is not a name. `parameters` are the canonical ones, without those that the path sets.
pub(crate) fn other_meaning<N: AsRef<str>, V: AsRef<str>>(
    request: &ApiRequest<'_>,
    resource: Resource,
    reading: &SearchReading,
    parameters: &[(N, V)],
) -> Option<ParameterError> {
    let is_text = |name: &str| resource.parameter(name).is_some_and(|known| known.name == "q");
    let others = parameters.iter().filter(|(name, _)| !is_text(name.as_ref()));
    let pins = request.values.iter().filter(|(name, _)| PIN.contains(&name.as_str()));
    let mut query = Serializer::new(String::new());
    query.extend_pairs(others).extend_pairs(reading.values()).extend_pairs(pins);
    let ApiRequest { state, version, path, .. } = request;
    let address = format!("{}/api/{}/{path}?{}", state.public_url, version.segment(), query.finish());
    Some(ParameterError::no_name(reading.other_meaning(&address)?, reading.is_partly_named))
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

    /// A warning that the text is not a name.
    pub(crate) fn other_meaning(&self, request: &ApiRequest<'_>) -> Option<ParameterError> {
        let parameters: Vec<(&str, &str)> = match &self.canonical {
            Some(canonical) => canonical.iter().map(|(name, value)| (*name, value.as_str())).collect(),
            None => request.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
        };
        // Counts have an order and a limit of their own.
        let given: Vec<&str> = parameters.iter().map(|(name, _)| *name).chain(["sort", "limit"]).collect();
        let resource = Resource::of_table(self.query.table);
        let reading = request.catalog.read_search(resource, &given, &self.query)?;
        other_meaning(request, resource, &reading, &parameters)
    }
}
