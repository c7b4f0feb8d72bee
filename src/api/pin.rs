//! The parameter `snapshot` of v3: a request to a loaded release other than the one that is served.
//!
//! It is read first, because validation, `ETag`, cache and headers all depend on the release.

use std::sync::Arc;

use crate::catalog::param_error::shortened;
use crate::catalog::{Catalog, ParameterError};
use crate::data::SnapshotVersion;
use crate::http::{RequestParts, State};

use crate::api::Version;
use crate::api::request::RequestError;
use crate::api::routes::split_version;
use crate::api::window::single_value;

/// The name of the parameter.
pub(crate) const SNAPSHOT: &str = "snapshot";

/// The release that a request names.
#[derive(Default)]
pub(crate) struct Pin {
    /// `None` if the request names no release, or not a loaded one.
    pub release: Option<Arc<Catalog>>,
    pub error: Option<PinError>,
}

#[derive(Clone, Debug)]
pub(crate) enum PinError {
    Invalid(Vec<ParameterError>),
    NotHeld {
        version: SnapshotVersion,
        /// The loaded releases.
        held: Vec<SnapshotVersion>,
    },
}

impl Pin {
    pub(crate) fn of(state: &State, request: &RequestParts<'_>) -> Self {
        match release(state, request) {
            Ok(release) => Self { release, error: None },
            Err(error) => Self { release: None, error: Some(error) },
        }
    }
}

fn release(state: &State, request: &RequestParts<'_>) -> Result<Option<Arc<Catalog>>, PinError> {
    if request.query.is_empty() || split_version(request.path).0 != Some(Version::V3) {
        return Ok(None);
    }
    let named = form_urlencoded::parse(request.query.as_bytes()).filter(|(name, _)| name == SNAPSHOT);
    let named: Vec<(String, String)> = named.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let mut errors = Vec::new();
    let text = single_value(&named, SNAPSHOT, &mut errors);
    if !errors.is_empty() {
        return Err(PinError::Invalid(errors));
    }
    let Some(text) = text else { return Ok(None) };
    let Ok(version) = text.parse::<SnapshotVersion>() else {
        let served = state.releases.serving().version();
        let detail =
            format!("`{}` is not a snapshot version of the form YYYY-MM-DD.N, such as {served}", shortened(text));
        return Err(PinError::Invalid(vec![ParameterError::invalid(SNAPSHOT, detail)]));
    };
    state.releases.loaded(version).map(Some).ok_or_else(|| {
        let held = state.releases.all().iter().map(|catalog| catalog.version()).collect();
        PinError::NotHeld { version, held }
    })
}

impl PinError {
    /// The error of the request, with those of its other parameters, which were parsed against the served release.
    pub(crate) fn with(&self, other: Option<RequestError>) -> RequestError {
        match (self, other) {
            (Self::Invalid(errors), Some(RequestError::Parameters(mut issues))) => {
                issues.extend(errors.clone().into());
                RequestError::Parameters(issues)
            }
            (Self::Invalid(errors), _) => errors.clone().into(),
            (Self::NotHeld { version, held }, _) => {
                RequestError::SnapshotNotHeld { version: *version, held: held.clone() }
            }
        }
    }
}
