//! `/embed/…`: each chart of a page with an address of its own, as a page that other sites may frame, as SVG and PNG with what the
//! page says around it, and its data as CSV and JSON.
//!
//! The address is that of the page and the name of the chart: `/embed/vcs/alder-capital/timeline`. Routes, links below charts and
//! documentation follow from [`CHARTS`].

use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use http::header::CONTENT_DISPOSITION;
use http::{HeaderValue, Response};
use once_cell::sync::Lazy;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use crate::error_page::PageError;
use crate::field_years::FieldYears;
use crate::layout::{HTML, asset_version};
use crate::market::Market;
use crate::routes::{self, PageRow};
use crate::theme::Theme;
use crate::twin::{TwinFormat, TwinMeta};
use crate::{
    PageRequest, PageResult, PageRoute, PathValues, cache_key, cacheable_response, firm, home, leaderboard, market,
    startup, with_notice,
};
use ::data::formula;
use ::data::import::csv_writer;
use catalog::{Catalog, ParameterError};
use transport::headers::{Caching, CommonHeaders, Vary, set};
use transport::response_cache::CachedResponse;
use view::charts::{ChartData, ChartFigure, Datum, EMBED, chart_path};
use view::picture::{Letters, PictureSource, chart_picture, png};

/// The content security policy of the pages that other sites may frame.
const FRAMED: &str = "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors *";
/// The policy of SVG, whose style sheet is within it.
const PICTURE: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Draws a chart for the request of its page; `None` if the data has too little for it.
type DrawChart = fn(&Catalog, PageRequest<'_>, PathValues<'_>) -> PageResult<Option<DrawnChart>>;

/// A row of the table of charts.
pub(crate) struct ChartEntry {
    /// The last part of its address, unique on each page.
    pub(crate) name: &'static str,
    /// The paths of the pages with the chart.
    pub(crate) pages: &'static [&'static str],
    /// What it shows, as a phrase for the documentation.
    pub(crate) shows: &'static str,
    /// Parameters of its address; `None` if it reads the whole query and reports what it does not know.
    pub(crate) parameters: Option<&'static [&'static str]>,
    draw: DrawChart,
}

pub(crate) struct DrawnChart {
    /// What the chart is about: a firm, a market.
    pub(crate) subject: String,
    pub(crate) chart: Box<dyn ChartFigure>,
}

impl DrawnChart {
    pub(crate) fn new(subject: impl Into<String>, chart: Option<impl ChartFigure + 'static>) -> Option<Self> {
        let (subject, chart) = (subject.into(), Box::new(chart?));
        Some(Self { subject, chart })
    }
}

const FIRM: &[&str] = &["/vcs/{slug}"];
const REVIEWS: &[&str] = &["/vcs/{slug}/reviews"];
const STARTUP: &[&str] = &["/startups/{slug}"];
const MARKETS: &[&str] = &[
    "/markets",
    "/sectors/{slug}",
    "/sectors/{slug}/{stage}",
    "/countries/{code}",
    "/countries/{code}/{stage}",
    "/cities/{name}",
    "/cities/{name}/{stage}",
];

const fn row(name: &'static str, pages: &'static [&'static str], shows: &'static str, draw: DrawChart) -> ChartEntry {
    ChartEntry { name, pages, shows, parameters: Some(&[]), draw }
}

/// All charts that have an address. Those of accounts are private, those of filters are a part of their form.
pub(crate) static CHARTS: &[ChartEntry] = &[
    row("years", FIRM, "rounds that the firm joined, by year and stage", |catalog, _, [slug, _]| {
        firm::rounds_chart(catalog, slug, |rounds| boxed(rounds.by_year()))
    }),
    row("stages", FIRM, "the same as a table of shades", |catalog, _, [slug, _]| {
        firm::rounds_chart(catalog, slug, |rounds| boxed(rounds.by_stage()))
    }),
    row("timeline", FIRM, "the rounds one by one, with their amounts", |catalog, _, [slug, _]| {
        firm::rounds_chart(catalog, slug, |rounds| boxed(rounds.timeline()))
    }),
    row("portfolio-sectors", FIRM, "its startups by sector", |catalog, _, [slug, _]| {
        firm::portfolio_chart(catalog, slug, |portfolio| portfolio.by_sector())
    }),
    row("portfolio-countries", FIRM, "its startups by country", |catalog, _, [slug, _]| {
        firm::portfolio_chart(catalog, slug, |portfolio| portfolio.by_country())
    }),
    row("co-investors", FIRM, "the firms with which it joined most rounds", |catalog, _, [slug, _]| {
        firm::co_investors_chart(catalog, slug)
    }),
    ChartEntry {
        parameters: None,
        ..row("ratings", REVIEWS, "the ratings of the reviews that the query selects", |catalog, request, [slug, _]| {
            firm::reviews::ratings_chart(catalog, request, slug)
        })
    },
    row("score-by-year", REVIEWS, "the health score of each year, with its interval", |catalog, _, [slug, _]| {
        firm::score_chart(catalog, slug)
    }),
    row("funding", STARTUP, "the sum raised, round by round", |catalog, _, [slug, _]| {
        startup::funding_chart(catalog, slug)
    }),
    row("investors", STARTUP, "who joined and who led which round", |catalog, _, [slug, _]| {
        startup::investors_chart(catalog, slug)
    }),
    row("rounds", MARKETS, "funding rounds by year", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.rounds_by_year(catalog)))
    }),
    row("raised", MARKETS, "known amounts by year", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.raised_by_year(catalog)))
    }),
    row("stages", MARKETS, "funding rounds by stage and year", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.stages_by_year(catalog)))
    }),
    row("by-sector", MARKETS, "funding rounds by sector", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.by_sector(catalog)))
    }),
    row("by-country", MARKETS, "funding rounds by country", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.by_country(catalog)))
    }),
    row("largest", MARKETS, "the largest rounds on a time axis", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.timeline(catalog)))
    }),
    row("network", MARKETS, "which firms invest together", |catalog, request, values| {
        market_chart(catalog, request, values, |market| boxed(market.network(catalog)))
    }),
    row(
        "cities",
        &["/countries/{code}", "/countries/{code}/{stage}"],
        "startups by city",
        |catalog, request, values| market_chart(catalog, request, values, |market| boxed(market.cities(catalog))),
    ),
    row("sectors", &["/markets"], "startups by sector, the 24 largest", |catalog, _, _| {
        Ok(DrawnChart::new("Markets", market::sectors(catalog, market::MAX_SECTORS, "/markets")))
    }),
    row("sectors", &["/"], "startups by sector, the 12 largest", |catalog, _, _| {
        Ok(DrawnChart::new("Markets", market::sectors(catalog, home::MAX_SECTORS, "/")))
    }),
    row("countries", &["/markets"], "startups by country", |catalog, _, _| {
        Ok(DrawnChart::new("Markets", market::countries(catalog)))
    }),
    row("rounds-by-year", &["/data"], "all funding rounds by year", |catalog, _, _| {
        Ok(DrawnChart::new("All markets", market::rounds_by_year(catalog)))
    }),
    row("fields-by-year", &["/data"], "how many rounds of a year have a value of a field", |catalog, _, _| {
        let years = FieldYears::all(catalog);
        Ok(DrawnChart::new("About the data", FieldYears::heatmap(catalog, &years)))
    }),
    ChartEntry {
        parameters: Some(&["metric"]),
        ..row(
            "distribution",
            &["/leaderboard"],
            "how many firms have which value of a metric",
            |catalog, request, _| leaderboard::distribution_chart(catalog, request),
        )
    },
];

fn boxed(chart: Option<impl ChartFigure + 'static>) -> Option<Box<dyn ChartFigure>> {
    Some(Box::new(chart?))
}

fn market_chart(
    catalog: &Catalog,
    request: PageRequest<'_>,
    values: PathValues<'_>,
    draw: impl FnOnce(&Market) -> Option<Box<dyn ChartFigure>>,
) -> PageResult<Option<DrawnChart>> {
    let market = Market::parse(catalog, request.path, values)?;
    let chart = draw(&market);
    Ok(chart.map(|chart| DrawnChart { subject: market.title().to_owned(), chart }))
}

static PAGES: Lazy<Vec<PageRow>> = Lazy::new(|| {
    let of_page = |entry: &'static ChartEntry| {
        // Rows have paths that last as long as the program.
        entry.pages.iter().map(move |page| routes::chart(chart_path(page, entry.name).leak(), entry))
    };
    CHARTS.iter().flat_map(of_page).collect()
});

/// A row for each page of each chart.
pub(crate) fn pages() -> impl Iterator<Item = &'static PageRow> {
    PAGES.iter()
}

/// True for a path below that of charts.
pub(crate) fn is_below(path: &str) -> bool {
    path.strip_prefix(EMBED).is_some_and(|rest| rest.starts_with('/'))
}

/// The name of a chart and its page, from the path of a request.
fn page_path(path: &str) -> &str {
    let path = TwinFormat::split(path).map_or(path, |(path, _)| path);
    let page = path.strip_prefix(EMBED).and_then(|path| Some(path.rsplit_once('/')?.0)).unwrap_or_default();
    if page.is_empty() { "/" } else { page }
}

/// A chart with its request.
struct ChartReply<'a> {
    drawn: DrawnChart,
    /// The request of the page.
    of_page: PageRequest<'a>,
    unknown: Vec<ParameterError>,
    caching: Caching,
}

impl<'a> ChartReply<'a> {
    fn load(catalog: &Catalog, request: PageRequest<'a>, route: PageRoute<'a>, entry: &ChartEntry) -> PageResult<Self> {
        // With the version of the release as the query, the picture never changes.
        let is_versioned = request.query == catalog.version().to_string();
        let query = if is_versioned { "" } else { request.query };
        let of_page = PageRequest { path: page_path(request.path), query, ..request };
        let drawn = (entry.draw)(catalog, of_page, route.values)?.ok_or(PageError::NoChart)?;
        let is_private = request.state.operator.access.is_private();
        let caching = match (is_versioned, is_private) {
            (true, false) => Caching::Forever,
            (true, true) => Caching::PrivateForever,
            (false, _) => Caching::Private,
        };
        Ok(Self { drawn, of_page, unknown: route.unknown_parameters(catalog, query), caching })
    }

    fn source(&self, catalog: &Catalog) -> PictureSource {
        let (snapshot, operator) = (catalog.snapshot(), &self.of_page.state.operator);
        let url = self.of_page.state.public_url.as_str();
        let host = url.split_once("://").map_or(url, |(_, host)| host);
        PictureSource {
            brand: operator.brand.name.to_string(),
            color: operator.brand.color,
            address: format!("{host}{}", self.of_page.with_query(self.of_page.path)),
            release: snapshot.version().to_string(),
            license: snapshot.license().to_owned(),
            is_invented: snapshot.is_invented(),
        }
    }

    /// The response, which is also kept for requests that come again.
    fn respond(
        &self,
        catalog: &Catalog,
        request: PageRequest<'_>,
        body: Vec<u8>,
        (content_type, policy): (&'static str, Option<&'static str>),
        change: impl FnOnce(&mut CachedResponse),
    ) -> Response<Vec<u8>> {
        let varies = if content_type == HTML { Vary::Cookie } else { Vary::Encoding };
        let mut response = cacheable_response(request, body, content_type, varies, &self.unknown);
        // Other sites show the picture and read the data, unless the service is private.
        let is_cross_origin = !request.state.operator.access.is_private();
        let headers =
            CommonHeaders { is_cross_origin, caching: Some(self.caching), page_policy: policy, ..Default::default() };
        headers.write(&mut response.headers);
        let page =
            format!("<{}{}>; rel=\"canonical\"", request.state.public_url, self.of_page.with_query(self.of_page.path));
        response.headers.extend(HeaderValue::try_from(page).ok().map(|page| (http::header::LINK, page)));
        change(&mut response);
        let response = Arc::new(response);
        request.state.response_cache.insert(cache_key(catalog, request, Theme::from_request(request)), &response);
        response.answer(request.headers).map(|body: Bytes| Vec::from(body))
    }
}

#[derive(Template)]
#[template(path = "embed.html")]
struct EmbedPage<'a> {
    subject: &'a str,
    finding: &'a str,
    summary: &'a str,
    /// The page of the chart, and the embeddable page itself.
    page: String,
    canonical: String,
    picture: String,
    chart: String,
    source: PictureSource,
    base: &'a str,
    asset_version: String,
}

/// The page that other sites may frame.
pub(crate) fn page(
    catalog: &Catalog,
    request: PageRequest<'_>,
    route: PageRoute<'_>,
    entry: &ChartEntry,
) -> PageResult {
    let reply = ChartReply::load(catalog, request, route, entry)?;
    let base = request.state.public_url.as_str();
    let page = reply.of_page.with_query(reply.of_page.path);
    let chart = &reply.drawn.chart;
    // The headings of the chart are below that of this page, and its links to parts of its page lead there.
    let html =
        chart.html()?.replace("<h3>", "<h2>").replace("</h3>", "</h2>").replace("href=\"#", &format!("href=\"{page}#"));
    let html = EmbedPage {
        subject: &reply.drawn.subject,
        finding: chart.head().finding(),
        summary: chart.head().summary(),
        canonical: format!("{base}{page}"),
        picture: format!("{base}{}.png?{}", request.path, catalog.version()),
        page,
        chart: html,
        source: reply.source(catalog),
        base,
        asset_version: asset_version(request.state.operator.brand.color),
    };
    let html = Theme::from_request(request).apply(with_notice(html.render()?, &reply.unknown));
    Ok(reply.respond(catalog, request, html.into_bytes(), (HTML, Some(FRAMED)), |_| ()))
}

/// A picture of a chart, or its data.
pub(crate) fn file(
    catalog: &Catalog,
    request: PageRequest<'_>,
    route: PageRoute<'_>,
    entry: &ChartEntry,
    format: TwinFormat,
) -> PageResult {
    let reply = ChartReply::load(catalog, request, route, entry)?;
    let DrawnChart { subject, chart } = &reply.drawn;
    let picture = |letters| chart_picture(subject, &**chart, &reply.source(catalog), letters);
    let (body, kind) = match format {
        TwinFormat::Svg => (picture(Letters::All)?.into_bytes(), ("image/svg+xml", Some(PICTURE))),
        TwinFormat::Png => (png(&picture(Letters::Drawable)?)?, ("image/png", None)),
        TwinFormat::Csv => (csv(&chart.data()), ("text/csv; charset=utf-8", None)),
        TwinFormat::Json | TwinFormat::Markdown => (reply.json(catalog), ("application/json", None)),
    };
    Ok(reply.respond(catalog, request, body, kind, |response| {
        if format == TwinFormat::Csv {
            let name = format!("{}-{}-{}", reply.of_page.path.trim_start_matches('/'), entry.name, catalog.version());
            let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '.');
            let name: String = name.chars().map(|char| if is_plain(char) { char } else { '-' }).collect();
            let name = name.trim_start_matches('-');
            set(&mut response.headers, CONTENT_DISPOSITION, &format!("attachment; filename=\"{name}.csv\""));
        }
    }))
}

#[derive(Serialize)]
struct ChartJson<'a> {
    data: ChartRecords<'a>,
    chart: ChartTexts<'a>,
    meta: TwinMeta<'a>,
}

#[derive(Serialize)]
struct ChartTexts<'a> {
    subject: &'a str,
    title: &'a str,
    finding: &'a str,
    summary: &'a str,
    page: String,
}

impl ChartReply<'_> {
    fn json(&self, catalog: &Catalog) -> Vec<u8> {
        let head = self.drawn.chart.head();
        let data = self.drawn.chart.data();
        let json = ChartJson {
            data: ChartRecords(&data),
            chart: ChartTexts {
                subject: &self.drawn.subject,
                title: head.title(),
                finding: head.finding(),
                summary: head.summary(),
                page: format!("{}{}", self.of_page.state.public_url, self.of_page.with_query(self.of_page.path)),
            },
            meta: TwinMeta::new(catalog, self.unknown.clone()),
        };
        serde_json::to_vec(&json).expect("a chart has a JSON form")
    }
}

/// The rows as objects, with their members in the order of the columns.
struct ChartRecords<'a>(&'a ChartData);

struct ChartRecord<'a>(&'a [String], &'a [Datum]);

impl Serialize for ChartRecords<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.rows.len()))?;
        for row in &self.0.rows {
            rows.serialize_element(&ChartRecord(&self.0.columns, row))?;
        }
        rows.end()
    }
}

impl Serialize for ChartRecord<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in self.0.iter().zip(self.1) {
            members.serialize_entry(name, value)?;
        }
        members.end()
    }
}

/// A value that is unknown is an empty cell.
fn csv(data: &ChartData) -> Vec<u8> {
    let cell = |datum: &Datum| match datum {
        Datum::Unknown => String::new(),
        Datum::Number(number) => number.to_string(),
        Datum::Text(text) => formula::neutralize(text.clone()),
    };
    let rows = data.rows.iter().map(|row| row.iter().map(cell).collect());
    csv_writer::document(std::iter::once(data.columns.clone()).chain(rows))
}
