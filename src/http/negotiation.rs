//! What a caller takes of an answer: its type and its compression.

use std::io::Write;

use http::HeaderMap;

/// Bodies from this size on are compressed for those who accept it, bytes.
pub const COMPRESS_FROM: usize = 1_024;

/// Whether the caller takes JSON.
#[must_use]
pub fn accepts_json(headers: &HeaderMap) -> bool {
    let mut given = headers.get_all(http::header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if given.peek().is_none() {
        return true;
    }
    // The most specific range that fits decides.
    let mut best: Option<(u8, bool)> = None;
    for range in given.flat_map(|value| value.split(',')) {
        let (kind, quality) = range.split_once(';').unwrap_or((range, ""));
        let rank = match kind.trim().to_ascii_lowercase().as_str() {
            "application/json" => 3,
            "application/*" => 2,
            "*/*" | "*" | "" => 1,
            _ => continue,
        };
        let quality = quality.split(';').find_map(|part| part.trim().strip_prefix("q="));
        let wanted = quality.and_then(|q| q.trim().parse::<f32>().ok()).is_none_or(|q| q > 0.0);
        if best.is_none_or(|(known, _)| rank > known) {
            best = Some((rank, wanted));
        }
    }
    best.is_some_and(|(_, wanted)| wanted)
}

/// Whether the caller takes gzip.
#[must_use]
pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let given = headers.get_all(http::header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = given.flat_map(|value| value.split(',')).map(str::trim);
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0));
        (name.trim().eq_ignore_ascii_case("gzip") || name.trim() == "*") && !refused
    })
}

/// A body compressed, where it is long enough and the caller takes that.
#[must_use]
pub fn packed(body: &[u8], headers: &HeaderMap) -> Option<Vec<u8>> {
    (body.len() >= COMPRESS_FROM && accepts_gzip(headers)).then(|| gzip(body).ok()).flatten()
}

/// Compresses a body, fast rather than small.
///
/// # Errors
/// None while it is written to memory.
pub fn gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 4), flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}
