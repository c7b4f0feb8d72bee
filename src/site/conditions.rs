//! The conditions of a list in words.

use crate::browse::VIEW;
use catalog::{Catalog, Resource};
use data::fold::fold;
use data::vocabulary::enumerated;
use data::{Facet, Table};
use view::format;
use view::link::Link;

/// The label of each filter and the link that removes it.
pub(crate) fn active_filters(catalog: &Catalog, link: &Link) -> Vec<(String, String)> {
    let mut filters = Vec::new();
    for (name, text) in link.others(&VIEW).into_iter().filter(|(name, _)| name != "metric") {
        if name == "q" || name == "text" {
            filters.push((format!("“{text}”"), link.with(&name, "").href()));
            continue;
        }
        for value in link.values(&name) {
            filters.push((label_of(catalog, &name, value), link.toggled(&name, value).href()));
        }
    }
    filters
}

/// Values of one condition named in a title; if there are more, the title has their number.
const MAX_NAMED: usize = 3;

/// A list in words: `Seed fintech investors in Germany, founded since 2015`.
pub(crate) fn title(catalog: &Catalog, resource: Resource, link: &Link) -> String {
    let is_named = |name: &str| link.values(name).count() <= MAX_NAMED;
    let named = |name: &str| values_in_words(catalog, link, name).filter(|_| is_named(name));
    let before = ["stage", "status", "sector"].map(named);
    let kind = named("kind");
    let what = before.iter().flatten().cloned();
    let noun = match resource {
        // `kind` is the kind of the organization that a person works at.
        Resource::People => kind.map_or("people".to_owned(), |kind| format!("people at {}s", kind.to_lowercase())),
        Resource::Startups => "startups".to_owned(),
        Resource::Rounds => "rounds".to_owned(),
        _ if kind.is_some() || before.iter().any(Option::is_some) => {
            kind.map_or("investors".to_owned(), |kind| format!("{} investors", lower_first(&kind)))
        }
        _ => "firms".to_owned(),
    };
    let mut title = format::capitalized(&what.chain([noun]).collect::<Vec<_>>().join(" "));
    let places = [named("city"), named("country")];
    let places: Vec<String> =
        places.into_iter().flatten().map(|place| place.trim_start_matches("in ").to_owned()).collect();
    if !places.is_empty() {
        title = format!("{title} in {}", places.join(", "));
    }
    let in_title = ["stage", "status", "sector", "kind", "city", "country"];
    let others = link.others(&VIEW).into_iter();
    for (name, text) in others.filter(|(name, _)| !in_title.contains(&name.as_str()) || !is_named(name)) {
        let label = match name.as_str() {
            "q" => format!("named “{text}”"),
            "text" => format!("described by “{text}”"),
            _ => values_in_words(catalog, link, &name).unwrap_or_default(),
        };
        let comma = if name == "like" { "" } else { "," };
        title = format!("{title}{comma} {label}");
    }
    title
}

fn values_in_words(catalog: &Catalog, link: &Link, name: &str) -> Option<String> {
    let labels: Vec<String> = link.values(name).map(|value| label_of(catalog, name, value)).collect();
    Some(match labels.len() {
        0 => return None,
        1..=MAX_NAMED => enumerated(&labels),
        count => {
            let noun = match name {
                "stage" => "stages",
                "sector" => "sectors",
                "country" => "countries",
                "city" => "cities",
                "status" => "statuses",
                "investor" => "investors",
                _ => "values",
            };
            format!("{count} {noun}")
        }
    })
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Number of conditions of a list; each value counts as one.
pub(crate) fn count(link: &Link) -> usize {
    link.others(&VIEW).iter().map(|(name, _)| link.values(name).count()).sum()
}

pub(crate) fn label_of(catalog: &Catalog, name: &str, value: &str) -> String {
    let snapshot = catalog.snapshot();
    let name_of = |table: Table| snapshot.find(table, value).map_or(value, |row| snapshot.name(table, row));
    // Start and end of a period: `2023`, or the day.
    let since = || format::day(value.strip_suffix("-01-01").unwrap_or(value));
    let until = || format::day(value.strip_suffix("-12-31").unwrap_or(value));
    let usd = || value.parse::<u64>().map_or_else(|_| value.to_owned(), |usd| format::usd(&usd));
    match name {
        "stage" | "kind" | "status" => format::word(value),
        "sector" | "parent" => name_of(Table::Sectors).to_owned(),
        "country" => format::country(value).to_owned(),
        "investor" | "raised_from" => format!("backed by {}", name_of(Table::Firms)),
        // A startup and a firm that share a slug have nearly the same name.
        "like" if snapshot.find(Table::Startups, value).is_some() => format!("like {}", name_of(Table::Startups)),
        "like" => format!("like {}", name_of(Table::Firms)),
        "organization" => match snapshot.find(Table::Firms, value) {
            Some(firm) => format!("at {}", snapshot.name(Table::Firms, firm)),
            None => format!("at {}", name_of(Table::Startups)),
        },
        "min_health_score" => format!("score {value} or more"),
        "max_health_score" => format!("score {value} or less"),
        "max_ghosting_rate" => format!("ghosting rate up to {value} %"),
        "min_ghosting_rate" => format!("ghosting rate {value} % or more"),
        "ghosted" => format::response(&Some(value == "true")).to_owned(),
        "min_rating" => format!("{value} stars or more"),
        "max_rating" => format!("{value} stars or fewer"),
        "check_usd" => format!("check size {}", usd()),
        "active_since" => format!("active since {}", since()),
        "active_until" => format!("active until {}", until()),
        "since" => format!("announced since {}", since()),
        "until" => format!("announced until {}", until()),
        "last_round_since" => format!("last round since {}", since()),
        "last_round_until" => format!("last round until {}", until()),
        "suspect" => if value == "true" { "with a suspect amount" } else { "without a suspect amount" }.to_owned(),
        "raised_stage" => format!("raised {}", format::word(value).to_lowercase()),
        "raised_since" => format!("raised since {}", since()),
        "raised_until" => format!("raised until {}", until()),
        "first_seen" => format!("new in release {value}"),
        "founded_from" => format!("founded since {value}"),
        "founded_to" => format!("founded until {value}"),
        "min_amount_usd" | "min_raised_usd" => format!("{} or more", usd()),
        "max_amount_usd" | "max_raised_usd" => format!("up to {}", usd()),
        "min_portfolio" => format!("{value} startups or more"),
        "max_portfolio" => format!("{value} startups or fewer"),
        "min_aum_usd" => format!("{} under management or more", usd()),
        "max_aum_usd" => format!("up to {} under management", usd()),
        "city" => {
            let city = snapshot.find_term(Facet::City, &fold(value)).and_then(|city| snapshot.city_name(city));
            format!("in {}", city.unwrap_or_else(|| format::word(value)))
        }
        _ => match (name.split_once('_'), name.strip_suffix("_all")) {
            (Some(("not", name)), _) => format!("not {}", label_of(catalog, name, value)),
            (Some(("min", counted)), _) => format!("{value} {} or more", counted.replace('_', " ")),
            (Some(("max", counted)), _) => format!("{value} {} or fewer", counted.replace('_', " ")),
            (_, Some(name)) => label_of(catalog, name, value),
            _ => format!("{}: {value}", format::word(name)),
        },
    }
}
