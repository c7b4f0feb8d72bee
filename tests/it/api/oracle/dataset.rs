//! A dataset as the oracle sees it: rows with their values, read from the CSV files.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use catalog::Resource;
use data::fold::fold;

use crate::support::naive::{Naive, published_reviews, rows_of, split};

/// A row as the oracle sees it.
#[derive(Default)]
pub struct Row {
    pub id: String,
    /// The values of each property that has any.
    pub has: HashMap<&'static str, BTreeSet<String>>,
    /// Numbers and dates (`20240131`, of a month `20240100`, of a year `20240000`); unknown ones are absent.
    pub number: HashMap<&'static str, i64>,
    pub amount: Option<u64>,
    /// The dates of the rounds that a firm joined.
    pub joined: Vec<i64>,
}

/// A dataset as the oracle sees it.
pub struct Oracle {
    tables: HashMap<Resource, Vec<Row>>,
}

fn digits(date: &str) -> Option<i64> {
    let digits = date.replace('-', "");
    format!("{digits:0<8}").parse().ok().filter(|_| !date.is_empty())
}

/// The first and the last day of a date.
pub fn days_of(date: i64) -> (i64, i64) {
    let (year, month, day) = (date / 10_000, date / 100 % 100, date % 100);
    let last_month = if month == 0 { 12 } else { month };
    let days = match last_month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    let first = year * 10_000 + month.max(1) * 100 + day.max(1);
    (first, year * 10_000 + last_month * 100 + if day == 0 { days } else { day })
}

fn host(url: &str) -> Option<String> {
    let rest = url.split_once("://")?.1.to_lowercase();
    let authority = rest.split(['/', '?', '#']).next()?;
    // A website with a user name is left out with a warning.
    let host = authority.split(':').next().filter(|_| !authority.contains('@'))?.trim_end_matches('.').to_owned();
    let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
    (!host.is_empty()).then_some(host)
}

impl Row {
    fn set(&mut self, name: &'static str, values: impl IntoIterator<Item = String>) {
        let values: BTreeSet<String> = values.into_iter().filter(|value| !value.is_empty()).collect();
        if !values.is_empty() {
            self.has.insert(name, values);
        }
    }

    fn number(&mut self, name: &'static str, number: Option<i64>) {
        self.number.extend(number.map(|number| (name, number)));
    }
}

/// For each stage ten times the amount that 99 % of its amounts do not exceed; for an unknown one, of all amounts.
pub fn limits(rounds: &[HashMap<String, String>]) -> HashMap<String, u64> {
    let mut amounts: HashMap<String, Vec<u64>> = HashMap::new();
    for csv in rounds {
        for stage in BTreeSet::from(["", csv["stage"].as_str()]) {
            amounts.entry(stage.to_owned()).or_default().extend(csv["amount_usd"].parse::<u64>().ok());
        }
    }
    let limit = |mut amounts: Vec<u64>| {
        amounts.sort_unstable();
        // The first that has at least 99 % of all up to itself.
        let enough = |index: &usize| (index + 1) * 100 >= amounts.len() * 99;
        (0..amounts.len()).find(enough).map_or(0, |index| amounts[index] * 10)
    };
    amounts.into_iter().map(|(stage, amounts)| (stage, limit(amounts))).collect()
}

impl Oracle {
    pub fn read(folder: &Path) -> Self {
        let naive = Naive::read(folder);
        let with_ancestors = |sectors: &str| -> Vec<String> {
            split(sectors).iter().flat_map(|sector| naive.lineage[sector].clone()).collect()
        };
        let firm_rows: HashMap<String, HashMap<String, String>> =
            rows_of(folder, "firms.csv").into_iter().map(|row| (row["slug"].clone(), row)).collect();
        let startup_rows: HashMap<String, HashMap<String, String>> =
            rows_of(folder, "startups.csv").into_iter().map(|row| (row["slug"].clone(), row)).collect();
        let mut tables: HashMap<Resource, Vec<Row>> = HashMap::new();
        let mut identifiers: HashMap<(String, String), BTreeSet<String>> = HashMap::new();
        if folder.join("identifiers.csv").exists() {
            for csv in rows_of(folder, "identifiers.csv") {
                let of_record = identifiers.entry((csv["kind"].clone(), csv["slug"].clone())).or_default();
                of_record.insert(format!("{}:{}", csv["scheme"], csv["value"]));
            }
        }
        let identifiers_of =
            |kind: &str, slug: &str| identifiers.get(&(kind.to_owned(), slug.to_owned())).cloned().unwrap_or_default();

        let mut joined: HashMap<String, Vec<i64>> = HashMap::new();
        for csv in rows_of(folder, "funding_rounds.csv") {
            let Some(date) = digits(&csv["announced_on"]) else { continue };
            let investors = [split(&csv["lead_investors"]), split(&csv["investors"])].concat();
            investors.into_iter().for_each(|firm| joined.entry(firm).or_default().push(date));
        }
        for firm in &naive.firms {
            let csv = &firm_rows[&firm.slug];
            let joined = joined.remove(&firm.slug).unwrap_or_default();
            let mut row = Row { id: firm.slug.clone(), joined, ..Row::default() };
            row.set("stage", firm.stages.clone());
            row.set("sector", firm.sectors.clone());
            row.set("country", [firm.country.clone()]);
            row.set("city", [fold(&csv["city"])]);
            row.set("kind", [firm.kind.clone()]);
            row.set("website", host(&csv["website"]));
            row.set("identifier", identifiers_of("firm", &firm.slug));
            row.number("review_count", Some(firm.reviews as i64));
            row.number("portfolio_count", Some(firm.startups as i64));
            row.number("investment_count", Some(firm.rounds as i64));
            row.number("last_investment_on", firm.last.as_deref().and_then(digits));
            row.number("check_min_usd", firm.check.0.map(|usd| usd as i64));
            row.number("check_max_usd", firm.check.1.map(|usd| usd as i64));
            row.number("founded_year", firm.founded.map(|year| year as i64));
            row.number("aum_usd", csv["aum_usd"].parse().ok());
            tables.entry(Resource::Firms).or_default().push(row);
        }

        let mut startups: HashMap<String, Row> = HashMap::new();
        for (slug, csv) in &startup_rows {
            let mut row = Row { id: slug.clone(), ..Row::default() };
            row.set("stage", [csv["stage"].clone()]);
            row.set("sector", with_ancestors(&csv["sectors"]));
            row.set("country", [csv["country"].clone()]);
            row.set("city", [fold(&csv["city"])]);
            row.set("status", [csv["status"].clone()]);
            row.set("website", host(&csv["website"]));
            row.set("identifier", identifiers_of("startup", slug));
            row.number("founded_year", csv["founded_year"].parse().ok());
            row.number("round_count", Some(0));
            startups.insert(slug.clone(), row);
        }
        let limits = limits(&rows_of(folder, "funding_rounds.csv"));
        for csv in rows_of(folder, "funding_rounds.csv") {
            let startup = &startup_rows[&csv["startup"]];
            let leads = split(&csv["lead_investors"]);
            let investors: BTreeSet<String> = leads.iter().cloned().chain(split(&csv["investors"])).collect();
            let credible = |usd: &u64| *usd <= limits[&csv["stage"]];
            let amount = csv["amount_usd"].parse::<u64>().ok().filter(credible);
            let date = digits(&csv["announced_on"]);
            let mut row = Row { id: csv["id"].clone(), amount, ..Row::default() };
            row.set("stage", [csv["stage"].clone()]);
            row.set("sector", with_ancestors(&startup["sectors"]));
            row.set("country", [startup["country"].clone()]);
            row.set("city", [fold(&startup["city"])]);
            row.set("startup", [csv["startup"].clone()]);
            row.set("kind", investors.iter().map(|firm| firm_rows[firm]["kind"].clone()));
            row.set("investor", investors.clone());
            row.set("lead", leads);
            row.number("announced_on", date);
            row.number("amount_usd", amount.map(|usd| usd as i64));
            let own = startups.get_mut(&csv["startup"]).unwrap();
            *own.number.get_mut("round_count").unwrap() += 1;
            let last = own.number.get("last_round_on").copied().max(date);
            own.number("last_round_on", last);
            if let Some(usd) = amount {
                own.amount = Some(own.amount.unwrap_or(0) + usd);
                own.number("total_raised_usd", own.amount.map(|usd| usd as i64));
            }
            let known = own.has.remove("investor").unwrap_or_default();
            own.set("investor", known.into_iter().chain(investors));
            tables.entry(Resource::Rounds).or_default().push(row);
        }
        tables.insert(Resource::Startups, startups.into_values().collect());

        for csv in rows_of(folder, "people.csv") {
            let is_firm = csv["organization_kind"] == "firm";
            let organization = &if is_firm { &firm_rows } else { &startup_rows }[&csv["organization"]];
            let mut row = Row { id: csv["slug"].clone(), ..Row::default() };
            row.set("kind", [csv["organization_kind"].clone()]);
            let country = if csv["country"].is_empty() { &organization["country"] } else { &csv["country"] };
            row.set("country", [country.clone()]);
            row.set("city", [fold(&organization["city"])]);
            row.set("title", [fold(&csv["title"])]);
            row.set("identifier", identifiers_of("person", &csv["slug"]));
            row.set("organization", [csv["organization"].clone()]);
            tables.entry(Resource::People).or_default().push(row);
        }

        for csv in published_reviews(folder) {
            let mut row = Row { id: csv["id"].clone(), ..Row::default() };
            row.set("vc", [csv["firm"].clone()]);
            row.set("stage", [csv["stage"].clone()]);
            row.set("rating", [csv["rating"].clone()]);
            let ghosted = match csv["ghosted"].as_str() {
                "true" | "yes" | "1" => "true",
                "" => "",
                _ => "false",
            };
            row.set("ghosted", [ghosted.to_owned()]);
            row.number("created_on", digits(&csv["created_on"]));
            for name in ["rating", "responsiveness", "fairness", "value_add"] {
                row.number(name, csv[name].parse().ok());
            }
            tables.entry(Resource::Reviews).or_default().push(row);
        }
        Self { tables }
    }

    pub fn rows(&self, resource: Resource) -> &[Row] {
        self.tables.get(&resource).map_or(&[], Vec::as_slice)
    }
}
