//! Single records, with what a request includes in them.

use catalog::Issues;
use catalog::json::{FieldSet, Fields, record};
use data::Table;
use data::field::Definition;
use data::vocabulary::Vocabulary;
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::finish_response;
use crate::include::{self, Include};
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::{include_name, vocabulary};
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse, Version};

pub(super) struct RecordEndpoint(pub(super) Table);

struct RecordRequest {
    table: Table,
    row: u32,
    include: Vec<Include>,
    warnings: Issues,
}

impl ApiEndpoint for RecordEndpoint {
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        let table = self.0;
        let row = url.find_row(table, url.slug.expect("the path of a record has a slug"))?;
        let mut issues = Issues::default();
        let warnings = issues.collect(url.unknown_names());
        let include = match url.version {
            Version::V3 => issues.collect(include::parse(url.values, table)),
            Version::V1 | Version::V2 => Some(Vec::new()),
        };
        match warnings.zip(include) {
            Some((warnings, include)) => Ok(Box::new(RecordRequest { table, row, include, warnings })),
            None => Err(issues.into()),
        }
    }

    fn item(&self) -> &'static Definition {
        self.0.model()
    }

    fn record(&self) -> Option<Table> {
        Some(self.0)
    }

    fn add_schemas(&self, schemas: &mut Schemas) {
        let names: Vec<&str> = self.includes().iter().map(|include| include.name()).collect();
        if !names.is_empty() {
            schemas.insert(include_name(self.0), vocabulary("A related list.", &names));
        }
    }

    fn group(&self) -> RouteGroup {
        RouteGroup::Record
    }
}

impl ApiOperation for RecordRequest {
    fn searches(&self) -> bool {
        !self.warnings.is_empty()
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let (table, row) = (self.table, self.row);
        let fields = match request.version {
            Version::V3 => Fields::parse(request.values, FieldSet::of_table(table)).map_err(Problem::of_parameters)?,
            Version::V1 | Version::V2 => Fields::DefaultWithDays,
        };
        let mut body = Vec::with_capacity(4 * 1024);
        body.extend_from_slice(b"{\"data\":");
        record::write(&mut body, &request.catalog, table, row, &fields, true);
        include::append_to(&mut body, &request.catalog, table, row, &self.include);
        Ok(finish_response(request, body, &self.warnings.report(&request.catalog)))
    }

    fn add_warnings(&mut self, issues: Issues) {
        self.warnings.extend(issues);
    }
}
