//! Conditions of a list in words.

use crate::catalog::Catalog;
use crate::data::fold::fold;
use crate::data::{Facet, Table};
use crate::site::browse::SIZE;
use crate::site::format;
use crate::site::link::Link;

/// The label of each filter and the link that removes it.
pub(crate) fn active_filters(catalog: &Catalog, link: &Link) -> Vec<(String, String)> {
    let mut filters = Vec::new();
    for (name, text) in link.others(&["sort", "metric", SIZE]) {
        if name == "q" {
            filters.push((format!("“{text}”"), link.with("q", "").href()));
            continue;
        }
        for value in link.values(&name) {
            filters.push((label_of(catalog, &name, value), link.toggled(&name, value).href()));
        }
    }
    filters
}

pub(crate) fn label_of(catalog: &Catalog, name: &str, value: &str) -> String {
    let snapshot = catalog.snapshot();
    let name_of = |table: Table| snapshot.find(table, value).map_or(value, |row| snapshot.name(table, row));
    let usd = || value.parse::<u64>().map_or_else(|_| value.to_owned(), |usd| format::usd(&usd));
    match name {
        "stage" | "kind" | "status" => format::word(value),
        "sector" | "parent" => name_of(Table::Sectors).to_owned(),
        "country" => format::country(value).to_owned(),
        "investor" => format!("backed by {}", name_of(Table::Firms)),
        "organization" => match snapshot.find(Table::Firms, value) {
            Some(firm) => format!("at {}", snapshot.name(Table::Firms, firm)),
            None => format!("at {}", name_of(Table::Startups)),
        },
        "min_health_score" => format!("score {value} or more"),
        "max_ghosting_rate" => format!("ghosting rate up to {value} %"),
        "min_reviews" => format!("{value} reviews or more"),
        "ghosted" => format::response(&Some(value == "true")).to_owned(),
        "min_rating" => format!("{value} stars or more"),
        "max_rating" => format!("{value} stars or fewer"),
        "check_usd" => format!("check size {}", usd()),
        "active_since" => format!("active since {}", format::day(value)),
        "city" => {
            let city = snapshot.find_term(Facet::City, &fold(value)).and_then(|city| snapshot.city_name(city));
            format!("in {}", city.unwrap_or_else(|| format::word(value)))
        }
        _ => format!("{}: {value}", format::word(name)),
    }
}
