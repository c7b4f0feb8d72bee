//! Single records, with what a request includes in them.

use catalog::Issues;
use catalog::json::{ComposedRecord, FieldSet, Fields};
use data::Table;
use data::vocabulary::Vocabulary;
use transport::problem::Problem;
use transport::telemetry::RouteGroup;

use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::finish_response;
use crate::include::{self, Include};
use crate::openapi::vocabulary::{include_name, vocabulary};
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse, Version};

struct RecordRequest {
    table: Table,
    row: u32,
    include: Vec<Include>,
    warnings: Issues,
}

pub(super) const fn of_table(table: Table) -> Endpoint {
    Endpoint {
        record: Some(table),
        add_schemas: |endpoint, schemas| {
            let names: Vec<&str> = endpoint.includes().iter().map(|include| include.name()).collect();
            if let Some(table) = endpoint.record.filter(|_| !names.is_empty()) {
                schemas.insert(include_name(table), vocabulary("A related list.", &names));
            }
        },
        group: RouteGroup::Record,
        ..Endpoint::new(table.model(), parse)
    }
}

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    let (table, slug) = url.route.record().zip(url.slug).expect("the path of a record has a slug");
    let row = url.find_row(table, slug)?;
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
        ComposedRecord::new(&request.catalog, table, row).write(&mut body, &fields, true);
        include::append_to(&mut body, &request.catalog, table, row, &self.include);
        let mut warnings = self.warnings.report(&request.catalog);
        if request.version == Version::V3 {
            warnings.extend(request.catalog.notes_on_record(table, row));
        }
        Ok(finish_response(request, body, &warnings))
    }

    fn add_warnings(&mut self, issues: Issues) {
        self.warnings.extend(issues);
    }
}
