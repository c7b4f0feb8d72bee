//! The traits of endpoints and of their requests. [`crate::endpoints`] has a module for each endpoint, and the table of
//! their paths.

use std::sync::Arc;

use utoipa::openapi::path::{Operation, ParameterBuilder};

use catalog::json::FieldSet;
use catalog::{Catalog, Issues, Resource};
use data::Table;
use data::field::Definition;
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::export::Export;
use crate::include::Include;
use crate::openapi::Examples;
use crate::openapi::parameter::DocumentedOption;
use crate::openapi::schema::Schemas;
use crate::request::{RequestError, RequestUrl};
use crate::routes::Route;
use crate::{ApiRequest, ApiResponse, Version};

/// An endpoint, or a kind of them, such as the lists. The defaults are those of an endpoint about the service, such as
/// `/stats`: any key may call it, it takes no parameters of its own, and its responses are cached.
pub(crate) trait ApiEndpoint: Sync {
    /// Parses a request. The error lists everything that is wrong with it.
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation;

    /// The type of `data`, or of its items.
    fn item(&self) -> &'static Definition;

    /// The name of that type in the document of a version.
    fn item_name(&self, _version: Version) -> &'static str {
        self.item().name
    }

    fn field_set(&self) -> FieldSet {
        FieldSet::of_definition(self.item())
    }

    /// The fields without the parameter `fields` as a sentence.
    fn default_fields(&self) -> String {
        "Default: all.".to_owned()
    }

    fn is_list(&self) -> bool {
        self.is_paged()
    }

    /// True if `data` is one page of a list, which a cursor continues.
    fn is_paged(&self) -> bool {
        false
    }

    /// The list whose records it returns.
    fn list(&self) -> Option<Resource> {
        None
    }

    /// The table of the one record that it returns.
    fn record(&self) -> Option<Table> {
        None
    }

    /// The lists that a request may include in that record.
    fn includes(&self) -> Vec<Include> {
        self.record().map_or_else(Vec::new, Include::of_table)
    }

    /// The list whose filters it takes.
    fn filters(&self) -> Option<Resource> {
        self.list()
    }

    /// Parameters of that list that it does not take.
    fn excluded(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Parameters that neither are filters nor have a row in the table of options for it.
    fn own_parameters(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Documents one of its own parameters; `None` for others.
    fn document(&self, _of: &DocumentedOption<'_>) -> Option<ParameterBuilder> {
        None
    }

    /// Documents POST, if it takes that; `get` is the operation without a body.
    fn document_post(&self, _route: &Route, _get: &Operation, _examples: &Examples, _base: &str) -> Option<Operation> {
        None
    }

    /// Example value of one of its own parameters, as written in a query.
    fn example(&self, _name: &str, _catalog: &Catalog) -> Option<String> {
        None
    }

    /// Adds the schemas that only this endpoint has to the document of v3.
    fn add_schemas(&self, _schemas: &mut Schemas) {}

    fn takes_release(&self) -> bool {
        !self.is_of_account()
    }

    /// True if POST takes many items in a body.
    fn takes_items(&self) -> bool {
        false
    }

    /// True if the response belongs to the account of the key; demo keys get none.
    fn is_of_account(&self) -> bool {
        false
    }

    /// True if responses have an `ETag`.
    fn is_cacheable(&self) -> bool {
        !self.is_of_account()
    }

    fn is_counted(&self) -> bool {
        true
    }

    fn group(&self) -> RouteGroup {
        RouteGroup::Rest
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

/// An endpoint about the service or the account, without parameters of its own.
#[derive(Clone, Copy)]
pub(crate) struct ServiceEndpoint {
    pub(crate) item: &'static Definition,
    pub(crate) respond: fn(&ApiRequest<'_>) -> Result<ApiResponse, Problem>,
    pub(crate) add_schemas: fn(&mut Schemas),
    pub(crate) is_list: bool,
    pub(crate) is_of_account: bool,
    pub(crate) is_cacheable: bool,
    pub(crate) is_counted: bool,
}

impl ServiceEndpoint {
    pub(crate) const fn new(
        item: &'static Definition,
        respond: fn(&ApiRequest<'_>) -> Result<ApiResponse, Problem>,
    ) -> Self {
        let add_schemas = |_: &mut Schemas| {};
        Self { item, respond, add_schemas, is_list: false, is_of_account: false, is_cacheable: true, is_counted: true }
    }
}

impl ApiEndpoint for ServiceEndpoint {
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        url.unknown_names()?;
        Ok(Box::new(*self))
    }

    fn item(&self) -> &'static Definition {
        self.item
    }

    fn is_list(&self) -> bool {
        self.is_list
    }

    fn add_schemas(&self, schemas: &mut Schemas) {
        (self.add_schemas)(schemas);
    }

    fn is_of_account(&self) -> bool {
        self.is_of_account
    }

    fn is_cacheable(&self) -> bool {
        self.is_cacheable
    }

    fn is_counted(&self) -> bool {
        self.is_counted
    }
}

impl ApiOperation for ServiceEndpoint {
    fn searches(&self) -> bool {
        self.is_of_account
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        (self.respond)(request)
    }
}

pub(crate) type ParsedOperation = Result<Box<dyn ApiOperation>, RequestError>;
