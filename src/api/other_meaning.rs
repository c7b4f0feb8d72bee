//! The meaning of a search text that is no name: lists of REST search by name alone, and a warning says what else the text means
//! to the pages and the tools, with the address of that list.

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
    /// The parameters as they were sent.
    pub values: &'a [(String, String)],
}

impl<'a> ListAddress<'a> {
    pub(crate) fn of(request: &ApiRequest<'a>) -> Self {
        Self { state: request.state, version: request.version, path: request.path, values: request.values }
    }

    /// A warning about the text of a query; `None` if it is a name. `parameters` are those of the query in canonical form,
    /// without what the path sets, which is `fixed`.
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
