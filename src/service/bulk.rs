//! Downloads of bulk files: `/data/{version}/{file}`, whole or in part, so that an interrupted download can be resumed.
//! `/data/latest/{file}` redirects to the served release.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use http::header::{
    ACCEPT_RANGES, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, IF_MATCH, IF_RANGE,
    LOCATION, RANGE,
};
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::State;
use auth::Caller;
use auth::quota::{Denied, Quota};
use catalog::param_error::shortened;
use catalog::{BulkFile, Catalog};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Date, SnapshotVersion};
use transport::RequestParts;
use transport::body::{BodyError, ByteStream, Payload};
use transport::headers::{Caching, CommonHeaders, READS, authorization, if_none_match, preflight, set};
use transport::problem::{Code, Problem};
use transport::url::{KEY_IN_URL, has_key};

vocabulary! {
    /// Access to bulk files.
    #[derive(Default)]
    BulkAccess, "access", {
        /// Anyone, without limit.
        Open = "open",
        /// Callers with an API key; a download counts as a request.
        #[default]
        Key = "key",
        Off = "off",
    }
}

pub const PREFIX: &str = "/data/";
const LATEST: &str = "latest";

pub fn path_of(version: SnapshotVersion, file: &BulkFile) -> String {
    format!("{PREFIX}{version}/{}", file.name)
}

struct ReleaseFile {
    version: SnapshotVersion,
    file: Arc<BulkFile>,
    etag: String,
}

pub async fn respond(state: &Arc<State>, request: &RequestParts<'_>) -> Response<Payload> {
    let mut quota = None;
    let (mut response, caching) = match answer(state, request, &mut quota).await {
        Ok(response) => (response, None),
        Err(problem) => {
            let response = problem.response(&state.public_url, request.path, request.id, quota.as_ref(), state.now());
            (response.map(Payload::Whole), Some(Caching::Never))
        }
    };
    let common = CommonHeaders {
        id: Some(request.id),
        quota: quota.as_ref().map(|quota| (quota, state.now())),
        caching,
        is_cross_origin: true,
        public_url: Some(&state.public_url),
        ..CommonHeaders::default()
    };
    common.write(response.headers_mut());
    response
}

/// Checks in the order of REST: method, key in the URL, key, `If-None-Match`, quota, everything else.
async fn answer(
    state: &Arc<State>,
    request: &RequestParts<'_>,
    quota: &mut Option<Quota>,
) -> Result<Response<Payload>, Problem> {
    if *request.method == Method::OPTIONS {
        return Ok(preflight(READS).map(Payload::Whole));
    }
    if !request.is_read() {
        let detail = format!("bulk files are read-only: use GET or HEAD, not {}", request.method);
        return Err(Problem { allow: Some(READS), ..Problem::new(Code::MethodNotAllowed, detail) });
    }
    if has_key(request.path, request.query) {
        return Err(Problem::new(Code::KeyInUrl, KEY_IN_URL));
    }
    if state.bulk == BulkAccess::Off {
        return Err(Problem::new(Code::UnknownRoute, "this service does not offer bulk files"));
    }
    let path = request.path.strip_prefix(PREFIX).unwrap_or_default();
    let (release, name) = path.split_once('/').unwrap_or((path, ""));
    if release == LATEST {
        let served = state.releases.current();
        let file = find_file(&served, name)?;
        let mut response = Response::new(Payload::Whole(Bytes::new()));
        *response.status_mut() = StatusCode::FOUND;
        set(response.headers_mut(), LOCATION, &path_of(served.version(), file));
        CommonHeaders { caching: Some(Caching::Revalidated), ..CommonHeaders::default() }.write(response.headers_mut());
        return Ok(response);
    }
    let caller = if state.bulk == BulkAccess::Key { Some(authenticate(state, request, quota).await?) } else { None };
    let found = find_release_file(state, release, name);
    if let Ok(found) = &found
        && !request.headers.contains_key(IF_MATCH)
        && if_none_match(request.headers).any(|known| known == "*" || known == found.etag)
    {
        *quota = caller.map(|caller| state.auth.peek(&caller, state.today()));
        let mut response = Response::new(Payload::Whole(Bytes::new()));
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        write_validators(response.headers_mut(), state, found);
        return Ok(response);
    }
    if let Some(caller) = &caller {
        let taken = state.auth.take(caller, state.today()).map_err(|denied| {
            *quota = Some(denied.quota());
            match denied {
                Denied::Exceeded(used_up) => {
                    state.auth.audit_quota(caller, || state.origin(request));
                    Problem::quota_exceeded(&used_up, &state.auth.used_by_others(caller, &used_up))
                }
                Denied::Unchecked(_) => Problem::slow_down(),
                Denied::Unknown(_) => Problem::quota_unknown(),
            }
        });
        *quota = Some(taken?);
    }
    let checked = found.and_then(|found| match fails_if_match(request.headers, &found.etag) {
        true => {
            let detail = format!("the file is another than `If-Match` names; its `ETag` is {}", found.etag);
            Err(Problem::new(Code::PreconditionFailed, detail))
        }
        false => Ok(found),
    });
    let found = checked.inspect_err(|_| {
        if let (Some(caller), Some(charged)) = (&caller, quota.as_mut()) {
            *charged = state.auth.forgive_error(caller, *charged);
        }
    })?;
    Ok(download(state, request, found, caller))
}

fn download(
    state: &Arc<State>,
    request: &RequestParts<'_>,
    found: ReleaseFile,
    caller: Option<Caller>,
) -> Response<Payload> {
    let mut response = Response::new(Payload::Whole(Bytes::new()));
    let length = found.file.bytes;
    let (start, end) = match requested_range(request, &found) {
        RequestedRange::Whole => (0, length),
        RequestedRange::Part(start, end) => {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            set(response.headers_mut(), CONTENT_RANGE, &format!("bytes {start}-{}/{length}", end - 1));
            (start, end)
        }
        RequestedRange::Unsatisfiable => {
            *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
            set(response.headers_mut(), CONTENT_RANGE, &format!("bytes */{length}"));
            write_validators(response.headers_mut(), state, &found);
            return response;
        }
    };
    let headers = response.headers_mut();
    write_validators(headers, state, &found);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(&found.file.name)));
    set(headers, CONTENT_DISPOSITION, &format!("attachment; filename=\"{}\"", found.file.name));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(end - start));
    let taken = caller.map(|caller| (caller, state.today()));
    *response.body_mut() = Payload::Stream(stream_range(Arc::clone(state), found.file, start, end, taken));
    response
}

/// Streams the bytes from `start` to `end`, verified chunk by chunk. If that fails, the request is refunded.
fn stream_range(
    state: Arc<State>,
    file: Arc<BulkFile>,
    start: u64,
    end: u64,
    taken: Option<(Caller, Date)>,
) -> ByteStream {
    Box::pin(stream::unfold((state, start), move |(state, position)| {
        let file = Arc::clone(&file);
        async move {
            if position >= end {
                return None;
            }
            let chunk = tokio::task::spawn_blocking(move || file.read_chunk(position, end)).await;
            let chunk = chunk.map_err(BodyError::from).and_then(|chunk| chunk.map_err(BodyError::from));
            let next = match &chunk {
                Ok(chunk) => position + chunk.len() as u64,
                Err(_) => {
                    if let Some((caller, day)) = taken {
                        state.auth.give_back(&caller, day);
                    }
                    end
                }
            };
            Some((chunk, (state, next)))
        }
    }))
}

/// Writes the validator and the other headers that are the same for every response about a file.
fn write_validators(headers: &mut HeaderMap, state: &State, found: &ReleaseFile) {
    set(headers, ETAG, &found.etag);
    headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    let caching = if state.bulk == BulkAccess::Key { Caching::PrivateForever } else { Caching::Forever };
    CommonHeaders { caching: Some(caching), snapshot: Some(found.version), ..CommonHeaders::default() }.write(headers);
}

async fn authenticate(state: &State, request: &RequestParts<'_>, quota: &mut Option<Quota>) -> Result<Caller, Problem> {
    let (address, now) = (state.client(request.peer, request.headers), state.now());
    let caller =
        state.auth.authenticate_fresh(authorization(request.headers), address, now).await.map_err(|error| {
            *quota = Some(Quota::zero(state.today()));
            state.auth.audit_rejected_key(error, || state.origin(request));
            Problem::from(error)
        })?;
    request.trace.set_tier(caller.tier);
    Ok(caller)
}

fn find_release_file(state: &State, release: &str, name: &str) -> Result<ReleaseFile, Problem> {
    let version = release.parse::<SnapshotVersion>().ok().filter(|version| version.to_string() == release);
    let catalog = version.and_then(|version| state.releases.loaded(version)).ok_or_else(|| {
        let held: Vec<String> = state.releases.all().iter().map(|catalog| catalog.version().to_string()).collect();
        let detail = format!(
            "release `{}` is not held; held are {}, and `{PREFIX}{LATEST}/…` is the one that is served",
            shortened(release),
            held.join(", ")
        );
        Problem { did_you_mean: held, ..Problem::new(Code::NotFound, detail) }
    })?;
    let file = Arc::clone(find_file(&catalog, name)?);
    let etag = format!("\"{}\"", file.checksum());
    Ok(ReleaseFile { version: catalog.version(), file, etag })
}

fn find_file<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c Arc<BulkFile>, Problem> {
    let files = catalog.bulk_files();
    files.iter().find(|file| file.name == name).ok_or_else(|| {
        let version = catalog.version();
        let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
        let detail = match names.is_empty() {
            true => format!("release {version} has no bulk files; its operator makes them with `indexer build --bulk`"),
            false => format!("release {version} has no bulk file `{}`; it has {}", shortened(name), names.join(", ")),
        };
        Problem::new(Code::NotFound, detail)
    })
}

/// True if `If-Match` names another file; it compares strongly.
fn fails_if_match(headers: &HeaderMap, etag: &str) -> bool {
    let mut values = headers.get_all(IF_MATCH).iter().filter_map(|value| value.to_str().ok()).peekable();
    values.peek().is_some()
        && !values.flat_map(|value| value.split(',')).any(|known| matches!(known.trim(), "*") || known.trim() == etag)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RequestedRange {
    Whole,
    /// From the first byte to the last, exclusive.
    Part(u64, u64),
    Unsatisfiable,
}

/// The part of the file requested by a GET. `Range` is ignored if `If-Range` names another file.
fn requested_range(request: &RequestParts<'_>, found: &ReleaseFile) -> RequestedRange {
    let mut ranges = request.headers.get_all(RANGE).iter();
    let (Some(range), None, true) = (ranges.next(), ranges.next(), *request.method == Method::GET) else {
        return RequestedRange::Whole;
    };
    let is_same = request.headers.get(IF_RANGE).is_none_or(|known| known.as_bytes() == found.etag.as_bytes());
    match range.to_str() {
        Ok(range) if is_same => parse_range(range, found.file.bytes),
        _ => RequestedRange::Whole,
    }
}

/// Parses `Range` for a file of `length` bytes. Malformed and multiple ranges are ignored, as RFC 9110 allows.
fn parse_range(text: &str, length: u64) -> RequestedRange {
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().unwrap_or(u64::MAX))
    };
    let range = text.split_once('=').filter(|(unit, _)| unit.trim().eq_ignore_ascii_case("bytes"));
    let Some((first, last)) = range.and_then(|(_, range)| range.trim().split_once('-')) else {
        return RequestedRange::Whole;
    };
    let (start, end) = match (number(first), number(last)) {
        (Some(first), None) if last.is_empty() => (first, length),
        (Some(first), Some(last)) if first <= last => (first, last.saturating_add(1).min(length)),
        (None, Some(0)) if first.is_empty() => return RequestedRange::Unsatisfiable,
        (None, Some(count)) if first.is_empty() => (length.saturating_sub(count), length),
        _ => return RequestedRange::Whole,
    };
    if start < length { RequestedRange::Part(start, end) } else { RequestedRange::Unsatisfiable }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        _ if matches!(name, "croissant.json" | "dcat.json") => "application/ld+json",
        Some((_, "json")) => "application/json",
        Some((_, "csv")) => "text/csv; charset=utf-8; header=present",
        Some((_, "gz")) => "application/gzip",
        Some((_, "zst")) => "application/zstd",
        Some((_, "parquet")) => "application/vnd.apache.parquet",
        Some((_, "sql")) => "application/sql",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_is_understood() {
        use RequestedRange::{Part, Unsatisfiable, Whole};
        for (text, expected) in [
            ("bytes=0-0", Part(0, 1)),
            ("bytes=10-", Part(10, 100)),
            ("Bytes = 10-19", Part(10, 20)),
            ("bytes=90-200", Part(90, 100)),
            ("bytes=99-99999999999999999999999", Part(99, 100)),
            ("bytes=-5", Part(95, 100)),
            ("bytes=-500", Part(0, 100)),
            ("bytes=100-", Unsatisfiable),
            ("bytes=99999999999999999999999-", Unsatisfiable),
            ("bytes=-0", Unsatisfiable),
            ("bytes=5-4", Whole),
            ("bytes=0-1,5-6", Whole),
            ("bytes=", Whole),
            ("bytes=-", Whole),
            ("bytes=+1-2", Whole),
            ("lines=1-2", Whole),
            ("0-1", Whole),
        ] {
            assert_eq!(parse_range(text, 100), expected, "{text}");
        }
        assert_eq!((parse_range("bytes=0-", 0), parse_range("bytes=-5", 0)), (Unsatisfiable, Unsatisfiable));
    }
}
