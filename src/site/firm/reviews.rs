use std::collections::BTreeMap;

use askama::Template;

use crate::browse::{PageQuery, Pager, Warning, at_page, page_size, position_of};
use crate::conditions::{active_filters, label_of};
use crate::embed::DrawnChart;
use crate::error_page::PageError;
use crate::firm::score::Trend;
use crate::layout::PageLayout;
use crate::records::records;
use crate::{PageRequest, PageResult, PathValues, find, render};
use catalog::{Catalog, Filter, Query, Request, Resource};
use data::model::Review;
use data::{Facet, Table};
use view::charts::{Bars, ChartFigure, ChartHead, ChartUnit};
use view::format;
use view::link::Link;

const REVIEWS: ChartUnit = ChartUnit::Count("review", "reviews");

#[derive(Template)]
#[template(path = "firm_reviews.html")]
struct ReviewsPage {
    layout: PageLayout,
    slug: String,
    name: String,
    warnings: Vec<Warning>,
    /// Label and path of each order; true for the current one.
    orders: [(&'static str, String, bool); 3],
    active_filters: Vec<(String, String)>,
    clear: String,
    filters: Vec<ReviewFilter>,
    histogram: Option<Bars>,
    trend: Option<Trend>,
    reviews: Vec<Review>,
    review_count: u64,
    pager: Pager,
    review_url: Option<String>,
    /// True if a review can be reported here.
    takes_reviews: bool,
    api: String,
}

/// Label of a property; label, path (of the page without it, if selected), reviews of each value; true if selected.
type ReviewFilter = (&'static str, Vec<(String, String, u64, bool)>);

/// Orders of the reviews: label and value of `sort`.
const ORDERS: [(&str, &str); 3] =
    [("newest first", ""), ("lowest rating first", "rating"), ("highest rating first", "-rating")];

/// `/vcs/{slug}/reviews`, with the filters and orders of `/reviews`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, path: PathValues<'_>) -> PageResult<String> {
    let row = find(catalog, Table::Firms, path[0])?;
    let snapshot = catalog.snapshot();
    let (slug, name) = (snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row));
    let path = format!("/vcs/{slug}/reviews");
    let asked = PageQuery::parse(catalog, Resource::Reviews, &path, request.query)?;
    let (link, page) = (asked.link.clone(), asked.page);
    let Request::List(mut query) = asked.parsed.request.clone() else { unreachable!("reviews are a list") };
    query.filters.extend(Query::approved_reviews(row).filters);
    let found = catalog.list(&query, position_of(&link, page), page_size(&link) as usize);
    let description = format!("What founders say about {name}: {}.", format::counted(found.total, "review", "reviews"));
    let order =
        |(label, sort): (&'static str, &str)| (label, link.with("sort", sort).href(), link.text("sort") == sort);
    let filters = [filter(catalog, &query, &link, "stage"), filter(catalog, &query, &link, "ghosted")];
    let histogram = histogram(catalog, &query, &link);
    let trend = Trend::new(catalog.score_by_year(row), slug);
    let layout = PageLayout::new(snapshot, &format!("Reviews of {name}"), &description, &path)
        .with_twins(request.state, &at_page(&link, page).query());
    let picture = trend
        .as_ref()
        .filter(|trend| trend.axis.is_some())
        .map(|trend| &trend.head)
        .or(histogram.as_ref().map(ChartFigure::head));
    render(&ReviewsPage {
        layout: layout.with_chart(request.state, picture),
        slug: slug.to_owned(),
        name: name.to_owned(),
        warnings: asked.warnings(&link),
        orders: ORDERS.map(order),
        active_filters: active_filters(catalog, &link),
        clear: Link::new(&path, Vec::new()).with("sort", link.text("sort")).href(),
        filters: filters.into_iter().filter(|(_, values)| values.len() > 1).collect(),
        histogram,
        trend,
        reviews: records(catalog, Table::Reviews, &found.rows)?,
        review_count: found.total,
        pager: Pager::new(&link, page, found.total),
        review_url: request.state.operator.review_url(slug),
        takes_reviews: request.state.operator.takes_reviews(),
        api: link.at(&request.api(&format!("vcs/{slug}/reviews"))).href(),
    })
}

/// The ratings of the reviews that match the query.
pub(crate) fn ratings_chart(catalog: &Catalog, request: PageRequest<'_>, slug: &str) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Firms, slug)?;
    let snapshot = catalog.snapshot();
    let path = format!("/vcs/{}/reviews", snapshot.slug(Table::Firms, row));
    let asked = PageQuery::parse(catalog, Resource::Reviews, &path, request.query)?;
    if !asked.problems.is_empty() {
        return Err(PageError::InvalidQuery(asked.problems));
    }
    let Request::List(mut query) = asked.parsed.request else { unreachable!("reviews are a list") };
    query.filters.extend(Query::approved_reviews(row).filters);
    Ok(DrawnChart::new(
        format!("Reviews of {}", snapshot.name(Table::Firms, row)),
        histogram(catalog, &query, &asked.link),
    ))
}

fn without(query: &Query, is_own: impl Fn(&Filter) -> bool) -> Query {
    Query { filters: query.filters.iter().filter(|filter| !is_own(filter)).cloned().collect(), ..query.clone() }
}

/// The values of a property, counted over the reviews that match all other conditions.
fn filter(catalog: &Catalog, query: &Query, link: &Link, name: &'static str) -> ReviewFilter {
    let (title, facet) = if name == "stage" { ("Stage", Facet::Stage) } else { ("Response", Facet::Ghosted) };
    let query = without(query, |filter| matches!(filter, Filter::AnyOf(known, _) if *known == facet));
    let mut counts = catalog.counts_by(&query, &[facet]).pop().unwrap_or_default();
    // Stages in the order of a company's life.
    counts.sort_unstable_by_key(|counted| counted.value);
    let values = counts.into_iter().map(|counted| {
        let (value, _) = catalog.facet_label(Table::Reviews, facet, counted.value);
        let is_selected = link.values(name).any(|known| known == value);
        let href = link.with(name, if is_selected { "" } else { &value }).href();
        (label_of(catalog, name, &value), href, counted.count, is_selected)
    });
    (title, values.collect())
}

/// The distribution of ratings over the reviews that match all other conditions.
fn histogram(catalog: &Catalog, query: &Query, link: &Link) -> Option<Bars> {
    let rating = Table::Reviews.sort_key("rating");
    let query = without(query, |filter| matches!(filter, Filter::Range { key, .. } if *key == rating));
    let counts = catalog.counts_by(&query, &[Facet::Rating]).pop()?;
    let counts: BTreeMap<u32, u64> = counts.iter().map(|counted| (counted.value, counted.count)).collect();
    let all: u64 = counts.values().sum();
    let sum: u64 = counts.iter().map(|(stars, count)| u64::from(*stars) * count).sum();
    let summary =
        format!("{}, on average {:.1} of 5 stars.", format::counted(all, "review", "reviews"), sum as f64 / all as f64);
    let head = ChartHead::new("ratings", "Ratings", summary)
        .table(["Rating", "Reviews"], REVIEWS)
        .on_page(&link.path, &link.query());
    let bins = [1, 2, 3, 4, 5].map(|stars| (stars, stars));
    let name = |stars: u32| format!("{stars} {}", if stars == 1 { "star" } else { "stars" });
    let href =
        |stars: u32, _| Some(link.with("min_rating", &stars.to_string()).with("max_rating", &stars.to_string()).href());
    Bars::histogram(head, &counts, &bins, name, href).filter(|_| all > 1)
}
