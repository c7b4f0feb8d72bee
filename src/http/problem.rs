//! Errors as `application/problem+json` (RFC 9457): what is wrong, where, and how to mend it.

use http::StatusCode;
use serde::Serialize;

use crate::catalog::ParameterError;
use crate::data::field::model;

/// A stable error code with its status and its explanation in the docs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// A parameter that the endpoint does not have.
    UnknownParameter,
    /// A value that is none of its type, or out of range.
    InvalidParameter,
    /// A value that a vocabulary does not hold.
    UnknownValue,
    /// A field that a record does not have.
    UnknownField,
    /// A cursor that was not made here or was changed.
    InvalidCursor,
    /// A cursor beside parameters that it was not made with.
    CursorMismatch,
    /// An API key in the address.
    KeyInUrl,
    /// A body that is not JSON.
    InvalidJson,
    /// Bytes that are no HTTP request.
    InvalidRequest,
    /// No key.
    MissingApiKey,
    /// A key that cannot be one.
    MalformedApiKey,
    /// A key that nobody was given.
    InvalidApiKey,
    /// A key that was revoked.
    RevokedApiKey,
    /// No record of this slug.
    NotFound,
    /// No such path.
    UnknownRoute,
    /// A path that only reads.
    MethodNotAllowed,
    /// No representation that the client accepts.
    NotAcceptable,
    /// A cursor whose release is not held any more.
    CursorExpired,
    /// A body above the limit.
    BodyTooLarge,
    /// A body of another type.
    UnsupportedMediaType,
    /// An address above the limit.
    UrlTooLong,
    /// A request's head above the limit.
    HeadTooLarge,
    /// The day's requests are used up.
    QuotaExceeded,
    /// Something went wrong here.
    InternalError,
    /// The service is starting.
    NotReady,
    /// The service has too much to do.
    Overloaded,
}

impl Code {
    /// All codes, in the order of their statuses.
    pub const ALL: [Self; 26] = [
        Self::UnknownParameter,
        Self::InvalidParameter,
        Self::UnknownValue,
        Self::UnknownField,
        Self::InvalidCursor,
        Self::CursorMismatch,
        Self::KeyInUrl,
        Self::InvalidJson,
        Self::InvalidRequest,
        Self::MissingApiKey,
        Self::MalformedApiKey,
        Self::InvalidApiKey,
        Self::RevokedApiKey,
        Self::NotFound,
        Self::UnknownRoute,
        Self::MethodNotAllowed,
        Self::NotAcceptable,
        Self::CursorExpired,
        Self::BodyTooLarge,
        Self::UrlTooLong,
        Self::UnsupportedMediaType,
        Self::QuotaExceeded,
        Self::HeadTooLarge,
        Self::InternalError,
        Self::NotReady,
        Self::Overloaded,
    ];

    /// Code, status, title and the explanation that the docs give.
    fn facts(self) -> (&'static str, u16, &'static str, &'static str) {
        match self {
            Self::UnknownParameter => (
                "unknown_parameter",
                400,
                "Unknown parameter",
                "The endpoint has no such parameter. `errors` names it, the nearest that exists, and all that are \
                 accepted. v1 and v2 answer and add a warning instead.",
            ),
            Self::InvalidParameter => (
                "invalid_parameter",
                400,
                "Invalid parameter",
                "A value is not of its parameter's type or range, such as a date that is none.",
            ),
            Self::UnknownValue => (
                "unknown_value",
                400,
                "Unknown value",
                "A value is not in its vocabulary. `did_you_mean` has the nearest that is. v1 and v2 leave the value out \
                 and add a warning instead.",
            ),
            Self::UnknownField => (
                "unknown_field",
                400,
                "Unknown field",
                "`fields` names a field that the record does not have; `accepted` lists all.",
            ),
            Self::InvalidCursor => (
                "invalid_cursor",
                400,
                "Invalid cursor",
                "The cursor was not made by this endpoint, or was changed or cut on its way. Take it whole from \
                 `pagination.next_cursor`, or begin again without one.",
            ),
            Self::CursorMismatch => (
                "cursor_mismatch",
                400,
                "Cursor and parameters disagree",
                "A cursor carries its query. Leave filters and sort out beside it, or give the same; `limit` and `fields` \
                 may change.",
            ),
            Self::KeyInUrl => (
                "key_in_url",
                400,
                "API key in the URL",
                "Addresses end up in logs and histories. Revoke that key, make another, and send it in the \
                 `Authorization` header.",
            ),
            Self::InvalidJson => ("invalid_json", 400, "Invalid JSON", "The request's body is not JSON."),
            Self::InvalidRequest => (
                "invalid_request",
                400,
                "Invalid request",
                "The request is no HTTP/1.1 that can be answered, such as one without a `Host` header.",
            ),
            Self::MissingApiKey => (
                "missing_api_key",
                401,
                "API key missing",
                "Every REST request carries `Authorization: Bearer <key>`. Keys are free.",
            ),
            Self::MalformedApiKey => (
                "malformed_api_key",
                401,
                "API key malformed",
                "The text is no key: a key is `vdx_` and 36 letters and digits, the last six of which check the others. \
                 Copy it again, whole.",
            ),
            Self::InvalidApiKey => {
                ("invalid_api_key", 401, "API key invalid", "The key is well-formed, but nobody was given it here.")
            }
            Self::RevokedApiKey => ("revoked_api_key", 401, "API key revoked", "The key was revoked. Make another."),
            Self::NotFound => (
                "not_found",
                404,
                "Not found",
                "No record has this slug in the snapshot served. `did_you_mean` has the nearest slugs.",
            ),
            Self::UnknownRoute => (
                "unknown_route",
                404,
                "Unknown path",
                "The API has no such path in this version. `did_you_mean` has the path that is a small edit away, where \
                 one is.",
            ),
            Self::MethodNotAllowed => (
                "method_not_allowed",
                405,
                "Method not allowed",
                "The REST API only reads: GET and HEAD. `Allow` names what the path takes.",
            ),
            Self::NotAcceptable => {
                ("not_acceptable", 406, "Not acceptable", "The client accepts no form that the answer can be given in.")
            }
            Self::CursorExpired => (
                "cursor_expired",
                410,
                "Cursor expired",
                "The release that the cursor was made on is not held any more. Begin again without a cursor.",
            ),
            Self::BodyTooLarge => ("body_too_large", 413, "Body too large", "The request's body is above the limit."),
            Self::UrlTooLong => (
                "url_too_long",
                414,
                "URL too long",
                "The request's address is above 24 KB, or its filters are too long for a cursor to carry. Ask for fewer \
                 values at a time.",
            ),
            Self::UnsupportedMediaType => {
                ("unsupported_media_type", 415, "Unsupported media type", "Send `Content-Type: application/json`.")
            }
            Self::QuotaExceeded => (
                "quota_exceeded",
                429,
                "Daily quota reached",
                "The key has made all its requests of this day. `resets_at` and `Retry-After` say when it starts anew \
                 (00:00 UTC). A 304 costs nothing.",
            ),
            Self::HeadTooLarge => (
                "head_too_large",
                431,
                "Request head too large",
                "The request's address and headers are above 32 KB together.",
            ),
            Self::InternalError => (
                "internal_error",
                500,
                "Internal error",
                "Something went wrong here. The request was not counted; tell us its `request_id`.",
            ),
            Self::NotReady => ("not_ready", 503, "Not ready", "The service is starting. Try again in a moment."),
            Self::Overloaded => {
                ("overloaded", 503, "Overloaded", "The service has too much to do. Try again after `Retry-After`.")
            }
        }
    }

    /// The code as it is answered, such as `unknown_value`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// The HTTP status.
    #[must_use]
    pub fn status(self) -> StatusCode {
        StatusCode::from_u16(self.facts().1).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The title, the same for each occurrence.
    #[must_use]
    pub fn title(self) -> &'static str {
        self.facts().2
    }

    /// What it means and how to mend it, for the docs.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        self.facts().3
    }

    /// Whether the REST API gives it; the others belong to requests with a body.
    #[must_use]
    pub fn is_of_rest(self) -> bool {
        !matches!(self, Self::InvalidJson | Self::BodyTooLarge | Self::UnsupportedMediaType)
    }

    /// The code of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// Errors that one answer lists.
const MOST_ERRORS: usize = 20;

/// One occurrence of an error.
#[derive(Debug)]
pub struct Problem {
    /// What kind of error it is.
    pub code: Code,
    /// What is wrong here, and how to mend it.
    pub detail: String,
    /// Which parameters are at fault.
    pub errors: Vec<ParameterError>,
    /// Nearest slugs, where a record was not found; the nearest path, where a path was not.
    pub did_you_mean: Vec<String>,
    /// Methods that the path takes, where another was used.
    pub allow: Option<&'static str>,
    /// The quota that was used up.
    pub quota: Option<Box<UsedUp>>,
}

model! {
    /// A quota that was used up.
    #[derive(Clone, Debug, Serialize)]
    pub struct UsedUp {
        /// Requests per day, if the quota is exceeded.
        pub limit: u32,
        /// When the quota resets, if it is exceeded.
        pub resets_at: String [date_time],
        /// The key's tier, if the quota is exceeded.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub tier: Option<&'static str> [one_of("Tier"), optional],
    }

    /// An error (RFC 9457).
    #[derive(Serialize)]
    pub(crate) struct ProblemBody<'a> as "Problem" {
        /// Documentation of the code.
        r#type: String [uri],
        /// The code in words.
        title: &'static str,
        /// The HTTP status.
        status: u16 [range(400, 599)],
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

impl Problem {
    /// An error with its detail.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new(), did_you_mean: Vec::new(), allow: None, quota: None }
    }

    /// An error that one parameter is at fault for.
    #[must_use]
    pub fn of_parameter(code: Code, parameter: &str, detail: impl Into<String>) -> Self {
        let error = ParameterError { code: code.name(), ..ParameterError::invalid(parameter, detail) };
        Self { errors: vec![error.clone()], ..Self::new(code, error.detail) }
    }

    /// An error of parameters; the first decides about the code.
    #[must_use]
    pub fn of_parameters(mut errors: Vec<ParameterError>) -> Self {
        errors.truncate(MOST_ERRORS);
        let code = errors.first().and_then(|error| Code::named(error.code)).unwrap_or(Code::InvalidParameter);
        let mut detail: Vec<String> = Vec::with_capacity(errors.len());
        for error in &errors {
            detail.push(match &error.did_you_mean {
                Some(meant) => format!("`{}`: {}; did you mean `{meant}`?", error.parameter, error.detail),
                None => format!("`{}`: {}", error.parameter, error.detail),
            });
        }
        Self { errors, ..Self::new(code, detail.join(" · ")) }
    }

    /// The body as JSON text. `instance` is the request's path.
    #[must_use]
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
        serde_json::to_vec(&body).expect("problems always have a JSON form")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_listed_once_and_found_by_its_name() {
        for code in Code::ALL {
            assert_eq!(Code::named(code.name()), Some(code));
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }
}
