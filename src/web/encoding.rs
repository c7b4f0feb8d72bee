//! Compression of bodies.

use std::io::Write;

use http::HeaderMap;

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

/// Compresses a body, fast rather than small.
///
/// # Errors
/// None while it is written to memory.
pub fn gzip(body: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 4), flate2::Compression::fast());
    encoder.write_all(body)?;
    encoder.finish()
}
