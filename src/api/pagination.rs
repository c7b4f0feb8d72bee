//! List requests: parsed from the parameters of a URL, or continued from a cursor.
//!
//! A cursor carries its release, its query and the position of the next page. Some options may change from page to page
//! ([`options::is_page_option`]); filters and `sort`, if given, must agree with the cursor.

use std::borrow::Cow;
use std::sync::Arc;

use catalog::ask::GROUP_BY;
use catalog::cursor::SEARCHES;
use catalog::json::fields;
use catalog::param_error::shortened;
use catalog::{Catalog, Cursor, Issues, ListPosition, ParameterError, ParsedRequest, Request, Resource, WantedPage};
use transport::problem::Code;

use crate::asked::AskedQuestion;
use crate::pin::PIN;
use crate::request::{RequestError, RequestUrl, with_code};
use crate::window::{DEFAULT_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, Version, options};

pub(crate) struct ListRequest {
    pub version: Version,
    pub resource: Resource,
    /// The release to list: the cursor's, if there is one.
    pub catalog: Arc<Catalog>,
    pub parsed: ParsedRequest,
    pub position: ListPosition,
    pub window: PageWindow,
    pub flags: Vec<&'static str>,
    /// The parameter `fields` of the request or of the cursor.
    pub fields: Vec<(String, String)>,
    pub question: Option<AskedQuestion>,
    /// Names of the parameters that the path sets.
    pub fixed: Vec<&'static str>,
    pub cursor: Option<String>,
}

impl ListRequest {
    pub(crate) fn parse(
        url: &RequestUrl<'_>,
        resource: Resource,
        fixed: &[(&'static str, String)],
    ) -> Result<Self, RequestError> {
        let mut issues = Issues::default();
        let cursor = match url.version {
            Version::V3 => match open_cursor(url, &mut issues) {
                Ok(cursor) => cursor,
                Err(gone) => {
                    let values: Vec<_> = url.values.iter().filter(|(name, _)| name != "cursor").cloned().collect();
                    let others = Self::parse(&RequestUrl { values: &values, ..*url }, resource, fixed).err();
                    return Err(gone.joined(others));
                }
            },
            Version::V1 | Version::V2 => None,
        };
        let values = match &cursor {
            Some((cursor, _)) => Cow::Owned(Cursor::with_omitted(url.values, &cursor.options)),
            None => Cow::Borrowed(url.values),
        };
        let catalog = cursor.as_ref().map_or(url.catalog, |(_, catalog)| catalog);
        let names: Vec<&'static str> = fixed.iter().map(|(name, _)| *name).collect();
        let settled = settled_by_path(resource, &names);
        let question = match url.version {
            Version::V3 if resource.takes_questions() => {
                issues.collect(AskedQuestion::parse(&values, resource, &settled, catalog)).flatten()
            }
            _ => None,
        };
        let values = match &question {
            Some(question) => Cow::Owned(values.iter().cloned().chain(question.interpretation.values()).collect()),
            None => values,
        };
        let window = issues.collect(PageWindow::parse(url.version, &values, DEFAULT_LIMIT, url.max_limit));
        let flags = issues.collect(parse_flags(options::flags(url.version, url.route), &values));
        let cursor = cursor.as_ref().map(|(cursor, _)| cursor);
        let parsed = issues.collect(parse_query(url, &values, resource, fixed, &settled, catalog, cursor));
        match (window, flags, parsed) {
            (Some(window), Some(flags), Some(parsed)) if issues.is_empty() => Ok(Self {
                version: url.version,
                resource,
                catalog: Arc::clone(catalog),
                parsed,
                position: cursor.map_or_else(|| ListPosition::after(window.offset()), |cursor| cursor.position),
                window,
                flags,
                fields: values.iter().filter(|(name, _)| name == "fields").cloned().collect(),
                question,
                fixed: names,
                cursor: cursor.and_then(|_| single_value(url.values, "cursor", &mut Vec::new()).map(str::to_owned)),
            }),
            _ => Err(RequestError::Parameters(issues)),
        }
    }

    pub(crate) fn is_set(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    /// A page of the list, without parts beyond its rows.
    pub(crate) fn page(&self, position: ListPosition, limit: u64) -> WantedPage<'_> {
        WantedPage::rows(self.resource, &self.parsed.request, position, limit as usize)
    }

    /// The request without its question and position.
    pub(crate) fn query(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.without_defaults().chain(self.page_options())
    }

    /// The value of `fields` in canonical form; `None` if it has too many names.
    pub(crate) fn canonical_fields(&self) -> Option<String> {
        fields::canonical(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// The options that each page may change, without defaults.
    fn page_options(&self) -> impl Iterator<Item = (&'static str, String)> {
        let limit = self.window.limit;
        let limit = (limit != DEFAULT_LIMIT).then(|| ("limit", limit.to_string()));
        let fields = self.canonical_fields().filter(|fields| !fields.is_empty()).map(|fields| ("fields", fields));
        let flags = self.flags.iter().map(|name| (*name, "true".to_owned()));
        limit.into_iter().chain(fields).chain(flags)
    }

    /// The same as [`Self::query`], without the parameters that the path sets.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.query().filter(move |(name, _)| !self.fixed.contains(name))
    }

    pub(crate) fn url(&self, request: &ApiRequest<'_>) -> String {
        address(request, request.path, self.parameters())
    }

    pub(crate) fn groups_url(&self, request: &ApiRequest<'_>) -> Option<String> {
        let groups = self.question.as_ref()?.interpretation.groups()?;
        // A list below a record has no counts of its own.
        let path = Some(request.path).filter(|path| *path == self.resource.path())?;
        let filters = self.without_defaults().filter(|(name, _)| *name != "sort");
        Some(address(request, &format!("{path}/aggregate"), filters.chain([(GROUP_BY, groups.to_owned())])))
    }

    /// The cursor of the page at `position`, for the same path and query.
    pub(crate) fn cursor_at(&self, position: ListPosition, path: &str) -> Cursor {
        Cursor::new(&self.catalog, path, self.without_defaults(), self.page_options(), position)
    }

    /// The query without explicit defaults, so that they change neither the cursor nor the `ETag`.
    pub(crate) fn without_defaults(&self) -> impl Iterator<Item = (&'static str, String)> {
        let canonical = &self.parsed.canonical;
        let has_text = canonical.iter().any(|(name, _)| SEARCHES.contains(name));
        let options = self.version.parse_options(&[]);
        let is_default =
            move |name: &str, value: &String| options.default_of(self.resource, name, has_text).as_ref() == Some(value);
        canonical.iter().filter(move |(name, value)| !value.is_empty() && !is_default(name, value)).cloned()
    }
}

/// The parameters that a list does not accept if its path sets the `given` ones: these, `slug` (which is in the path),
/// and the exclusion of other values where a record has only one value.
pub(crate) fn settled_by_path(resource: Resource, given: &[&'static str]) -> Vec<&'static str> {
    let exclusion = |name: &&'static str| {
        let has_several = resource.parameter(&format!("{name}_all")).is_some();
        let exclusion = resource.parameter(&format!("not_{name}")).filter(|_| !has_several);
        exclusion.map(|parameter| parameter.name)
    };
    let in_path = (!given.is_empty()).then_some("slug");
    given.iter().copied().chain(given.iter().filter_map(exclusion)).chain(in_path).collect()
}

/// URL of a path of the API with parameters.
pub(crate) fn address<N: AsRef<str>>(
    request: &ApiRequest<'_>,
    path: &str,
    query: impl Iterator<Item = (N, String)>,
) -> String {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let separator = if query.is_empty() { "" } else { "?" };
    format!("{}/api/{}/{path}{separator}{query}", request.state.public_url, request.version.segment())
}

pub(crate) fn open_cursor(
    url: &RequestUrl<'_>,
    issues: &mut Issues,
) -> Result<Option<(Cursor, Arc<Catalog>)>, RequestError> {
    let mut errors = Vec::new();
    let text = single_value(url.values, "cursor", &mut errors);
    if !errors.is_empty() {
        issues.extend(errors.into());
        return Ok(None);
    }
    let Some(text) = text else { return Ok(None) };
    let cursor = Cursor::open(text, url.state.auth.cursor_secret(), options::is_page_option);
    let Some(cursor) = cursor.filter(|cursor| cursor.path.eq_ignore_ascii_case(url.path)) else {
        let detail = "invalid cursor for this list; pass `pagination.next_cursor` unmodified or omit `cursor`";
        issues.extend(vec![with_code(Code::InvalidCursor, "cursor", detail)].into());
        return Ok(None);
    };
    let is_pin = |(name, value): &&(String, String)| PIN.contains(&name.as_str()) && !value.trim().is_empty();
    if let Some((pin, _)) = url.values.iter().find(is_pin)
        && url.catalog.version() != cursor.snapshot
    {
        let detail =
            format!("the cursor belongs to snapshot {}; omit `{pin}` or restart without `cursor`", cursor.snapshot);
        issues.extend(vec![with_code(Code::CursorMismatch, pin, detail)].into());
        return Ok(None);
    }
    let catalog = cursor.release(url.state.releases.look_up(cursor.snapshot, true))?;
    Ok(Some((cursor, catalog)))
}

/// Parses filters and `sort`. With a cursor, its own apply, and given ones must agree with them.
fn parse_query(
    url: &RequestUrl<'_>,
    values: &[(String, String)],
    resource: Resource,
    fixed: &[(&'static str, String)],
    settled: &[&'static str],
    catalog: &Arc<Catalog>,
    cursor: Option<&Cursor>,
) -> Result<ParsedRequest, Issues> {
    let options = url.version.parse_options(options::names(url.version, url.route));
    let invalid = |name: &str, detail: String| Issues::from(vec![ParameterError::invalid(name, detail)]);
    for name in settled {
        if url.values.iter().any(|(known, _)| known == name) {
            return Err(invalid(name, format!("the path settles `{name}`; omit it")));
        }
    }
    let fixed = fixed.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
    let values = match fixed.len() {
        0 => Cow::Borrowed(values),
        _ => Cow::Owned(values.iter().cloned().chain(fixed).collect()),
    };
    let parsed = Cursor::parse_continued(cursor, resource, options, &values, |values| {
        let mut parsed = catalog.parse(resource, values, options).map_err(|issues| issues.not_accepting(settled))?;
        // The client did not choose the filters of the path.
        parsed.notes.retain(|note| !settled.contains(&note.parameter.as_str()));
        Ok(parsed)
    })?;
    if let Request::Match(query) = &parsed.request
        && cursor.is_none()
        && query.is_empty()
    {
        let detail = "at least one of `stage`, `sector`, `country`, `city`, `raise_usd`, `text`, `startup` and `backer` is \
                      required";
        return Err(invalid("stage", detail.to_owned()));
    }
    Ok(parsed)
}

fn parse_flags(
    flags: impl Iterator<Item = &'static str>,
    values: &[(String, String)],
) -> Result<Vec<&'static str>, Vec<ParameterError>> {
    let mut errors = Vec::new();
    let mut set = Vec::new();
    for name in flags {
        match single_value(values, name, &mut errors) {
            None | Some("0" | "false") => {}
            Some("1" | "true") => set.push(name),
            Some(other) => {
                let detail = format!("`{}` is neither `true` nor `false`", shortened(other));
                errors.push(ParameterError::invalid(name, detail));
            }
        }
    }
    if errors.is_empty() { Ok(set) } else { Err(errors) }
}
