//! Endpoints and their parsed requests. [`crate::endpoints`] has a module for each one or kind, and the table of paths.

use std::sync::Arc;

use utoipa::openapi::path::{Operation, ParameterBuilder};

use catalog::json::FieldSet;
use catalog::{Issues, Resource};
use data::Table;
use data::field::Definition;
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::export::Export;
use crate::include::Include;
use crate::openapi::Examples;
use crate::openapi::parameter::DocumentedOption;
use crate::openapi::schema::{FIRM_SUMMARY, Schemas};
use crate::pagination::settled_by_path;
use crate::request::{RequestError, RequestUrl};
use crate::routes::Route;
use crate::{ApiRequest, ApiResponse, Version};

#[derive(Clone, Copy)]
pub(crate) struct Endpoint {
    /// Parses a request. The error lists everything that is wrong with it.
    pub(crate) parse: fn(&RequestUrl<'_>) -> ParsedOperation,
    /// The type of `data`, or of its items.
    pub(crate) item: &'static Definition,
    /// The name of that type in the document of v3.
    pub(crate) name: &'static str,
    /// The fields of `data`, and those without the parameter `fields` as a sentence.
    pub(crate) fields: fn(&Self) -> (FieldSet, String),
    pub(crate) is_list: bool,
    /// True if `data` is one page of a list, which a cursor continues.
    pub(crate) is_paged: bool,
    /// The list whose records it returns.
    pub(crate) list: Option<Resource>,
    /// Parameters of that list that the path sets, the first one to the slug.
    pub(crate) settled: &'static [&'static str],
    /// The table of the one record that it returns.
    pub(crate) record: Option<Table>,
    /// The list whose filters it takes.
    pub(crate) filters: Option<Resource>,
    /// Parameters that neither are filters nor have a row in the table of options for it.
    pub(crate) own: &'static [OwnParameter],
    /// Documents POST, if that takes a body.
    pub(crate) post: Option<PostDocument>,
    /// Documents DELETE. What has it changes what an account has.
    pub(crate) delete: Option<PostDocument>,
    /// Adds the schemas that only this endpoint has to the document of v3.
    pub(crate) add_schemas: fn(&Self, &mut Schemas),
    pub(crate) takes_release: bool,
    /// True if the response belongs to the account of the key; demo keys get none.
    pub(crate) is_of_account: bool,
    /// True if responses have an `ETag`.
    pub(crate) is_cacheable: bool,
    pub(crate) is_counted: bool,
    pub(crate) group: RouteGroup,
}

/// Derives the operation of another method from that of GET; the text is the base URL.
pub(crate) type PostDocument = fn(&Route, &Operation, &Examples, &str) -> Operation;

/// A parameter of one endpoint with its description, schema and example in the OpenAPI documents.
pub(crate) type OwnParameter = (&'static str, fn(&DocumentedOption<'_>) -> ParameterBuilder);

impl Endpoint {
    /// An endpoint about the service, such as `/stats`: any key may call it, it has no parameters; it is cached.
    pub(crate) const fn new(item: &'static Definition, parse: fn(&RequestUrl<'_>) -> ParsedOperation) -> Self {
        Self {
            parse,
            item,
            name: item.name,
            fields: |endpoint| (FieldSet::of_definition(endpoint.item), "Default: all.".to_owned()),
            is_list: false,
            is_paged: false,
            list: None,
            settled: &[],
            record: None,
            filters: None,
            own: &[],
            post: None,
            delete: None,
            add_schemas: |_, _| {},
            takes_release: true,
            is_of_account: false,
            is_cacheable: true,
            is_counted: true,
            group: RouteGroup::Rest,
        }
    }

    /// A list that belongs to the account of the key.
    pub(crate) const fn of_account(item: &'static Definition, parse: fn(&RequestUrl<'_>) -> ParsedOperation) -> Self {
        let endpoint = Self::new(item, parse);
        Self { is_list: true, takes_release: false, is_of_account: true, is_cacheable: false, ..endpoint }
    }

    pub(crate) fn item_name(&self, version: Version) -> &'static str {
        match self.list {
            Some(Resource::Firms) if version != Version::V3 => FIRM_SUMMARY,
            _ => self.name,
        }
    }

    /// The lists that a request may include in its record.
    pub(crate) fn includes(&self) -> Vec<Include> {
        self.record.map_or_else(Vec::new, Include::of_table)
    }

    /// Parameters that it does not take of the list whose filters it takes; counts have no order of records.
    pub(crate) fn excluded(&self) -> Vec<&'static str> {
        self.list.map_or_else(|| vec!["sort"], |resource| settled_by_path(resource, self.settled))
    }
}

pub(crate) trait ApiOperation {
    /// True if the response needs a search of names, also for suggestions, reads many rounds, or waits for the store.
    fn searches(&self) -> bool;

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem>;

    /// True if keys of some tiers get another response: free ones have shorter pages.
    fn depends_on_tier(&self) -> bool {
        false
    }

    /// Adds warnings about parameters, which only operations of v1 and v2 have.
    fn add_warnings(&mut self, _issues: Issues) {}

    fn export(&self) -> Option<&Arc<Export>> {
        None
    }
}

pub(crate) type ParsedOperation = Result<Box<dyn ApiOperation>, RequestError>;

/// A request about the service or the account, without parameters of its own.
struct ServiceRequest {
    respond: fn(&ApiRequest<'_>) -> Result<ApiResponse, Problem>,
    is_of_account: bool,
}

impl ApiOperation for ServiceRequest {
    fn searches(&self) -> bool {
        self.is_of_account
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        (self.respond)(request)
    }
}

pub(crate) fn parse_service(
    url: &RequestUrl<'_>,
    respond: fn(&ApiRequest<'_>) -> Result<ApiResponse, Problem>,
) -> ParsedOperation {
    url.unknown_names()?;
    Ok(Box::new(ServiceRequest { respond, is_of_account: url.route.endpoint.is_of_account }))
}
