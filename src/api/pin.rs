//! The parameters `snapshot` and `as_of` of v3: they pin a request to a loaded release other than the served one.
//!
//! They are parsed first, because validation, `ETag`, cache and headers all depend on the release.

use std::sync::Arc;

use catalog::param_error::shortened;
use catalog::parse::scalars::{Bound, parse_date};
use catalog::{Catalog, CursorFault, ParameterError};
use data::SnapshotVersion;
use service::State;
use transport::RequestParts;

use crate::Version;
use crate::request::RequestError;
use crate::routes::split_version;
use crate::window::single_value;

pub(crate) const SNAPSHOT: &str = "snapshot";
/// The parameter that selects the newest release of a day or before; a withdrawn one is selected by `snapshot` only.
pub(crate) const AS_OF: &str = "as_of";
pub(crate) const PIN: [&str; 2] = [SNAPSHOT, AS_OF];

/// The release that a request names; `None` if it names none.
pub(crate) type Pin = Result<Option<Arc<Catalog>>, RequestError>;

pub(crate) fn find_release(state: &State, request: &RequestParts<'_>) -> Pin {
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
        return Err(errors.into());
    }
    if let Some(text) = version {
        let version = parse_version(SNAPSHOT, text, state.releases.serving().version()).map_err(|error| vec![error])?;
        let (loaded, is_expected) = state.releases.look_up(version, false);
        return loaded.map(Some).ok_or_else(|| match is_expected {
            true => RequestError::Cursor(CursorFault::NotYetHeld(version)),
            false => RequestError::not_held(state, SNAPSHOT, version),
        });
    }
    let Some(text) = day else { return Ok(None) };
    let day = parse_date(text, Bound::Max)
        .map_err(|detail| vec![ParameterError::invalid(AS_OF, format!("`{}` {detail}", shortened(text)))])?;
    state.releases.as_of(day).map(Some).ok_or_else(|| RequestError::not_held(state, AS_OF, format_args!("of {day}")))
}

/// Reads the version of a release from a parameter. The error gives the one that is `served` as an example.
pub(crate) fn parse_version(name: &str, raw: &str, served: SnapshotVersion) -> Result<SnapshotVersion, ParameterError> {
    raw.parse::<SnapshotVersion>().map_err(|_| {
        let detail =
            format!("`{}` is not a snapshot version of the form YYYY-MM-DD.N, such as {served}", shortened(raw));
        ParameterError::invalid(name, detail)
    })
}
