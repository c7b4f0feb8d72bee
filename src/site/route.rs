//! What is at a path: a page in HTML, or its content in another form.

use crate::feeds::FeedFormat;
use crate::market::MarketScope;
use crate::reconcile::Reconcile;
use crate::twin::{TwinFormat, TwinSubject};
use catalog::Resource;
use data::Table;
use transport::headers::READS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRoute<'a> {
    Html(HtmlPage<'a>),
    Reconcile(Reconcile),
    ReleaseFeed(FeedFormat),
    RoundFeed(FeedFormat),
    /// The alerts of a search or list, by the token of its address.
    AlertFeed(&'a str, FeedFormat),
    /// A page's content as JSON, Markdown or CSV.
    Twin(TwinSubject<'a>, TwinFormat),
    /// The preview image of a firm or startup.
    Picture(Table, &'a str),
    /// The sitemap file of this number; `None` for `/sitemap.xml`.
    Sitemap(Option<usize>),
    Suggest,
    /// Suggestions in the form of OpenSearch.
    OpenSearchSuggest,
}

/// A page in HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HtmlPage<'a> {
    Home,
    Firms,
    Firm(&'a str),
    FirmReviews(&'a str),
    Startups,
    Startup(&'a str),
    People,
    Person(&'a str),
    Rounds,
    Sectors,
    Market(MarketScope<'a>),
    Match,
    Compare,
    Leaderboard,
    Data,
    Resolve,
    Releases,
}

impl<'a> PageRoute<'a> {
    /// The page at a path without a trailing slash.
    pub fn parse(path: &'a str) -> Option<Self> {
        let mut segments = path.split('/').skip(1);
        let route = match (segments.next()?, segments.next(), segments.next()) {
            // A slug has no dot.
            (_, Some(name), None) | (_, Some(_), Some(name)) if name.contains('.') => return Self::parse_file(path),
            ("reconcile", first, second) => Self::Reconcile(Reconcile::from_segments(first, second)?),
            ("releases.atom", None, None) => Self::ReleaseFeed(FeedFormat::Atom),
            ("releases.json", None, None) => Self::ReleaseFeed(FeedFormat::Json),
            ("rounds.atom", None, None) => Self::RoundFeed(FeedFormat::Atom),
            ("rounds.json", None, None) => Self::RoundFeed(FeedFormat::Json),
            ("suggest", None, None) => Self::Suggest,
            ("suggest", Some("opensearch"), None) => Self::OpenSearchSuggest,
            ("sitemap.xml", None, None) => Self::Sitemap(None),
            (first, second, third) => match HtmlPage::from_segments(first, second, third) {
                Some(page) => Self::Html(page),
                None => return Self::parse_file(path),
            },
        };
        segments.next().is_none().then_some(route)
    }

    /// The page at a path with a file extension, such as `.md` or `.png`.
    fn parse_file(path: &'a str) -> Option<Self> {
        if let Some(number) = path.strip_prefix("/sitemap-").and_then(|rest| rest.strip_suffix(".xml")) {
            return Some(Self::Sitemap(Some(number.parse().ok()?)));
        }
        if let Some(path) = path.strip_suffix(".png") {
            return match Self::parse(path)? {
                Self::Html(HtmlPage::Firm(slug)) => Some(Self::Picture(Table::Firms, slug)),
                Self::Html(HtmlPage::Startup(slug)) => Some(Self::Picture(Table::Startups, slug)),
                _ => None,
            };
        }
        if let Some(rest) = path.strip_prefix("/alerts/") {
            return match rest.split_once('.')? {
                (token, _) if token.contains('/') => None,
                (token, "atom") => Some(Self::AlertFeed(token, FeedFormat::Atom)),
                (token, "json") => Some(Self::AlertFeed(token, FeedFormat::Json)),
                _ => None,
            };
        }
        let (path, format) = TwinFormat::split(path).filter(|(path, _)| !path.contains('.'))?;
        match Self::parse(path)? {
            Self::Html(page) => Some(Self::Twin(page.subject()?, format)),
            _ => None,
        }
    }

    /// The value of `Allow`.
    pub fn methods(self) -> &'static str {
        match self {
            Self::Html(HtmlPage::Resolve) | Self::Reconcile(Reconcile::Service) => "GET, HEAD, POST, OPTIONS",
            _ => READS,
        }
    }

    /// True if the page accepts a form by POST.
    pub fn takes_forms(self) -> bool {
        self.methods() != READS
    }

    /// The path without the slug.
    pub fn label(self) -> &'static str {
        match self {
            Self::Html(page) => page.label(),
            Self::Reconcile(part) => part.path(),
            Self::ReleaseFeed(FeedFormat::Atom) => "/releases.atom",
            Self::ReleaseFeed(FeedFormat::Json) => "/releases.json",
            Self::RoundFeed(FeedFormat::Atom) => "/rounds.atom",
            Self::RoundFeed(FeedFormat::Json) => "/rounds.json",
            Self::AlertFeed(_, FeedFormat::Atom) => "/alerts/{token}.atom",
            Self::AlertFeed(_, FeedFormat::Json) => "/alerts/{token}.json",
            Self::Twin(_, TwinFormat::Markdown) => "/{page}.md",
            Self::Twin(_, TwinFormat::Json) => "/{page}.json",
            Self::Twin(_, TwinFormat::Csv) => "/{page}.csv",
            Self::Picture(Table::Startups, _) => "/startups/{slug}.png",
            Self::Picture(..) => "/vcs/{slug}.png",
            Self::Sitemap(_) => "/sitemap.xml",
            Self::Suggest => "/suggest",
            Self::OpenSearchSuggest => "/suggest/opensearch",
        }
    }
}

impl<'a> HtmlPage<'a> {
    fn from_segments(first: &'a str, second: Option<&'a str>, third: Option<&'a str>) -> Option<Self> {
        Some(match (first, second, third) {
            ("", None, None) => Self::Home,
            ("vcs", None, None) => Self::Firms,
            ("vcs", Some(slug), None) => Self::Firm(slug),
            ("vcs", Some(slug), Some("reviews")) => Self::FirmReviews(slug),
            ("startups", None, None) => Self::Startups,
            ("startups", Some(slug), None) => Self::Startup(slug),
            ("people", None, None) => Self::People,
            ("people", Some(slug), None) => Self::Person(slug),
            ("rounds", None, None) => Self::Rounds,
            ("match", None, None) => Self::Match,
            ("compare", None, None) => Self::Compare,
            ("sectors", None, None) => Self::Sectors,
            ("markets", None, None) => Self::Market(MarketScope::All),
            ("sectors", Some(slug), stage) => Self::Market(MarketScope::Sector(slug, stage)),
            ("countries", Some(code), stage) => Self::Market(MarketScope::Country(code, stage)),
            ("cities", Some(name), stage) => Self::Market(MarketScope::City(name, stage)),
            ("leaderboard", None, None) => Self::Leaderboard,
            ("data", None, None) => Self::Data,
            ("resolve", None, None) => Self::Resolve,
            ("releases", None, None) => Self::Releases,
            _ => return None,
        })
    }

    /// The content of the page, if it has twins.
    fn subject(self) -> Option<TwinSubject<'a>> {
        Some(match self {
            Self::Firms => TwinSubject::List(Resource::Firms),
            Self::Firm(slug) => TwinSubject::Record(Table::Firms, slug),
            Self::FirmReviews(slug) => TwinSubject::Reviews(slug),
            Self::Startups => TwinSubject::List(Resource::Startups),
            Self::Startup(slug) => TwinSubject::Record(Table::Startups, slug),
            Self::People => TwinSubject::List(Resource::People),
            Self::Person(slug) => TwinSubject::Record(Table::People, slug),
            Self::Rounds => TwinSubject::List(Resource::Rounds),
            Self::Sectors => TwinSubject::List(Resource::Sectors),
            Self::Leaderboard => TwinSubject::List(Resource::Leaderboard),
            _ => return None,
        })
    }

    /// True if the page depends only on the release, path, query and theme. Other pages also depend on which other
    /// releases are loaded.
    pub(crate) fn is_cacheable(self) -> bool {
        matches!(
            self,
            Self::Home
                | Self::Firms
                | Self::Firm(_)
                | Self::FirmReviews(_)
                | Self::Startups
                | Self::Startup(_)
                | Self::People
                | Self::Person(_)
                | Self::Rounds
                | Self::Sectors
                | Self::Market(_)
                | Self::Match
                | Self::Compare
        )
    }

    fn label(self) -> &'static str {
        match self {
            Self::Home => "/",
            Self::Firms => "/vcs",
            Self::Firm(_) => "/vcs/{slug}",
            Self::FirmReviews(_) => "/vcs/{slug}/reviews",
            Self::Startups => "/startups",
            Self::Startup(_) => "/startups/{slug}",
            Self::People => "/people",
            Self::Person(_) => "/people/{slug}",
            Self::Rounds => "/rounds",
            Self::Sectors => "/sectors",
            Self::Market(market) => market.label(),
            Self::Match => "/match",
            Self::Compare => "/compare",
            Self::Leaderboard => "/leaderboard",
            Self::Data => "/data",
            Self::Resolve => "/resolve",
            Self::Releases => "/releases",
        }
    }
}
