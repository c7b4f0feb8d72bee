//! `GET /stats`: totals of the snapshot.

use catalog::Totals;
use data::field::{Definition, Model};
use transport::problem::Problem;

use crate::endpoint::{ApiEndpoint, ApiOperation, ParsedOperation};
use crate::envelope::sorted_response;
use crate::request::RequestUrl;
use crate::{ApiRequest, ApiResponse};

pub(super) struct StatsEndpoint;

impl ApiEndpoint for StatsEndpoint {
    fn parse(&self, url: &RequestUrl<'_>) -> ParsedOperation {
        url.unknown_names()?;
        Ok(Box::new(Self))
    }

    fn item(&self) -> &'static Definition {
        Totals::DEFINITION
    }
}

impl ApiOperation for StatsEndpoint {
    fn searches(&self) -> bool {
        false
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        sorted_response::<Totals>(request, request.catalog.totals(), &[])
    }
}
