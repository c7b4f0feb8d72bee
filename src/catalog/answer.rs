//! The answer to a request for a page of a list. REST, the tools, the pages and their twins only present it.

use std::ops::Deref;
use std::sync::Arc;

use crate::amounts::amount_field;
use crate::changes::RecordJson;
use crate::json::computed::{CoInvestorFields, MatchFields, RankFields};
use crate::json::{ComposedRecord, Fields};
use crate::relaxation::Relaxable;
use crate::similar::Similarity;
use crate::snippet::Snippet;
use crate::{
    Aggregate, AggregateOptions, Amounts, Catalog, Filter, ListPosition, MatchPage, Page, ParameterError, Query,
    Relaxation, Request, Resource, SearchReading,
};
use data::Table;
use search::{Explanation, MatchClass};

/// A request for a page of a list, and for parts of the answer beyond the rows.
#[derive(Clone, Copy)]
pub struct WantedPage<'a> {
    pub resource: Resource,
    pub request: &'a Request,
    pub start: ListPosition,
    pub limit: usize,
    pub parts: ListParts<'a>,
}

/// The parts of an answer that are computed. Except for `groups` they belong to [`Request::List`].
#[derive(Clone, Copy, Default)]
pub struct ListParts<'a> {
    /// The reading of the search text that the request was made from; its similar names are suggested, too.
    pub meaning_of: Option<&'a SearchReading>,
    /// Names of the parameters next to which the search text is read.
    pub reading_next_to: Option<&'a [&'a str]>,
    pub relaxation: Option<Relaxable<'a>>,
    pub groups: Option<(&'a Query, &'a AggregateOptions)>,
    pub amounts: bool,
    pub snippets: bool,
    pub similarities: bool,
    pub match_classes: bool,
    pub explanations: bool,
}

impl<'a> WantedPage<'a> {
    pub fn rows(resource: Resource, request: &'a Request, start: ListPosition, limit: usize) -> Self {
        Self { resource, request, start, limit, parts: ListParts::default() }
    }
}

#[derive(Default)]
pub struct ListAnswer<'c> {
    pub rows: ListRows,
    pub total: u64,
    pub next: Option<ListPosition>,
    pub did_you_mean: Vec<u32>,
    /// Notes on the matches of a search, such as that `total` may be too low.
    pub notes: Vec<ParameterError>,
    pub reading: Option<SearchReading>,
    pub relaxation: Option<Relaxation>,
    pub groups: Option<Arc<Aggregate>>,
    /// Amounts of all matching rounds.
    pub amounts: Option<Amounts>,
    /// Of the rows with words of the text in their descriptions.
    pub snippets: Vec<Snippet>,
    /// For each row; empty without `like`.
    pub similarities: Vec<Similarity<'c>>,
    /// For each row; empty without a search text.
    pub match_classes: Vec<MatchClass>,
    pub explanations: Vec<(u32, Explanation)>,
}

/// The rows of a page, with the fields that are computed for the list.
#[derive(Default)]
pub struct ListRows {
    rows: Vec<u32>,
    pub computed: ComputedRows,
}

#[derive(Default)]
pub enum ComputedRows {
    #[default]
    None,
    Ranked(Vec<RankFields>),
    CoInvestors(Vec<CoInvestorFields>),
    Matches(MatchPage),
}

impl Deref for ListRows {
    type Target = [u32];

    fn deref(&self) -> &[u32] {
        &self.rows
    }
}

impl ListRows {
    /// The record of `table` at `index`, with the fields that are computed for the list.
    pub fn record<'c>(&self, catalog: &'c Catalog, table: Table, index: usize) -> ComposedRecord<'c> {
        let record = ComposedRecord::new(catalog, table, self.rows[index]);
        match &self.computed {
            ComputedRows::None => record,
            ComputedRows::Ranked(ranks) => record.with_computed(&ranks[index]),
            ComputedRows::CoInvestors(firms) => record.with_computed(&firms[index]),
            ComputedRows::Matches(page) => {
                record.with_computed(&MatchFields::new(catalog.snapshot(), &page.matches[index], page.max_points))
            }
        }
    }

    /// All records with their default fields.
    pub fn records(&self, catalog: &Catalog, table: Table) -> Vec<RecordJson> {
        let record = |index: usize| {
            let mut json = Vec::new();
            self.record(catalog, table, index).write(&mut json, &Fields::Default, false);
            RecordJson::from_json(json)
        };
        (0..self.len()).map(record).collect()
    }

    /// The record at `index` with all of its fields, as its own path has it.
    pub fn whole_record(&self, catalog: &Catalog, table: Table, index: usize) -> RecordJson {
        let mut json = Vec::new();
        self.record(catalog, table, index).write(&mut json, &Fields::Default, true);
        RecordJson::from_json(json)
    }

    /// Writes all records, separated by commas.
    pub fn write_all(&self, out: &mut Vec<u8>, catalog: &Catalog, table: Table, fields: &Fields) {
        for index in 0..self.len() {
            out.extend((index > 0).then_some(b','));
            self.record(catalog, table, index).write(out, fields, false);
        }
    }
}

impl Catalog {
    pub fn answer(&self, wanted: &WantedPage<'_>) -> ListAnswer<'_> {
        let WantedPage { request, start, limit, parts, .. } = *wanted;
        let of_page = |total, next, rows, computed| ListAnswer {
            total,
            next,
            rows: ListRows { rows, computed },
            ..Default::default()
        };
        let answer = match request {
            Request::List(query) => self.answer_query(query, wanted),
            Request::Leaderboard(query) => {
                let page = self.leaderboard(query, start, limit);
                let ranked = page.rows.iter().map(|ranked| (ranked.row, RankFields::new(ranked, query.metric)));
                let (rows, ranks) = ranked.unzip();
                of_page(page.total, page.next, rows, ComputedRows::Ranked(ranks))
            }
            Request::CoInvestors(firm) => {
                let page = self.co_investors(*firm, start, limit);
                let (rows, firms) = page.rows.into_iter().unzip();
                of_page(page.total, page.next, rows, ComputedRows::CoInvestors(firms))
            }
            Request::Match(query) => {
                let page = self.matches(query, start, limit);
                let rows = page.matches.iter().map(|firm| firm.row).collect();
                of_page(page.total, page.next, rows, ComputedRows::Matches(page))
            }
        };
        let Some((query, options)) = parts.groups else { return answer };
        let groups = self.aggregate(query, options).0;
        let notes = answer.notes.into_iter().chain(self.note_on_near_groups(query, &groups)).collect();
        ListAnswer { groups: Some(groups), notes, ..answer }
    }

    fn answer_query(&self, query: &Query, wanted: &WantedPage<'_>) -> ListAnswer<'_> {
        let WantedPage { resource, start, limit, parts, .. } = *wanted;
        let Page { rows, total, next, mut did_you_mean, mut notes } = self.list(query, start, limit);
        let group_by = parts.groups.map_or(&[][..], |(_, options)| &options.group_by);
        notes.extend(self.group_coverage(query, group_by));
        notes.extend(self.related_sectors_note(query, total));
        notes.extend(self.sector_investors_note(query, total));
        if parts.amounts || amount_field(query.table).is_some_and(|field| query.reads(field)) {
            notes.extend(self.notes_on_amounts(query));
        }
        notes.extend(self.note_on_totals(&self.named_startups(query, &rows)));
        notes.extend(self.note_on_near_names(query, &rows));
        did_you_mean.extend(parts.meaning_of.iter().flat_map(|reading| &reading.similar));
        let mut answer = ListAnswer { total, next, did_you_mean, notes, ..Default::default() };
        answer.reading = parts.reading_next_to.and_then(|given| self.read_search(resource, given, query));
        let relaxable = parts.relaxation.filter(|_| total == 0);
        answer.relaxation = relaxable.and_then(|relaxable| self.relaxation(resource, relaxable));
        answer.amounts = parts.amounts.then(|| self.amounts(&query.filters));
        answer.snippets = if parts.snippets { self.snippets_of(query, &rows) } else { Vec::new() };
        let like = query.like().filter(|_| parts.similarities);
        answer.similarities = like.map(|row| self.similarities(query.table, row, &rows)).unwrap_or_default();
        let text = query.text.as_deref();
        let classes = text.filter(|_| parts.match_classes).map(|text| self.match_classes(query.table, text, &rows));
        answer.match_classes = classes.unwrap_or_default();
        let explain = |row: &u32| Some((*row, self.explain(query.table, text?, *row)?));
        answer.explanations = rows.iter().filter(|_| parts.explanations).filter_map(explain).collect();
        ListAnswer { rows: ListRows { rows, computed: ComputedRows::None }, ..answer }
    }
    /// The startups of a page that the query names, by slug or by their whole name.
    fn named_startups(&self, query: &Query, rows: &[u32]) -> Vec<u32> {
        let is_listed = query.filters.iter().any(|filter| matches!(filter, Filter::Rows(_)));
        let is_named = |row: &u32| query.text.as_deref().is_some_and(|text| self.is_named(query.table, *row, text));
        let is_only = query.text.is_some() && rows.len() == 1;
        let named = rows.iter().copied().filter(|row| is_listed || is_only || is_named(row));
        if query.table == Table::Startups { named.collect() } else { Vec::new() }
    }
}
