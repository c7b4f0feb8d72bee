//! A search: its filters and order, the fields of its items, and the position of its page.
//!
//! A cursor carries all of it except `count_by`: groups cover all matches and come with the first page. Arguments next
//! to a cursor must agree with it, except for `limit` and `fields`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::backend::ToolRelease;
use crate::tool::MAX_ITEMS;
use crate::tool_result::MAX_VALUE_BYTES;
use crate::{Tool, ToolCall};
use catalog::aggregate::{DEFAULT_GROUPS, GroupOrder, Grouping, MAX_GROUPS};
use catalog::ask::GROUP_BY;
use catalog::cursor::SEARCHES;
use catalog::json::computed::MatchFields;
use catalog::json::fields::snake_case;
use catalog::json::{FieldSet, Fields, fields};
use catalog::param_error::shortened;
use catalog::parse::scalars::parse_amount;
use catalog::{
    AggregateOptions, Catalog, Cursor, CursorFault, Issues, ListAnswer, ListParts, ListPosition, MatchQuery, Order,
    ParameterError, ParseOptions, ParsedRequest, Query, ReadingKind, Relaxable, Request, Resource, SearchReading,
    WantedPage,
};
use data::field::{Field, Model, model};
use data::model::RelatedRole;
use data::vocabulary::Vocabulary;
use data::{ReviewStatus, Table};

pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    strict: true,
    review_statuses: &[ReviewStatus::Approved],
    other_names: &["limit", "fields", "cursor", RAISE],
};

/// True for arguments that each page may change; a cursor carries them as defaults.
fn is_page_option(name: &str) -> bool {
    ["limit", "fields"].contains(&name)
}

const BY_AMOUNT: [&str; 2] = ["-amount_usd", "-total_raised_usd"];

/// A note on groups that are left out, or that nothing is known of.
pub(crate) fn cut_groups(groups: &Grouping, may_grow: bool, is_explained: bool) -> Option<String> {
    let (listed, by) = (groups.values.len(), groups.by);
    if listed == 0 && groups.unknown.count > 0 {
        return (!is_explained).then(|| format!("`{by}` is unknown for all of these records"));
    }
    let all = listed as u64 + groups.other_values;
    let more = if may_grow { " a larger `limit` gives more," } else { "" };
    let orders = GroupOrder::names().join(", ");
    (groups.other_values > 0)
        .then(|| format!("`groups` has {listed} of {all} values of `{by}`;{more} `sort` orders them: {orders}"))
}

/// The amount that a startup raises: firms are then listed by how well they fit.
pub(crate) const RAISE: &str = "raise_usd";

model! {
    /// Fields of a person in a list, next to those of the record.
    #[derive(Serialize)]
    pub(crate) struct PersonItem {
        /// The person's page.
        pub url: String [uri],
        /// How the name matches the search.
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        pub match_class: Option<&'static str> [optional, named("match"), one_of("MatchClass")],
        /// Records that are probably of the same person, each with its reason.
        pub other_roles: Option<Vec<RelatedRole>> [optional],
    }

    /// Fields of a firm or startup in a list, next to those of its record.
    #[derive(Serialize)]
    pub(crate) struct RecordItem<'a> {
        /// The record's page.
        pub url: String [uri],
        /// How the name matches the search.
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        pub match_class: Option<&'static str> [optional, named("match"), one_of("MatchClass")],
        /// What the record has in common with that of `like`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_common: Option<String> [optional],
        /// How well the firm fits the startup (`raise_usd`); startups have no such field.
        pub fit: Option<MatchFields<'a>> [optional],
    }
}

pub(crate) fn item_fields(table: Table) -> FieldSet {
    let computed: &'static [Field] = match table {
        Table::Firms => RecordItem::DEFINITION.fields,
        Table::People => PersonItem::DEFINITION.fields,
        // All but the last one, `fit`.
        Table::Startups => &RecordItem::DEFINITION.fields[..3],
        Table::Rounds | Table::Reviews | Table::Sectors => &[],
    };
    FieldSet::with_computed(table, computed)
}

pub(crate) struct ListCall {
    pub(crate) resource: Resource,
    pub(crate) parsed: ParsedRequest,
    /// The match of firms with the startup of the call, which is listed in place of the filters' rows.
    fit: Option<Request>,
    pub(crate) fields: Fields,
    field_names: Vec<(String, String)>,
    pub(crate) limit: usize,
    /// Properties by which the matches are counted (`count_by`).
    pub(crate) group_by: AggregateOptions,
    /// The meaning of `query`, if it is not a name.
    pub(crate) search: Option<SearchReading>,
    start: ListPosition,
}

/// Names of fields, in which those of a match, which are fields of the firm in REST, are the ones below `fit`.
fn own_fields(resource: Resource, names: &str) -> String {
    let is_of_fit = |name: &str| MatchFields::DEFINITION.fields.iter().any(|field| field.name == name);
    let own = names.split(',').map(|name| {
        let normal = snake_case(name.trim());
        match resource == Resource::Firms && is_of_fit(normal.split('.').next().unwrap_or_default()) {
            true => Cow::Owned(format!("fit.{normal}")),
            false => Cow::Borrowed(name),
        }
    });
    own.collect::<Vec<_>>().join(",")
}

impl ToolRelease {
    /// Finds the release and the cursor that a call continues from; without a cursor, this release.
    pub(crate) fn open_cursor(&self, call: &ToolCall) -> Result<(Self, Option<Cursor>), Vec<ParameterError>> {
        let Some(text) = call.value("cursor") else { return Ok((self.clone(), None)) };
        let invalid = |detail: String| vec![ParameterError::invalid("cursor", detail)];
        let cursor = Cursor::open(text.trim(), &self.backend.cursor_secret, is_page_option)
            .filter(|cursor| cursor.path == call.tool.name());
        let cursor = cursor.ok_or_else(|| {
            invalid("pass `next_cursor` of the previous result of this tool unmodified, or omit `cursor`".to_owned())
        })?;
        let loaded = cursor.release(self.backend.releases.look_up(cursor.snapshot, true));
        let loaded = loaded.map_err(|fault| {
            invalid(match fault {
                CursorFault::NotYetHeld(version) => {
                    format!("its snapshot {version} is not loaded here yet; send the same call again in a second")
                }
                CursorFault::Expired(version) => {
                    format!("its snapshot {version} has expired; restart without `cursor`")
                }
            })
        })?;
        Ok((Self { catalog: loaded, backend: self.backend.clone() }, Some(cursor)))
    }

    /// The sealed cursor of the page at `position`; `None` if the arguments are too long for one.
    pub(crate) fn cursor_at(&self, tool: Tool, list: &ListCall, position: ListPosition) -> Option<String> {
        let selected = list.field_names.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let options = [
            ("limit", Some(list.limit.to_string())),
            ("fields", fields::canonical(selected).filter(|names| !names.is_empty())),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let filters = list.parsed.canonical.iter().cloned();
        let cursor = Cursor::new(&self.catalog, tool.name(), filters, options, position);
        cursor.seal(&self.backend.cursor_secret).filter(|cursor| cursor.len() <= MAX_VALUE_BYTES / 2)
    }
}

impl ListCall {
    /// The error lists all arguments with invalid values.
    pub(crate) fn parse(
        release: &ToolRelease,
        call: &ToolCall,
        resource: Resource,
        cursor: Option<&Cursor>,
    ) -> Result<Self, Vec<ParameterError>> {
        let pairs = call.pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let is_grouped = call.value("group_by").is_some();
        let orders_groups = |value: &str| GroupOrder::names().contains(&value.trim());
        let is_grouping =
            |name: &str, value: &str| name == "group_by" || (is_grouped && name == "sort" && orders_groups(value));
        let (mut grouping, pairs): (Vec<_>, Vec<_>) = pairs.partition(|(name, value)| is_grouping(name, value));
        if is_grouped {
            // The highest limit of items selects the highest number of groups, and 0 the groups alone.
            let limit = call.value("limit").map(|_| call.count("limit")).filter(|limit| *limit > 0);
            let groups = match limit {
                None => DEFAULT_GROUPS,
                Some(limit) if limit >= MAX_ITEMS => MAX_GROUPS,
                Some(limit) => limit,
            };
            grouping.push(("limit".to_owned(), groups.to_string()));
            // An order of rows by amount also orders the groups, by sum.
            if pairs.iter().any(|(name, value)| name == "sort" && BY_AMOUNT.contains(&value.trim())) {
                grouping.push(("sort".to_owned(), "-sum_usd".to_owned()));
            }
        }
        let (options, filters): (Vec<_>, Vec<_>) =
            pairs.into_iter().partition(|(name, _)| is_page_option(name) || name == "cursor");
        let catalog = &release.catalog;
        let mut issues = Issues::default();
        let group_by = issues.collect(AggregateOptions::parse(resource, &grouping));
        let parsed = Cursor::parse_continued(cursor, resource, OPTIONS, &filters, |values| {
            parse_filters(catalog, resource, values)
        });
        let parsed = issues.collect(parsed);
        let mut errors = issues.report(catalog);
        let options = Cursor::with_omitted(&options, cursor.into_iter().flat_map(|cursor| &cursor.options));
        let limit = options.iter().find(|(name, _)| name == "limit").and_then(|(_, limit)| limit.parse().ok());
        let field_names = options.into_iter().filter(|(name, _)| name == "fields");
        let field_names: Vec<_> = field_names.map(|(name, names)| (name, own_fields(resource, &names))).collect();
        let fields = Fields::parse(&field_names, item_fields(resource.table()));
        let fields = fields.map_err(|unknown| errors.extend(unknown)).ok();
        match (parsed, fields, group_by) {
            (Some(mut parsed), Some(fields), Some(group_by)) if errors.is_empty() => {
                let raise = parsed.canonical.iter().find(|(name, _)| *name == RAISE);
                let raise = raise.and_then(|(_, amount)| amount.parse().ok());
                let fit = raise.map(|raise| MatchQuery::among(catalog, &query_of(&parsed).filters, raise));
                parsed.notes.extend(fit.as_ref().map(fit_note));
                Ok(Self {
                    resource,
                    parsed,
                    fit: fit.map(Request::Match),
                    fields,
                    field_names,
                    limit: limit.unwrap_or_else(|| call.count("limit")),
                    group_by,
                    search: None,
                    start: cursor.map_or(ListPosition::default(), |cursor| cursor.position),
                })
            }
            _ => Err(errors),
        }
    }

    /// Parses a call. If its `query` is not a name, its meaning is parsed instead.
    pub(crate) fn interpret(
        release: &ToolRelease,
        call: &ToolCall,
        resource: Resource,
        cursor: Option<&Cursor>,
    ) -> Result<Self, Vec<ParameterError>> {
        // All pages of a search share the reading of the first.
        let is_by_name = cursor.is_some_and(|cursor| cursor.filters.iter().any(|(name, _)| name == "q"));
        if call.value("q").is_none() || is_by_name {
            return Self::parse(release, call, resource, cursor);
        }
        let by_name = Self::parse(release, call, resource, None)?;
        let given: Vec<&str> = call.pairs.iter().map(|(name, _)| *name).collect();
        let search = release.catalog.read_search(resource, &given, by_name.query());
        let list = match search.as_ref().filter(|search| search.reading != ReadingKind::Name) {
            Some(search) => Self::parse(release, &call.with_meaning(search, resource), resource, cursor)?,
            None if cursor.is_some() => Self::parse(release, call, resource, cursor)?,
            None => by_name,
        };
        Ok(Self { search, ..list })
    }

    pub(crate) fn arguments(&self) -> BTreeMap<&'static str, &str> {
        self.parsed.canonical.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    pub(crate) fn query(&self) -> &Query {
        query_of(&self.parsed)
    }

    pub(crate) fn answer<'c>(&self, catalog: &'c Catalog, limit: usize) -> ListAnswer<'c> {
        let may_drop = |_: &str| true;
        let canonical = &self.parsed.canonical;
        let parts = ListParts {
            meaning_of: self.search.as_ref(),
            relaxation: Some(Relaxable { canonical, options: OPTIONS, may_drop: &may_drop }),
            groups: (!self.group_by.group_by.is_empty()).then_some((self.query(), &self.group_by)),
            amounts: self.resource == Resource::Rounds,
            similarities: true,
            match_classes: true,
            ..ListParts::default()
        };
        let request = self.fit.as_ref().unwrap_or(&self.parsed.request);
        catalog.answer(&WantedPage { resource: self.resource, request, start: self.start, limit, parts })
    }
}

impl ToolCall {
    /// The call with the meaning of its `query` in place of it.
    fn with_meaning(&self, search: &SearchReading, resource: Resource) -> Self {
        let mut call = self.clone();
        call.pairs.retain(|(name, _)| *name != "q");
        for (name, value) in search.values() {
            let parameter = resource.parameter(&name).map_or("limit", |parameter| parameter.name);
            call.pairs.push((parameter, value));
        }
        let groups = search.as_question().and_then(|question| question.groups());
        call.pairs.extend(groups.map(|groups| (GROUP_BY, groups.to_owned())));
        call
    }
}

fn query_of(parsed: &ParsedRequest) -> &Query {
    let Request::List(query) = &parsed.request else { unreachable!("tools search lists") };
    query
}

fn fit_note(fit: &MatchQuery) -> ParameterError {
    let is_described = [&fit.stages, &fit.sectors, &fit.countries].into_iter().any(|values| !values.is_empty());
    let detail = match is_described {
        true => {
            "firms are ranked by `fit`, by the startups that they invested in: those that meet `stage`, `sector` and \
             `country` come first"
        }
        false => {
            "`raise_usd` ranks firms by fit with `stage`, `sector` or `country`; give one, such as `sector=fintech`"
        }
    };
    ParameterError::invalid(RAISE, detail)
}

/// Parses the filters and the order; `raise_usd` is then one of the canonical values.
fn parse_filters(catalog: &Catalog, resource: Resource, values: &[(String, String)]) -> Result<ParsedRequest, Issues> {
    let mut parsed = catalog.parse(resource, values, OPTIONS)?;
    let Some((_, amount)) = values.iter().find(|(name, _)| name == RAISE) else { return Ok(parsed) };
    let invalid = |name: &str, detail: String| Err(vec![ParameterError::invalid(name, detail)].into());
    let Some(raise) = parse_amount(amount).filter(|raise| *raise > 0) else {
        let amount = shortened(amount);
        return invalid(RAISE, format!("`{amount}` is not an amount in US dollars, such as 500k or 1500000"));
    };
    let has = |name: &str| parsed.canonical.iter().any(|(known, _)| *known == name);
    let is_sorted = query_of(&parsed).order != Order::Natural;
    let other = SEARCHES.into_iter().find(|name| has(name)).or(is_sorted.then_some("sort"));
    if let Some(name) = other {
        let detail = "cannot be combined with `raise_usd`, which lists firms by fit; omit one of the two";
        return invalid(name, detail.to_owned());
    }
    parsed.canonical.push((RAISE, raise.to_string()));
    Ok(parsed)
}
