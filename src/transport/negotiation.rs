use std::io::Write;

use http::{HeaderMap, HeaderValue, Response, header};

/// Bodies shorter than this are never compressed, in bytes.
pub(crate) const MIN_COMPRESSED_SIZE: usize = 1_024;

/// True if the request body has this media type; parameters are ignored.
pub fn has_content_type(headers: &HeaderMap, media_type: &str) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = value.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case(media_type))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Json,
    Csv,
    /// One record per line.
    Ndjson,
}

impl Format {
    pub fn media_type(self) -> &'static str {
        ["application/json", "text/csv", "application/x-ndjson"][self as usize]
    }

    /// File name extension, without the dot.
    pub fn extension(self) -> &'static str {
        ["json", "csv", "ndjson"][self as usize]
    }
}

/// True if the client names HTML in `Accept`, as browsers do when a person opens a page.
pub fn requests_html(headers: &HeaderMap) -> bool {
    names_type(headers, |media_type| media_type == "text/html")
}

/// True if the client names a type for programs in `Accept`.
pub fn requests_data(headers: &HeaderMap) -> bool {
    let is_data = |media_type: &str| ["json", "csv", "xml"].iter().any(|format| media_type.ends_with(format));
    names_type(headers, |media_type| is_data(media_type) && media_type != "application/xhtml+xml")
}

fn names_type(headers: &HeaderMap, is_wanted: impl Fn(&str) -> bool) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = values.flat_map(|value| value.split(',')).filter_map(|range| range.split(';').next());
    types.any(|media_type| is_wanted(&media_type.trim().to_ascii_lowercase()))
}

/// True if the path ends with the extension of a format for programs: no refusal of such a path is a page.
pub fn names_file(path: &str) -> bool {
    const EXTENSIONS: [&str; 10] = ["atom", "csv", "json", "md", "ndjson", "parquet", "png", "svg", "txt", "xml"];
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').is_some_and(|(_, extension)| EXTENSIONS.contains(&extension))
}

pub fn accepts_json(headers: &HeaderMap) -> bool {
    accepts(headers, Format::Json)
}

pub fn accepts(headers: &HeaderMap, format: Format) -> bool {
    preference(headers, format).0 > 0.0
}

/// The format the client prefers; JSON if it accepts none. Among equals, an explicit name beats a wildcard.
pub fn preferred_format(headers: &HeaderMap) -> Format {
    let mut best = (Format::Json, preference(headers, Format::Json));
    for format in [Format::Csv, Format::Ndjson] {
        let preference = preference(headers, format);
        if preference.0 > 0.0 && preference > best.1 {
            best = (format, preference);
        }
    }
    best.0
}

/// The `q` of the most specific range in `Accept` that matches, from 0 (not accepted) to 1, and the range's rank.
fn preference(headers: &HeaderMap, format: Format) -> (f32, u8) {
    let mut values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).peekable();
    if values.peek().is_none() {
        return (1.0, 0);
    }
    let own = format.media_type();
    let kind = own.split_once('/').map_or(own, |(kind, _)| kind);
    let mut best: Option<(u8, f32)> = None;
    for range in values.flat_map(|value| value.split(',')) {
        let (media_type, parameters) = range.split_once(';').unwrap_or((range, ""));
        let rank = match media_type.trim() {
            exact if exact.eq_ignore_ascii_case(own) => 3,
            "*/*" | "*" | "" => 1,
            range if range.strip_suffix("/*").is_some_and(|range| range.eq_ignore_ascii_case(kind)) => 2,
            _ => continue,
        };
        if best.is_none_or(|(known, _)| rank > known) {
            let quality = parameters.split(';').find_map(|part| part.trim().strip_prefix("q="));
            best = Some((rank, quality.and_then(|q| q.trim().parse().ok()).unwrap_or(1.0)));
        }
    }
    best.map_or((0.0, 0), |(rank, quality)| (quality, rank))
}

pub fn accepts_gzip(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let is_excluded = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse::<f32>().is_ok_and(|q| q <= 0.0));
        (name.trim().eq_ignore_ascii_case("gzip") || name.trim() == "*") && !is_excluded
    })
}

/// Compresses the body of a response, if it is long enough and the client accepts gzip by the `headers` of its request.
pub fn compress<B: AsRef<[u8]> + From<Vec<u8>>>(response: &mut Response<B>, headers: &HeaderMap) {
    if response.body().as_ref().len() >= MIN_COMPRESSED_SIZE && accepts_gzip(headers) {
        *response.body_mut() = gzip(response.body().as_ref()).into();
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
}

/// Compresses a body, favoring speed over size.
pub(crate) fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::with_capacity(body.len() / 4), flate2::Compression::fast());
    encoder.write_all(body).and_then(|()| encoder.finish()).expect("writing to memory does not fail")
}

pub struct GzipStream(flate2::write::GzEncoder<Vec<u8>>);

impl Default for GzipStream {
    fn default() -> Self {
        Self(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()))
    }
}

impl GzipStream {
    /// Compresses a chunk and returns the output that is ready, possibly none; the last chunk flushes the rest.
    pub fn compress(&mut self, chunk: &[u8], is_last: bool) -> Vec<u8> {
        let written = self.0.write_all(chunk).and_then(|()| if is_last { self.0.try_finish() } else { Ok(()) });
        written.expect("writing to memory does not fail");
        std::mem::take(self.0.get_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_request_html_and_programs_data() {
        let headers = |accept: &str| HeaderMap::from_iter([(header::ACCEPT, accept.parse().unwrap())]);
        for (accept, html, data) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true, true),
            ("TEXT/HTML", true, false),
            ("*/*", false, false),
            ("application/json, text/plain, */*", false, true),
            ("application/problem+json", false, true),
            ("text/csv", false, true),
            ("application/atom+xml", false, true),
            ("application/xhtml+xml", false, false),
        ] {
            assert_eq!((requests_html(&headers(accept)), requests_data(&headers(accept))), (html, data), "{accept}");
        }
        assert!(
            names_file("/vcs.csv") && names_file("/a/feed.json") && !names_file("/vcs/a.b") && !names_file("/x.json/y")
        );
    }

    #[test]
    fn the_format_with_the_highest_quality_is_preferred() {
        use Format::{Csv, Json, Ndjson};
        let preferred = |accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            preferred_format(&headers)
        };
        assert_eq!(preferred_format(&HeaderMap::new()), Json);
        for (accept, format) in [
            ("*/*", Json),
            ("text/csv", Csv),
            ("TEXT/CSV; charset=utf-8", Csv),
            ("text/*", Csv),
            ("application/*", Json),
            ("application/json;q=0, application/*;q=0.2", Ndjson),
            ("application/x-ndjson", Ndjson),
            ("application/x-ndjson, application/json;q=0.9", Ndjson),
            ("application/json, text/csv", Json),
            ("text/csv, */*", Csv),
            ("application/json, text/plain, */*", Json),
            ("text/csv;q=0.5, application/x-ndjson;q=0.6, */*;q=0.1", Ndjson),
            ("application/json;q=0, */*", Csv),
            ("text/csv;q=0, application/xml", Json),
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", Json),
        ] {
            assert_eq!(preferred(accept), format, "{accept}");
        }
    }
}
