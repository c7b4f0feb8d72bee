//! `GET /stats`: totals of the snapshot.

use catalog::Totals;
use data::field::Model;

use crate::endpoint::{Endpoint, parse_service};
use crate::envelope::sorted_response;

pub(super) const ENDPOINT: Endpoint = Endpoint::new(Totals::DEFINITION, |url| {
    parse_service(url, |request| sorted_response::<Totals>(request, request.catalog.totals(), &[]))
});
