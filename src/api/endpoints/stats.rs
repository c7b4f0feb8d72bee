//! `GET /stats`: totals of the snapshot.

use catalog::Totals;
use data::field::Model;

use crate::endpoint::ServiceEndpoint;
use crate::envelope::sorted_response;

pub(super) const ENDPOINT: ServiceEndpoint = ServiceEndpoint::new(Totals::DEFINITION, |request| {
    sorted_response::<Totals>(request, request.catalog.totals(), &[])
});
