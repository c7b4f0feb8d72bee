//! A search: its filters and order, the fields of its items, and the position of its page.
//!
//! A cursor carries all of it except `count_by`: groups cover all matches and come with the first page. Arguments next
//! to a cursor must agree with it, except for `limit` and `fields`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::backend::ToolRelease;
use crate::tool::MAX_ITEMS;
use crate::tool_result::MAX_VALUE_BYTES;
use crate::{Tool, ToolCall};
use catalog::aggregate::{DEFAULT_GROUPS, GroupOrder, Grouping, MAX_GROUPS};
use catalog::ask::GROUP_BY;
use catalog::json::computed::MatchFields;
use catalog::json::{FieldSet, Fields, fields};
use catalog::param_error::shortened;
use catalog::parse::scalars::parse_amount;
use catalog::relaxation::Relaxation;
use catalog::similar::Similarity;
use catalog::{
    AggregateOptions, Catalog, Cursor, FirmMatch, Issues, ListPosition, MatchQuery, Order, Page, ParameterError,
    ParseOptions, Query, ReadingKind, Request, Resource, SearchReading,
};
use data::field::{Field, Model, model};
use data::model::RelatedRole;
use data::vocabulary::Vocabulary;
use data::{ReviewStatus, Table};
use search::MatchClass;

pub(crate) const OPTIONS: ParseOptions = ParseOptions {
    strict: true,
    review_statuses: &[ReviewStatus::Approved],
    other_names: &["limit", "fields", "cursor", RAISE],
};

/// True for arguments that each page may change; a cursor carries them as defaults.
fn is_page_option(name: &str) -> bool {
    ["limit", "fields"].contains(&name)
}

/// Orders of rows by the amount raised.
const BY_AMOUNT: [&str; 2] = ["-amount_usd", "-total_raised_usd"];

/// True if a value of `sort` orders groups, not rows.
fn orders_groups(value: &str) -> bool {
    GroupOrder::ALL.iter().any(|(name, _)| *name == value.trim())
}

/// A note that groups are left out, and how to get them.
pub(crate) fn cut_groups(groups: &Grouping, may_grow: bool) -> Option<String> {
    let (listed, by) = (groups.values.len(), groups.by);
    let all = listed as u64 + groups.other_values;
    let more = if may_grow { " a larger `limit` gives more," } else { "" };
    (groups.other_values > 0).then(|| {
        format!(
            "`groups` has {listed} of {all} values of `{by}`;{more} `sort` orders them: -count, -sum_usd, -median_usd, -value"
        )
    })
}

/// The amount that a startup raises: firms are then listed by how well they fit.
pub(crate) const RAISE: &str = "raise_usd";

model! {
    /// What an item has in addition to its record.
    #[derive(Serialize)]
    pub(crate) struct RecordItem {
        /// The record's page.
        pub url: String [uri],
        /// How the name matches the search.
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        pub match_class: Option<&'static str> [optional, named("match"), one_of("MatchClass")],
        /// What the record has in common with that of `like`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_common: Option<String> [optional],
    }

    /// What a person has in addition to their record.
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

    /// What a firm has in addition to its record.
    #[derive(Serialize)]
    pub(crate) struct FirmItem<'a> {
        /// The firm's page.
        pub url: String [uri],
        /// How the name matches the search.
        #[serde(rename = "match", skip_serializing_if = "Option::is_none")]
        pub match_class: Option<&'static str> [optional, named("match"), one_of("MatchClass")],
        /// What the record has in common with that of `like`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub in_common: Option<String> [optional],
        /// How well the firm fits the startup (`raise_usd`).
        pub fit: Option<MatchFields<'a>> [optional],
    }
}

/// The fields of the items of a table, without their history, which would make the schemas longer than a model should
/// read.
pub(crate) fn item_fields(table: Table) -> FieldSet {
    let computed: &'static [Field] = match table {
        Table::Firms => FirmItem::DEFINITION.fields,
        Table::People => PersonItem::DEFINITION.fields,
        Table::Startups => RecordItem::DEFINITION.fields,
        Table::Rounds | Table::Reviews | Table::Sectors => &[],
    };
    FieldSet::with_computed(table, computed).without_history()
}

pub(crate) struct ListCall {
    pub(crate) resource: Resource,
    pub(crate) rows: RowQuery,
    pub(crate) fields: Fields,
    /// The argument `fields`.
    field_names: Vec<(String, String)>,
    pub(crate) limit: usize,
    /// Properties by which the matches are counted (`count_by`).
    pub(crate) group_by: AggregateOptions,
    /// The meaning of `query`, if it is not a name.
    pub(crate) search: Option<SearchReading>,
    start: ListPosition,
}

/// The rows of a search and their order.
pub(crate) struct RowQuery {
    pub(crate) query: Query,
    /// The startup that the firms are matched with.
    fit: Option<MatchQuery>,
    /// Filters and `sort` in canonical names and values.
    canonical: Vec<(&'static str, String)>,
    /// Notes on how values were interpreted.
    pub(crate) notes: Vec<ParameterError>,
}

/// One page of a search.
#[derive(Default)]
pub(crate) struct ListCallPage {
    pub(crate) rows: Vec<u32>,
    pub(crate) total: u64,
    pub(crate) next: Option<ListPosition>,
    pub(crate) did_you_mean: Vec<u32>,
    /// Notes to the model on the matches of a search.
    pub(crate) notes: Vec<ParameterError>,
    /// Match classes of the rows, in their order; empty without a search.
    pub(crate) match_classes: Vec<MatchClass>,
    /// Properties that the rows share with the record of `like`, in their order; empty without one.
    in_common: Vec<String>,
    fits: Vec<FirmMatch>,
    pub(crate) max_points: u8,
}

impl ListCallPage {
    pub(crate) fn match_of(&self, row: u32) -> Option<&'static str> {
        self.rows.iter().zip(&self.match_classes).find(|(known, _)| **known == row).map(|(_, class)| class.name())
    }

    pub(crate) fn in_common(&self, row: u32) -> Option<String> {
        self.rows.iter().zip(&self.in_common).find(|(known, _)| **known == row).map(|(_, words)| words.clone())
    }

    pub(crate) fn fit_of(&self, row: u32) -> Option<&FirmMatch> {
        self.fits.iter().find(|fit| fit.row == row)
    }
}

impl ToolRelease {
    /// Finds the release and the cursor that a call continues from; without a cursor, this release.
    pub(crate) fn open_cursor(&self, call: &ToolCall) -> Result<(Self, Option<Cursor>), Vec<ParameterError>> {
        let Some(text) = call.value("cursor") else { return Ok((self.clone(), None)) };
        let invalid = |detail: String| vec![ParameterError::invalid("cursor", detail)];
        let cursor = Cursor::open(text.trim(), &self.cursor_secret, is_page_option)
            .filter(|cursor| cursor.path == call.tool.name());
        let cursor = cursor.ok_or_else(|| {
            invalid("pass `next_cursor` of the previous result of this tool unmodified, or omit `cursor`".to_owned())
        })?;
        let (loaded, is_expected) = self.releases.look_up(cursor.snapshot, true);
        let loaded = loaded.filter(|catalog| catalog.snapshot().content() == cursor.content).ok_or_else(|| {
            let version = cursor.snapshot;
            invalid(match is_expected {
                true => format!("its snapshot {version} is not loaded here yet; send the same call again in a second"),
                false => format!("its snapshot {version} has expired; restart without `cursor`"),
            })
        })?;
        let release = Self { snapshot: cursor.snapshot.to_string(), catalog: loaded, ..self.clone() };
        Ok((release, Some(cursor)))
    }

    /// The sealed cursor of the page at `position`; `None` if the arguments are too long for one.
    pub(crate) fn cursor_at(&self, tool: Tool, list: &ListCall, position: ListPosition) -> Option<String> {
        let selected = list.field_names.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let options = [
            ("limit", Some(list.limit.to_string())),
            ("fields", fields::canonical(selected).filter(|names| !names.is_empty())),
        ];
        let options = options.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let filters = list.rows.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let cursor = Cursor {
            snapshot: self.catalog.version(),
            content: self.catalog.snapshot().content(),
            path: tool.name().to_owned(),
            filters: filters.collect(),
            options: options.collect(),
            position,
        };
        cursor.seal(&self.cursor_secret).filter(|cursor| cursor.len() <= MAX_VALUE_BYTES / 2)
    }
}

impl ListCall {
    /// # Errors
    /// All arguments with invalid values.
    pub(crate) fn parse(
        release: &ToolRelease,
        call: &ToolCall,
        resource: Resource,
        cursor: Option<&Cursor>,
    ) -> Result<Self, Vec<ParameterError>> {
        let pairs = call.pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        let is_grouped = call.value("group_by").is_some();
        let is_grouping =
            |name: &str, value: &str| name == "group_by" || (is_grouped && name == "sort" && orders_groups(value));
        let (mut grouping, pairs): (Vec<_>, Vec<_>) = pairs.partition(|(name, value)| is_grouping(name, value));
        if is_grouped {
            // The highest limit of items selects the highest number of groups.
            let groups = match call.count("limit") {
                limit if limit >= MAX_ITEMS => MAX_GROUPS,
                limit => limit.max(DEFAULT_GROUPS),
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
        let parsed = RowQuery::parse(catalog, resource, &filters).and_then(|given| match cursor {
            None => Ok(given),
            Some(cursor) => {
                let default_of = |name: &str, has_text| OPTIONS.default_of(resource, name, has_text);
                cursor.check(&given.canonical, default_of).map_err(|error| vec![error])?;
                RowQuery::parse(catalog, resource, &cursor.filters)
            }
        });
        let parsed = issues.collect(parsed);
        let mut errors = issues.report(catalog);
        let carried = |name: &str| cursor.and_then(|cursor| cursor.option(name));
        let mut field_names: Vec<_> = options.into_iter().filter(|(name, _)| name == "fields").collect();
        if let Some(names) = carried("fields").filter(|_| field_names.is_empty()) {
            field_names.push(("fields".to_owned(), names.to_owned()));
        }
        let fields = Fields::parse(&field_names, item_fields(resource.table()));
        let fields = fields.map_err(|unknown| errors.extend(unknown)).ok();
        let carried_limit = carried("limit").filter(|_| call.value("limit").is_none());
        let limit = carried_limit.and_then(|limit| limit.parse().ok()).unwrap_or_else(|| call.count("limit"));
        let start = cursor.map_or(ListPosition::default(), |cursor| cursor.position);
        match (parsed, fields, group_by) {
            (Some(rows), Some(fields), Some(group_by)) if errors.is_empty() => {
                Ok(Self { resource, rows, fields, field_names, limit, group_by, search: None, start })
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
        let search = release.catalog.read_search(resource, &given, &by_name.rows.query);
        let list = match search.as_ref().filter(|search| search.reading != ReadingKind::Name) {
            Some(search) => Self::parse(release, &call.with_meaning(search, resource), resource, cursor)?,
            None if cursor.is_some() => Self::parse(release, call, resource, cursor)?,
            None => by_name,
        };
        Ok(Self { search, ..list })
    }

    /// The filters and the order as arguments.
    pub(crate) fn arguments(&self) -> BTreeMap<&'static str, &str> {
        self.rows.canonical.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    /// Finds a condition to drop from a search without a match.
    pub(crate) fn relaxation(&self, catalog: &Catalog) -> Option<Relaxation> {
        let canonical = &self.rows.canonical;
        self.rows.fit.is_none().then(|| catalog.relaxation(self.resource, canonical, OPTIONS, |_| true))?
    }

    pub(crate) fn page(&self, catalog: &Catalog, limit: usize) -> ListCallPage {
        match &self.rows.fit {
            Some(fit) => {
                let page = catalog.matches(fit, self.start, limit);
                let rows = page.matches.iter().map(|fit| fit.row).collect();
                let (total, next, max_points) = (page.total, page.next, page.max_points);
                ListCallPage { rows, total, next, max_points, fits: page.matches, ..ListCallPage::default() }
            }
            None => {
                let query = &self.rows.query;
                let Page { rows, total, next, mut did_you_mean, notes } = catalog.list(query, self.start, limit);
                did_you_mean.extend(self.search.iter().flat_map(|search| &search.similar));
                let classes = query.text.as_deref().map(|text| catalog.match_classes(query.table, text, &rows));
                let match_classes = classes.unwrap_or_default();
                let similarities = catalog.similarities_of(query, &rows);
                let in_common = similarities.iter().map(Similarity::in_words).collect();
                ListCallPage {
                    rows,
                    total,
                    next,
                    did_you_mean,
                    notes,
                    match_classes,
                    in_common,
                    ..ListCallPage::default()
                }
            }
        }
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

impl RowQuery {
    fn parse(catalog: &Catalog, resource: Resource, values: &[(String, String)]) -> Result<Self, Issues> {
        let parsed = catalog.parse(resource, values, OPTIONS)?;
        let Request::List(query) = parsed.request else { unreachable!("tools search lists") };
        let mut canonical = parsed.canonical;
        let notes = parsed.notes;
        let Some((_, amount)) = values.iter().find(|(name, _)| name == RAISE) else {
            return Ok(Self { query, fit: None, canonical, notes });
        };
        let Some(raise) = parse_amount(amount).filter(|raise| *raise > 0) else {
            let amount = shortened(amount);
            let detail = format!("`{amount}` is not an amount in US dollars, such as 500k or 1500000");
            return Err(vec![ParameterError::invalid(RAISE, detail)].into());
        };
        let has = |name: &str| canonical.iter().any(|(known, _)| *known == name);
        let given = ["q", "text", "like"].map(|name| (name, has(name)));
        let given = given.into_iter().chain([("sort", query.order != Order::Natural)]);
        if let Some((name, _)) = given.into_iter().find(|(_, is_given)| *is_given) {
            let detail = "cannot be combined with `raise_usd`, which lists firms by fit; omit one of the two";
            return Err(vec![ParameterError::invalid(name, detail)].into());
        }
        canonical.push((RAISE, raise.to_string()));
        let fit = MatchQuery::among(&query.filters, raise);
        let mut notes = notes;
        let detail = match fit.has_profile() {
            true => "firms are ranked by `fit`: `stage`, `sector` and `country` add points and do not filter",
            false => {
                "`raise_usd` ranks firms by fit with `stage`, `sector` or `country`; give one, such as `sector=fintech`"
            }
        };
        notes.push(ParameterError::invalid(RAISE, detail));
        Ok(Self { query, fit: Some(fit), canonical, notes })
    }
}
