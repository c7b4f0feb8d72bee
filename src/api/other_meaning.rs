//! Other meanings of a search text that is not a name. Lists of REST search by name alone; a warning states what the
//! pages and the tools make of the text, and links to that list.

use std::borrow::Cow;

use form_urlencoded::Serializer;

use crate::pin::PIN;
use crate::{ApiRequest, Version};
use catalog::{Catalog, ParameterError, Query, Resource};
use service::State;

/// The address of a request for a list, its counts or its file.
pub(crate) struct ListAddress<'a> {
    pub state: &'a State,
    pub version: Version,
    /// The path below the version.
    pub path: &'a str,
    /// The parameters as sent.
    pub values: &'a [(String, String)],
}

impl<'a> ListAddress<'a> {
    pub(crate) fn from_request(request: &ApiRequest<'a>) -> Self {
        Self { state: request.state, version: request.version, path: request.path, values: request.values }
    }

    /// A warning about the text of a query; `None` if the text is a name. `parameters` are those of the query in
    /// canonical form, without the `fixed` ones, which the path sets.
    pub(crate) fn other_meaning(
        &self,
        catalog: &Catalog,
        query: &Query,
        parameters: &[(Cow<'_, str>, Cow<'_, str>)],
        fixed: &[&str],
    ) -> Option<ParameterError> {
        let resource = Resource::of_table(query.table);
        let given = parameters.iter().map(|(name, _)| name.as_ref());
        let given: Vec<&str> = given.chain(fixed.iter().copied()).collect();
        let search = catalog.read_search(resource, &given, query)?;
        let others =
            parameters.iter().filter(|(name, _)| resource.parameter(name).is_none_or(|known| known.name != "q"));
        let pins = self.values.iter().filter(|(name, _)| PIN.contains(&name.as_str()));
        let mut query = Serializer::new(String::new());
        query.extend_pairs(others).extend_pairs(search.values()).extend_pairs(pins);
        let Self { state, version, path, .. } = self;
        let address = format!("{}/api/{}/{path}?{}", state.public_url, version.segment(), query.finish());
        Some(ParameterError::no_name(search.other_meaning(&address)?, search.is_partly_named))
    }
}

/// A warning that the text of a query whose matches are counted is not a name. `canonical` are the parameters of the
/// query; without them those that were sent are used.
pub(crate) fn of_counts(
    request: &ApiRequest<'_>,
    query: &Query,
    canonical: Option<&[(&'static str, String)]>,
) -> Option<ParameterError> {
    let parameters = match canonical {
        Some(canonical) => canonical.iter().map(|(name, value)| ((*name).into(), value.into())).collect(),
        None => request.values.iter().map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>(),
    };
    // Counts have an order and a limit of their own.
    ListAddress::from_request(request).other_meaning(&request.catalog, query, &parameters, &["sort", "limit"])
}
