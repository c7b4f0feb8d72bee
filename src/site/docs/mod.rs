pub(super) mod clients;
pub(super) mod contract;
pub(super) mod mcp;
pub(super) mod reference;

use askama::Template;
use view::html;

use crate::docs::clients::CLIENTS;
use crate::embed::{CHARTS, ChartEntry};
use crate::static_pages::{DocsContext, DocsTemplate, PageBody, SiteEntry, StaticEntry};
use api::openapi::{self, Version};
use catalog::matching::model::{BACK_TEST, WEIGHTS, Weight};
use catalog::matching::{self, MatchReason};
use catalog::similar::{self, Common};
use data::Table;
use data::vocabulary::Vocabulary;
use transport::problem::Code;
use transport::static_asset::StaticAsset;

pub(crate) const NAV_ITEMS: &[(&str, &str)] = &[
    ("/docs", "Getting started"),
    ("/docs/recipes", "Recipes"),
    ("/docs/keys", "API keys"),
    ("/docs/reference", "REST reference"),
    ("/docs/clients", "Example clients"),
    ("/docs/mcp", "AI assistants"),
    ("/docs/paging", "Paging"),
    ("/docs/changes", "Changes"),
    ("/docs/alerts", "Alerts"),
    ("/docs/bulk", "Bulk files"),
    ("/docs/charts", "Charts"),
    ("/docs/search", "Search"),
    ("/docs/score", "Peer score"),
    ("/docs/reviews", "Reviews"),
    ("/docs/match", "Match"),
    ("/docs/resolve", "Look up"),
    ("/docs/limits", "Limits"),
    ("/docs/versions", "Versions"),
    ("/docs/contract", "Contract"),
    ("/docs/errors", "Errors"),
    ("/docs/operate", "Run the service"),
    ("/docs/operation", "Operation"),
    ("/docs/privacy", "Privacy"),
];

/// True for a page that is only there where the service takes reviews.
pub(crate) fn is_of_reviews(path: &str) -> bool {
    path == "/docs/reviews"
}

const REFERENCE: &str = "Every endpoint, parameter and field of the REST API, with example responses.";

pub(crate) fn pages() -> impl Iterator<Item = &'static SiteEntry> {
    PAGES.iter().chain(reference::ENDPOINT_PAGES.iter())
}

/// A page whose path is `/docs/` and the name of its file in `text`.
macro_rules! text {
    ($name:literal, $title:literal, $description:literal) => {
        text(concat!("/docs/", $name), $title, $description, include_str!(concat!("text/", $name, ".html")))
    };
}

const PAGES: &[SiteEntry] = &[
    ("/openapi/v1.json", StaticEntry::File(|context| document(Version::V1, context))),
    ("/openapi/v2.json", StaticEntry::File(|context| document(Version::V2, context))),
    ("/openapi/v3.json", StaticEntry::File(|context| document(Version::V3, context))),
    page("/docs/reference", "REST reference", REFERENCE, reference::index),
    page("/docs/reference/v1", "REST reference, v1", REFERENCE, |context| reference::older_page(Version::V1, context)),
    page("/docs/reference/v2", "REST reference, v2", REFERENCE, |context| reference::older_page(Version::V2, context)),
    page("/docs/reference/v3", "REST reference, v3", REFERENCE, reference::index),
    page(
        "/docs/reference/schemas",
        "Schemas",
        "The fields of every type in responses of the REST API.",
        reference::schemas,
    ),
    page(
        "/docs/clients",
        "Example clients",
        "Programs in curl, Python, JavaScript and Rust that page through a list.",
        clients::page,
    ),
    ("/llms.txt", StaticEntry::File(llms)),
    ("/docs/clients/page_through.sh", StaticEntry::File(|_| clients::file(&CLIENTS[0]))),
    ("/docs/clients/page_through.py", StaticEntry::File(|_| clients::file(&CLIENTS[1]))),
    ("/docs/clients/page_through.mjs", StaticEntry::File(|_| clients::file(&CLIENTS[2]))),
    ("/docs/clients/page_through.rs", StaticEntry::File(|_| clients::file(&CLIENTS[3]))),
    page(
        "/docs/mcp",
        "AI assistants",
        "How to connect an AI assistant or an editor through MCP. No key is required.",
        mcp::page,
    ),
    (mcp::BUNDLE, StaticEntry::File(mcp::bundle)),
    page(
        "/docs/contract",
        "Contract",
        "Paths, parameters, defaults, limits, values and error codes as tables from the code.",
        contract::page,
    ),
    ("/docs/contract.txt", StaticEntry::File(contract::text)),
    page("/docs/errors", "Errors", "Every error code, what it means and how to fix it.", |_| errors_page()),
    text("/docs", "Docs", "How to use the REST API and the MCP endpoint.", include_str!("text/index.html")),
    text!("recipes", "Recipes", "Twelve jobs in a few lines each, with what they print."),
    text!(
        "recipes/city",
        "Seed investors in a city",
        "Firms by stage and city in curl, Python, R, JavaScript and Sheets."
    ),
    text!(
        "recipes/match",
        "The ten investors to write to",
        "Firms that fit a round, with reasons, in curl, Python, R and JavaScript."
    ),
    text!(
        "recipes/co-investors",
        "Who co-invests with a firm",
        "Co-investors of a firm in curl, Python, R and JavaScript."
    ),
    text!(
        "recipes/portfolio",
        "The portfolio of a firm as CSV",
        "The startups of a firm in curl, Python, R, JavaScript and DuckDB."
    ),
    text!(
        "recipes/rounds-by-year",
        "Rounds by year",
        "Counts, sums and medians of rounds in curl, Python, R, JavaScript and DuckDB."
    ),
    text!("recipes/chart", "A chart in a notebook", "Money raised by year as a chart in Python and R."),
    text!(
        "recipes/names",
        "Names looked up",
        "Which records the names of a list mean, in curl, Python and JavaScript."
    ),
    text!("recipes/spreadsheet", "A spreadsheet", "Lists in Excel, Google Sheets and LibreOffice."),
    text!("recipes/duckdb", "Lists in DuckDB", "A join of startups and rounds in DuckDB."),
    text!("recipes/mirror", "A mirror kept in sync", "A copy of all records that reads only what changed."),
    text!("recipes/follow", "What is new in a search", "New records of a search as a feed and by the API."),
    text!(
        "recipes/assistant",
        "Answers from an assistant",
        "The data in an assistant, and its tools in curl, Python and JavaScript."
    ),
    text!("keys", "API keys", "How to get an API key, how to send it, and what to do if you lose it."),
    text!("paging", "Paging", "How to read a full list in each version of the API."),
    text!("changes", "Changes", "How to keep a copy of the data up to date."),
    text!("alerts", "Alerts", "Saved searches and lists: what is new, in feeds, by e-mail and as webhooks."),
    text!("resolve", "Look up", "Which records the rows of a list mean: one by one, in batches, as CSV."),
    text!("bulk", "Bulk files", "Every table as NDJSON, CSV and Parquet: files, columns, how to load them."),
    text!("limits", "Limits", "Daily quotas, page sizes and other limits."),
    text!("versions", "Versions", "How v1, v2 and v3 differ, and how to migrate."),
    text!("search", "Search", "What a search by name tolerates, and how its results are ordered."),
    text!("operation", "Operation", "How to publish releases, manage accounts and keys, and run the server."),
    text!("operate", "Run the service", "From the repository to a running, restarted, backed-up service."),
    text!(
        "operate/access",
        "Private services",
        "Who may see the data, who gets an account, and licenses that are not public."
    ),
    text!("operate/proxy", "Proxy", "TLS and HTTP/2 by Caddy or nginx in front of the server."),
    text!("operate/container", "Container", "An image of the static binary, without root and shell."),
    text!("operate/dataset", "Datasets", "The CSV or Parquet files of a dataset, and how small it may be."),
    text!(
        "operate/import",
        "Import",
        "How to make a dataset of exports, spreadsheets and public data sets, and keep the origin of each value."
    ),
    text!("operate/replicas", "Replicas", "Several servers, releases in an object store."),
    text!("operate/store", "Shared store", "Accounts of several servers in PostgreSQL."),
    text!("operate/releases", "Releases", "How to publish data every week, and how to roll back."),
    text!(
        "operate/tables",
        "Releases as tables",
        "All releases as Parquet tables that Spark, Trino, ClickHouse and DuckDB query."
    ),
    text!(
        "operate/resolution",
        "Resolution",
        "How records of one firm, startup or person are found, reviewed and merged."
    ),
    text!("operate/backup", "Backup and restore", "How to back up a running service and restore it."),
    text!("operate/upgrade", "Upgrade", "How to run a new version of the program, and how to go back."),
    text!("operate/capacity", "Capacity", "Memory, disk and processor time by the size of the data."),
    text!("operate/scale", "Scale", "When one machine ends, what replicas need, and what comes next."),
    text!("operate/doctor", "Doctor", "What venturedex doctor checks, and what to do about it."),
    text!("operate/metrics", "Logs and metrics", "What the server logs and counts, and what to do about it."),
    text!("privacy", "Privacy", "What this service stores about you, for how long, and how to delete it."),
    page("/docs/charts", "Charts", "Every chart as SVG, PNG, CSV, JSON and as a page to embed.", |context| {
        ChartDocs { charts: CHARTS, base: context.base, firm: &context.catalog.example_slug(Table::Firms) }.render()
    }),
    page("/docs/match", "Match", "How the firms that fit a startup are found and explained.", |_| match_page()),
    page("/docs/similar", "Similar records", "How records like one are found and explained.", |_| SimilarDocs.render()),
    text!("reviews", "Reviews", "How to review a firm, what others see of you, and how reviews are moderated."),
    text!("score", "Peer score", "How the peer score is computed, so that anyone can recompute it."),
];

const fn page(path: &'static str, title: &'static str, description: &'static str, template: DocsTemplate) -> SiteEntry {
    (path, StaticEntry::Page { title, description, body: PageBody::Template(template) })
}

const fn text(path: &'static str, title: &'static str, description: &'static str, html: &'static str) -> SiteEntry {
    (path, StaticEntry::Page { title, description, body: PageBody::Text(html) })
}

#[derive(Template)]
#[template(path = "docs/match.html")]
struct MatchDocs {
    /// Each reason with its weights.
    reasons: Vec<(MatchReason, Vec<(&'static str, f64)>)>,
    prior: f64,
    rarity: f64,
}

fn match_page() -> askama::Result<String> {
    let weights_of = |reason: MatchReason| {
        let weights = reason.weights().iter().map(|weight| (weight.name(), WEIGHTS.of(*weight)));
        (reason, weights.collect())
    };
    let reasons = MatchReason::ALL.iter().copied().map(weights_of).collect();
    MatchDocs { reasons, prior: WEIGHTS.of(Weight::Prior), rarity: WEIGHTS.of(Weight::Rarity) }.render()
}

#[derive(Template)]
#[template(path = "docs/charts.html")]
struct ChartDocs<'a> {
    charts: &'static [ChartEntry],
    base: &'a str,
    firm: &'a str,
}

#[derive(Template)]
#[template(path = "docs/similar.html")]
struct SimilarDocs;

#[derive(Template)]
#[template(path = "docs/errors.html")]
struct ErrorsPage {
    /// Codes and their statuses; true for the first code of a status, which the reference links to.
    errors: Vec<(Code, u16, bool)>,
}

/// Each code is an anchor that the `type` of an error links to.
fn errors_page() -> askama::Result<String> {
    let mut last = 0;
    let errors = Code::ALL.into_iter().map(|code| {
        let status = code.status().as_u16();
        (code, status, std::mem::replace(&mut last, status) != status)
    });
    ErrorsPage { errors: errors.collect() }.render()
}

/// A description of the service and its docs for language models (llmstxt.org).
fn llms(context: &DocsContext<'_>) -> StaticAsset {
    let (base, snapshot) = (context.base, context.catalog.snapshot());
    let mut text = format!(
        "# {}\n\n> Venture capital firms with peer scores and ghosting rates from founders' reviews, startups, funding \
         rounds and people, through a REST API and an MCP endpoint over a versioned snapshot.\n\n",
        context.operator.brand.name
    );
    let invented = if snapshot.is_invented() { " The data is invented: nothing in it is real." } else { "" };
    text += &format!(
        "Assistants connect to the MCP endpoint {base}/api/mcp (Streamable HTTP, no key). REST needs an API key \
         ({base}/docs/keys). Each page of a record or list is also Markdown and JSON, without a key: `.md` and `.json` after \
         its path, such as {base}/vcs.md. Unknown values are null, never zero. Snapshot {}: {}.{invented}\n\n## Docs\n\n",
        snapshot.version(),
        snapshot.title(),
    );
    for (path, entry) in pages() {
        let is_there = !is_of_reviews(path) || context.operator.takes_reviews();
        if let (StaticEntry::Page { title, description, .. }, true) = (entry, is_there) {
            text += &format!("- [{title}]({base}{path}): {description}\n");
        }
    }
    text += &format!(
        "\n## Machine-readable\n\n\
         - [/openapi/v3.json]({base}/openapi/v3.json): OpenAPI 3.1 document of the REST API\n\
         - [/api/mcp/.well-known]({base}/api/mcp/.well-known): manifest of the MCP endpoint with its tools\n"
    );
    StaticAsset::new("text/plain; charset=utf-8", text)
}

fn document(version: Version, context: &DocsContext<'_>) -> StaticAsset {
    let mut document = openapi::document(version, context.base, context.catalog);
    openapi::name_operator(&mut document, version, context.base, context.operator);
    StaticAsset::new("application/json", serde_json::to_vec(&document).expect("an OpenAPI document has a JSON form"))
}
