//! `GET /snapshots`: the loaded releases, newest first.

use serde::Serialize;

use data::field::{Model, SNAPSHOT, model};
use data::{Counts, Date};
use transport::problem::Problem;

use crate::endpoint::{Endpoint, parse_service};
use crate::envelope::sorted_response;
use crate::{ApiRequest, ApiResponse};

model! {
    /// An available release of the data.
    #[derive(Serialize)]
    struct ListedRelease<'a> as "Release" {
        /// The snapshot's version.
        version: String [pattern(SNAPSHOT)],
        /// Date of the release.
        released_on: Date,
        /// A short description of the data.
        title: &'a str,
        /// Where the data comes from.
        source: &'a str,
        /// Terms of use.
        license: &'a str,
        /// Whether requests without a cursor are answered from it.
        serving: bool,
        /// Whether it is the snapshot in the program, because no release is published.
        bundled: bool,
        /// Checksum of the content.
        checksum: String [pattern("^[0-9a-f]{16}$")],
        counts: Counts,
    }
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    is_list: true,
    is_cacheable: false,
    ..Endpoint::new(ListedRelease::DEFINITION, |url| parse_service(url, respond))
};

fn respond(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let catalogs = request.state.releases.all();
    let serving = request.state.releases.serving().version();
    let releases = catalogs.iter().map(|catalog| {
        let snapshot = catalog.snapshot();
        ListedRelease {
            version: snapshot.version().to_string(),
            released_on: snapshot.released_on(),
            title: snapshot.title(),
            source: snapshot.source(),
            license: snapshot.license(),
            serving: snapshot.version() == serving,
            bundled: catalog.is_bundled(),
            checksum: format!("{:016x}", snapshot.content()),
            counts: Counts { reviews: catalog.totals().reviews, ..snapshot.counts() },
        }
    });
    sorted_response::<ListedRelease<'_>>(request, &releases.collect::<Vec<_>>(), &[])
}
