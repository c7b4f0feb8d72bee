//! The parameters `snapshot` and `as_of` of v3: they pin a request to a loaded release other than the served one.
//!
//! They are parsed first, because validation, `ETag`, cache and headers all depend on the release.

use std::sync::Arc;

use catalog::param_error::shortened;
use catalog::parse::scalars::{Bound, parse_date};
use catalog::{Catalog, ParameterError};
use data::{Date, SnapshotVersion};
use service::State;
use transport::RequestParts;

use crate::Version;
use crate::request::RequestError;
use crate::routes::split_version;
use crate::window::single_value;

/// The parameter that names a release.
pub(crate) const SNAPSHOT: &str = "snapshot";
/// The parameter that selects the newest release of a day or before.
pub(crate) const AS_OF: &str = "as_of";
pub(crate) const PIN: [&str; 2] = [SNAPSHOT, AS_OF];

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
    /// Other replicas may already serve it.
    NotYetHeld(SnapshotVersion),
    NotHeld {
        version: SnapshotVersion,
        /// The loaded releases.
        held: Vec<SnapshotVersion>,
    },
    /// All loaded releases are newer.
    TooEarly {
        day: Date,
        held: Vec<SnapshotVersion>,
    },
}

impl Pin {
    pub(crate) fn from_request(state: &State, request: &RequestParts<'_>) -> Self {
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
    let named = form_urlencoded::parse(request.query.as_bytes()).filter(|(name, _)| PIN.contains(&name.as_ref()));
    let named: Vec<(String, String)> = named.map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
    let mut errors = Vec::new();
    let version = single_value(&named, SNAPSHOT, &mut errors);
    let day = single_value(&named, AS_OF, &mut errors);
    if version.is_some() && day.is_some() {
        let detail = format!("`{SNAPSHOT}` and `{AS_OF}` both select a release; omit one");
        errors.push(ParameterError::invalid(AS_OF, detail));
    }
    if !errors.is_empty() {
        return Err(PinError::Invalid(errors));
    }
    match (version, day) {
        (Some(text), _) => named_release(state, text).map(Some),
        (None, Some(text)) => release_of(state, text).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads the version of a release from a parameter. The error gives the one that is `served` as an example.
pub(crate) fn parse_version(
    parameter: &str,
    text: &str,
    served: SnapshotVersion,
) -> Result<SnapshotVersion, ParameterError> {
    text.parse::<SnapshotVersion>().map_err(|_| {
        let detail =
            format!("`{}` is not a snapshot version of the form YYYY-MM-DD.N, such as {served}", shortened(text));
        ParameterError::invalid(parameter, detail)
    })
}

fn named_release(state: &State, text: &str) -> Result<Arc<Catalog>, PinError> {
    let version = parse_version(SNAPSHOT, text, state.releases.serving().version());
    let version = version.map_err(|error| PinError::Invalid(vec![error]))?;
    let (loaded, is_expected) = state.releases.look_up(version, false);
    loaded.ok_or_else(|| match is_expected {
        true => PinError::NotYetHeld(version),
        false => PinError::NotHeld { version, held: versions(&state.releases.all()) },
    })
}

/// The newest loaded release of a day or earlier.
fn release_of(state: &State, text: &str) -> Result<Arc<Catalog>, PinError> {
    let day = parse_date(text, Bound::Max).map_err(|detail| {
        PinError::Invalid(vec![ParameterError::invalid(AS_OF, format!("`{}` {detail}", shortened(text)))])
    })?;
    let loaded = state.releases.all();
    let until = loaded.iter().filter(|catalog| catalog.snapshot().released_on() <= day);
    let newest = until.max_by_key(|catalog| (catalog.snapshot().released_on(), catalog.version()));
    newest.cloned().ok_or_else(|| PinError::TooEarly { day, held: versions(&loaded) })
}

fn versions(loaded: &[Arc<Catalog>]) -> Vec<SnapshotVersion> {
    loaded.iter().map(|catalog| catalog.version()).collect()
}

impl PinError {
    /// Converts to the error of the request. Includes the errors of its other parameters, which were parsed against the
    /// served release.
    pub(crate) fn join_error(&self, other: Option<RequestError>) -> RequestError {
        match (self, other) {
            (Self::Invalid(errors), other) => RequestError::joined(errors.clone(), other),
            (Self::NotYetHeld(version), _) => RequestError::NotYetHeld(*version),
            (Self::NotHeld { version, held }, _) => {
                RequestError::SnapshotNotHeld { parameter: SNAPSHOT, named: version.to_string(), held: held.clone() }
            }
            (Self::TooEarly { day, held }, _) => {
                RequestError::SnapshotNotHeld { parameter: AS_OF, named: format!("of {day}"), held: held.clone() }
            }
        }
    }
}
