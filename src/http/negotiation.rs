//! What a client accepts: content types and compression.

use std::io::Write;

use http::{HeaderMap, header};

/// Bodies of at least this size are compressed for clients that accept it, bytes.
pub(crate) const MIN_COMPRESSED_SIZE: usize = 1_024;

/// True if the body of a request is of a media type, whatever its parameters.
pub(crate) fn has_content_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}

/// True if the client accepts JSON: if there is no `Accept`, or its most specific matching range has `q` above 0.
pub(crate) fn accepts_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if values.peek().is_none() {
        return true;
    }
    let mut best: Option<(u8, bool)> = None;
    for range in values.flat_map(|value| value.split(',')) {
        let (media_type, parameters) = range.split_once(';').unwrap_or((range, ""));
        let rank = match media_type.trim().to_ascii_lowercase().as_str() {
            "application/json" => 3,
            "application/*" => 2,
            "*/*" | "*" | "" => 1,
            _ => continue,
        };
        if best.is_none_or(|(known, _)| rank > known) {
            let quality = parameters.split(';').find_map(|part| part.trim().strip_prefix("q="));
            best = Some((rank, quality.and_then(|q| q.trim().parse::<f32>().ok()).is_none_or(|q| q > 0.0)));
        }
    }
    best.is_some_and(|(_, is_accepted)| is_accepted)
}

pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let is_excluded = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0));
        (name.trim().eq_ignore_ascii_case("gzip") || name.trim() == "*") && !is_excluded
    })
}

/// The compressed body, if it is long enough and the client accepts that.
pub(crate) fn compressed(body: &[u8], headers: &HeaderMap) -> Option<Vec<u8>> {
    (body.len() >= MIN_COMPRESSED_SIZE && accepts_gzip(headers)).then(|| gzip(body))
}

/// Compresses a body, fast rather than small.
pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 4), flate2::Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}
