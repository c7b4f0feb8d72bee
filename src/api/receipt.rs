//! Receipts (`receipt=1`): which release answered what, when, with which bytes.
//!
//! A receipt is a JSON Web Signature (RFC 7515) in a header, so that libraries of every language verify it, over claims that
//! have the SHA-256 of the body: a header can cover all bytes of the body, which a part of it cannot. The key is published as a
//! JSON Web Key (RFC 8037). Without a key of the operator a receipt is not signed (`alg` is `none`): a note, and no proof.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use catalog::ParameterError;
use release::SigningKey;
use service::State;
use transport::problem::{Code, Problem};

use crate::{ApiRequest, ApiResponse};

/// The parameter.
pub(crate) const RECEIPT: &str = "receipt";
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-receipt");
/// Where the key is published.
pub const KEYS_PATH: &str = "/.well-known/jwks.json";
/// Longest receipt in bytes: proxies reject responses with long headers.
const MAX_RECEIPT: usize = 2 * 1024;

#[derive(Serialize)]
struct Claims<'a> {
    /// The address of the service.
    iss: &'a str,
    /// When it answered, Unix seconds.
    iat: i64,
    /// The release that answered.
    snapshot: String,
    /// The release's checksum, as in `/snapshots`; `None` if it is held no longer.
    checksum: Option<String>,
    /// The path below the version.
    path: &'a str,
    /// The query in canonical names, values and order, without defaults.
    query: &'a str,
    /// Of the body without its content coding, hexadecimal.
    sha256: String,
}

/// The header of a response to a request whose query has this canonical form.
///
/// # Errors
/// If the query is too long.
pub(crate) fn header(request: &ApiRequest<'_>, query: &str, response: &ApiResponse) -> Result<HeaderValue, Problem> {
    let state = request.state;
    // A cursor may belong to another release than the request.
    let answering = state.releases.loaded(response.snapshot);
    let claims = Claims {
        iss: &state.public_url,
        iat: state.now(),
        snapshot: response.snapshot.to_string(),
        checksum: answering.map(|catalog| format!("{:016x}", catalog.snapshot().content())),
        path: &format!("/api/v3/{}", request.path),
        query,
        sha256: hex(&Sha256::digest(&response.body)),
    };
    let receipt = sign(state, &serde_json::to_vec(&claims).expect("texts and numbers serialize"));
    let value = Some(receipt).filter(|receipt| receipt.len() <= MAX_RECEIPT);
    value.and_then(|receipt| HeaderValue::try_from(receipt).ok()).ok_or_else(|| {
        let detail = "the query does not fit into a receipt; use fewer values, or omit `receipt`";
        Problem::new(Code::UrlTooLong, detail)
    })
}

/// The error that a file has no receipt: its bytes are not known before it is sent.
pub(crate) fn of_file() -> ParameterError {
    let detail = "a list as CSV or NDJSON has no receipt; omit `receipt`, or request JSON";
    ParameterError::invalid(RECEIPT, detail)
}

/// The compact form of a signature: head, claims and signature in base64url, separated by dots.
fn sign(state: &State, claims: &[u8]) -> String {
    let key = state.receipt_key.as_ref();
    let head = match key {
        Some(key) => json!({ "alg": "EdDSA", "kid": key_id(key) }),
        None => json!({ "alg": "none" }),
    };
    let text = format!("{}.{}", URL_SAFE_NO_PAD.encode(head.to_string()), URL_SAFE_NO_PAD.encode(claims));
    let signature = key.map(|key| URL_SAFE_NO_PAD.encode(key.sign(text.as_bytes())));
    format!("{text}.{}", signature.unwrap_or_default())
}

/// The key that receipts are signed with, as a set of JSON Web Keys; an empty set if they are not signed.
pub fn keys(state: &State) -> String {
    let key = |key: &SigningKey| {
        json!({
            "kty": "OKP", "crv": "Ed25519", "x": public(key), "use": "sig", "alg": "EdDSA", "kid": key_id(key),
        })
    };
    json!({ "keys": state.receipt_key.iter().map(key).collect::<Vec<_>>() }).to_string()
}

fn public(key: &SigningKey) -> String {
    URL_SAFE_NO_PAD.encode(key.public().bytes())
}

/// The thumbprint of the key (RFC 7638).
fn key_id(key: &SigningKey) -> String {
    let members = format!("{{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"{}\"}}", public(key));
    URL_SAFE_NO_PAD.encode(Sha256::digest(members))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
