//! Errors as `application/problem+json` (RFC 9457), each with its cause, its location and its remedy.

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, Response, StatusCode};
use serde::Serialize;

use crate::RequestId;
use crate::headers::set;
use auth::AuthError;
use auth::quota::{BatchRefused, Quota};
use data::ParameterError;
use data::field::model;
use data::rfc3339;

/// `Retry-After` of [`Code::SlowDown`] in seconds.
pub const SLOW_DOWN_SECONDS: u64 = 5;
/// Detail of [`Code::SlowDown`]: this server has used up its units of the quota, and the store does not answer.
pub const SLOW_DOWN: &str =
    "quotas cannot be checked at the moment, and the requests admitted until then are used up; retry in some seconds";
/// Detail of [`Code::NotReady`]: the store does not answer.
pub const QUOTA_UNKNOWN: &str = "quotas cannot be checked at the moment; retry in some seconds";

/// Declares the codes: one row each, ordered by status.
macro_rules! codes {
    ($($code:ident => $name:literal, $status:literal, $title:literal, $explanation:literal;)*) => {
        /// A stable error code, documented by [`explanation`](Code::explanation).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Code {
            $($code,)*
        }

        impl Code {
            pub const ALL: [Self; [$($status),*].len()] = [$(Self::$code),*];

            /// Name, status, title, explanation.
            fn facts(self) -> (&'static str, u16, &'static str, &'static str) {
                match self {
                    $(Self::$code => ($name, $status, $title, $explanation),)*
                }
            }
        }
    };
}

codes! {
    Moved => "moved", 301, "Moved",
        "The record was merged into another one: `Location` has the same request with its slug, and so has \
         `did_you_mean`.";
    UnknownParameter => "unknown_parameter", 400, "Unknown parameter",
        "The endpoint has no such parameter. `errors` has its name, the most similar parameter and all accepted \
         ones. v1 and v2 ignore it and add a warning.";
    InvalidParameter => "invalid_parameter", 400, "Invalid parameter",
        "A value is not of its parameter's type or range, such as an impossible date; is empty; begins with a sign \
         or operator; or contradicts another, such as `since` after `until`.";
    UnknownValue => "unknown_value", 400, "Unknown value",
        "A value is not in its vocabulary. `did_you_mean` has the most similar value. v1 and v2 ignore the value and \
         add a warning.";
    AmbiguousValue => "ambiguous_value", 400, "Ambiguous value",
        "Several records have this name; `accepted` has their slugs. v1 and v2 ignore the value and add a warning.";
    UnknownField => "unknown_field", 400, "Unknown field",
        "`fields` names a field that the record does not have; `accepted` lists all.";
    InvalidCursor => "invalid_cursor", 400, "Invalid cursor",
        "The cursor is not from this list, or was changed or truncated. Pass `pagination.next_cursor` unmodified, or \
         restart without `cursor`.";
    CursorMismatch => "cursor_mismatch", 400, "Cursor and parameters disagree",
        "A cursor carries its query. Omit filters and sort, or repeat them unchanged; `limit` and `fields` may \
         change.";
    KeyInUrl => "key_in_url", 400, "API key in the URL",
        "URLs are stored in logs and histories. Revoke the key, create another, and send it in the `Authorization` \
         header.";
    InvalidJson => "invalid_json", 400, "Invalid JSON",
        "The request body is not JSON.";
    InvalidRequest => "invalid_request", 400, "Invalid request",
        "The request is not valid HTTP/1.1, for example because it has no `Host` header.";
    MissingApiKey => "missing_api_key", 401, "API key missing",
        "Every REST request needs the header `Authorization: Bearer <key>`. Keys are free.";
    MalformedApiKey => "malformed_api_key", 401, "API key malformed",
        "A key is `vdx_` and 36 letters and digits, of which the last six are a checksum. Copy the full key again.";
    InvalidApiKey => "invalid_api_key", 401, "API key invalid",
        "The key is well-formed, but unknown to this service.";
    RevokedApiKey => "revoked_api_key", 401, "API key revoked",
        "The key was revoked. Create another.";
    ExpiredApiKey => "expired_api_key", 401, "API key expired",
        "The key was created with an expiry, or was rotated and its overlap has ended. Use its successor, or create \
         another.";
    AccountRequired => "account_required", 403, "Account required",
        "Saved searches, lists and alerts are those of the key's account. A key that the server prints at its start \
         has none: send a key that you created on your account page. A private service may show its pages to signed-in \
         accounts only.";
    Forbidden => "forbidden", 403, "Not permitted",
        "A form is not from a page of this service, the service does not offer sign-up, or the account may not do this yet.";
    NotFound => "not_found", 404, "Not found",
        "No record of the snapshot has this slug. `did_you_mean` has the most similar slugs.";
    UnknownRoute => "unknown_route", 404, "Unknown path",
        "The API has no such path in this version. `did_you_mean` has a similar path, if there is one.";
    MethodNotAllowed => "method_not_allowed", 405, "Method not allowed",
        "Most of the REST API is read-only: GET and HEAD. `Allow` lists the methods of the path.";
    NotAcceptable => "not_acceptable", 406, "Not acceptable",
        "The client accepts no content type of the response.";
    Gone => "gone", 410, "Gone",
        "The record is no longer in the data, and its slug is not given to another one. `detail` has its last name. \
         Versions 1 and 2 respond with `not_found`.";
    CursorExpired => "cursor_expired", 410, "Cursor expired",
        "The snapshot of the cursor has expired. Restart without `cursor`.";
    SnapshotNotHeld => "snapshot_not_held", 410, "Snapshot not held",
        "`snapshot` names a release that the service does not hold, or no longer. `accepted` lists those that it \
         holds, and so does `/api/v3/snapshots`. Omit `snapshot` for the release that is served.";
    PreconditionFailed => "precondition_failed", 412, "Precondition failed",
        "`If-Match` compares strongly, and every `ETag` of the API is weak, so only `If-Match: *` is met. To fetch a \
         response only if it has changed, send its `ETag` as `If-None-Match`.";
    BodyTooLarge => "body_too_large", 413, "Body too large",
        "The request body exceeds the limit.";
    UrlTooLong => "url_too_long", 414, "URL too long",
        "The URL exceeds 24 KB, or its filters do not fit into a cursor. Request fewer values at a time.";
    UnsupportedMediaType => "unsupported_media_type", 415, "Unsupported media type",
        "Send `Content-Type: application/json`; `/resolve` also takes `text/csv`.";
    MisdirectedRequest => "misdirected_request", 421, "Unknown host",
        "The service is not known by the `Host` of the request. Use its public URL.";
    QuotaExceeded => "quota_exceeded", 429, "Daily quota reached",
        "The key's requests of the day are used up, or what an address and its network have for a day without a key. \
         `resets_at` and `Retry-After` say when the quota resets (00:00 UTC). A 304 is not counted.";
    TooManyRequests => "too_many_requests", 429, "Too many requests",
        "The network address, or the account, has reached a limit of pages, forms or sign-ins. Retry after \
         `Retry-After`.";
    SlowDown => "slow_down", 429, "Slow down",
        "The service cannot check quotas at the moment. Until it can, it admits only some requests of each key. \
         Retry after `Retry-After`.";
    HeadTooLarge => "head_too_large", 431, "Request head too large",
        "The URL and headers together exceed 32 KB.";
    InternalError => "internal_error", 500, "Internal error",
        "The service failed. The request was not counted; please report its `request_id`.";
    NotReady => "not_ready", 503, "Not ready",
        "The service has no release of the data to serve yet, or not yet that of the cursor, or cannot check keys \
         and quotas at the moment. Retry after `Retry-After`.";
    Overloaded => "overloaded", 503, "Overloaded",
        "The service is overloaded. Retry after `Retry-After`.";
}

impl Code {
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.facts().1).expect("a status of the table")
    }

    pub fn title(self) -> &'static str {
        self.facts().2
    }

    pub fn explanation(self) -> &'static str {
        self.facts().3
    }

    /// True for codes of the REST API; the others belong to requests with a body and to pages.
    pub fn is_of_rest(self) -> bool {
        let is_of_body = matches!(self, Self::InvalidJson | Self::BodyTooLarge | Self::UnsupportedMediaType);
        !is_of_body && !matches!(self, Self::Forbidden | Self::TooManyRequests)
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

const MAX_ERRORS: usize = 20;

#[derive(Debug)]
pub struct Problem {
    pub code: Code,
    pub detail: String,
    pub errors: Vec<ParameterError>,
    /// The most similar slugs for an unknown record, the most similar path for an unknown path.
    pub did_you_mean: Vec<String>,
    /// The methods of the path, if the request used another one.
    pub allow: Option<&'static str>,
    /// New location of the response, if the record was merged into another.
    pub location: Option<Box<str>>,
    pub quota: Option<Box<UsedUp>>,
}

model! {
    /// An exhausted quota.
    #[derive(Clone, Debug, Serialize)]
    pub struct UsedUp {
        /// Requests per day, if the quota is exceeded.
        pub limit: u32,
        /// When the quota resets, if it is exceeded.
        pub resets_at: String [date_time],
        /// The key's tier, if the quota is exceeded.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tier: Option<&'static str> [one_of("Tier"), optional],
        /// Requests that this one counts as, if there are fewer left than that.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub needed: Option<u32> [optional],
    }

    /// An error (RFC 9457).
    #[derive(Serialize)]
    pub struct ProblemBody<'a> as "Problem" {
        /// Documentation of the code.
        r#type: String [uri],
        /// The code in words.
        title: &'static str,
        /// The HTTP status.
        status: u16 [range(301, 599)],
        /// What is wrong with this request, and how to fix it.
        detail: &'a str,
        /// The path of the request.
        instance: &'a str,
        /// The stable code.
        code: &'static str,
        /// The request's id; the same as `X-Request-Id`.
        request_id: &'a str,
        /// What is wrong with each parameter.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        errors: &'a [ParameterError] [optional],
        /// The nearest slugs for an unknown record, the nearest path below the version for an unknown path.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        did_you_mean: &'a [String] [optional],
        #[serde(flatten)]
        quota: Option<&'a UsedUp> [flat],
    }
}

impl From<BatchRefused> for Problem {
    fn from(refused: BatchRefused) -> Self {
        Self::new(Code::Overloaded, refused.to_string())
    }
}

impl From<AuthError> for Problem {
    fn from(error: AuthError) -> Self {
        let code = Code::named(error.code()).expect("every authentication error has a code of the API");
        Self::new(code, error.to_string())
    }
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            did_you_mean: Vec::new(),
            allow: None,
            location: None,
            quota: None,
        }
    }

    pub fn of_parameter(error: ParameterError) -> Self {
        let code = Code::named(error.code).unwrap_or(Code::InvalidParameter);
        Self { errors: vec![error.clone()], ..Self::new(code, error.detail) }
    }

    /// Errors of parameters; the first determines the code.
    pub fn of_parameters(mut errors: Vec<ParameterError>) -> Self {
        errors.truncate(MAX_ERRORS);
        let code = errors.first().and_then(|error| Code::named(error.code)).unwrap_or(Code::InvalidParameter);
        let details = errors.iter().map(|error| match &error.did_you_mean {
            Some(suggestion) => format!("`{}`: {}; did you mean `{suggestion}`?", error.parameter, error.detail),
            None => format!("`{}`: {}", error.parameter, error.detail),
        });
        let detail = details.collect::<Vec<_>>().join(" · ");
        Self { errors, ..Self::new(code, detail) }
    }

    pub fn quota_unknown() -> Self {
        Self::new(Code::NotReady, QUOTA_UNKNOWN)
    }

    pub fn slow_down() -> Self {
        Self::new(Code::SlowDown, SLOW_DOWN)
    }

    pub fn quota_exceeded(quota: &Quota, used_by_others: &str) -> Self {
        let limit = quota.limit.expect("an unlimited quota is never exceeded");
        let resets_at = rfc3339(quota.resets_at);
        let tier = quota.tier.map(|tier| tier.name());
        let detail = format!("daily quota of {limit} requests exceeded{used_by_others}; resets at {resets_at}");
        let quota = Some(Box::new(UsedUp { limit, resets_at, tier, needed: None }));
        Self { quota, ..Self::new(Code::QuotaExceeded, detail) }
    }

    /// Says that the request counts as several.
    pub fn with_needed(mut self, requests: u32) -> Self {
        if let Some(quota) = self.quota.as_mut().filter(|_| requests > 1) {
            self.detail.push_str(&format!("; this request counts as {requests}"));
            quota.needed = Some(requests);
        }
        self
    }

    /// The body as JSON. `instance` is the path of the request.
    pub fn body(&self, base: &str, instance: &str, request_id: &str) -> Vec<u8> {
        let body = ProblemBody {
            r#type: format!("{base}/docs/errors#{}", self.code.name()),
            title: self.code.title(),
            status: self.code.status().as_u16(),
            detail: &self.detail,
            instance,
            code: self.code.name(),
            request_id,
            errors: &self.errors,
            did_you_mean: &self.did_you_mean,
            quota: self.quota.as_deref(),
        };
        serde_json::to_vec(&body).expect("the body is JSON")
    }

    /// A page without style or links, for browsers that get no page of the site.
    pub fn html(&self) -> String {
        let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('`', "");
        let (title, detail) = (self.code.title(), escaped(&self.detail));
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width\">\n<meta name=\"robots\" content=\"noindex\">\n<title>{title}</title>\n\
             <h1>{title}</h1>\n<p>{}{}.</p>\n</html>\n",
            detail.chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default(),
            detail.chars().skip(1).collect::<String>()
        )
    }

    /// The response to a request for `path`, without the common headers. `quota` is the caller's at `now` (Unix
    /// seconds). A path that contains a key is not repeated.
    pub fn response(&self, base: &str, path: &str, id: RequestId, quota: Option<&Quota>, now: i64) -> Response<Bytes> {
        let instance = if self.code == Code::KeyInUrl { "/" } else { path };
        let mut response = Response::new(Bytes::from(self.body(base, instance, &id.to_string())));
        *response.status_mut() = self.code.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if self.code.status() == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if let Some(location) = &self.location {
            set(headers, LOCATION, location);
        }
        let retry_after = match self.code {
            Code::QuotaExceeded => quota.map(|quota| quota.seconds_left(now).max(1)),
            Code::SlowDown => Some(SLOW_DOWN_SECONDS),
            Code::NotReady | Code::Overloaded => Some(1),
            _ => None,
        };
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_found_by_its_name() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.name()), Some(code));
            assert!(code == Code::Moved || code.status().is_client_error() || code.status().is_server_error());
        }
    }
}
