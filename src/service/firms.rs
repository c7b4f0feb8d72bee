//! Accounts that speak for a firm, and the corrections of its record that they propose.

use std::collections::HashMap;

use auth::account::Account;
use auth::firm::{Correction, FirmClaim};
use catalog::Catalog;
use data::import::clean::{clean, clean_line};
use data::import::website;
use data::{Country, Date, Table, formula};

/// Columns of a firm that can be corrected, with their names for people.
pub const CORRECTABLE: [(&str, &str); 8] = [
    ("website", "Website"),
    ("description", "Description"),
    ("country", "Country"),
    ("city", "City"),
    ("founded_year", "Year of foundation"),
    ("check_min_usd", "Smallest check in USD"),
    ("check_max_usd", "Largest check in USD"),
    ("aum_usd", "Assets under management in USD"),
];

const MAX_LINE: usize = 200;
const MAX_TEXT: usize = 2_000;
const MAX_DOLLARS: u64 = 9_007_199_254_740_991;

/// True if the account has a verified address at the domain of the website of the firm with this row.
pub fn has_firm_address(catalog: &Catalog, account: &Account, firm: u32) -> bool {
    account.verified_at.is_some() && catalog.rows_of_mail_domain(Table::Firms, account.email.domain()).contains(&firm)
}

/// The claim of the firm with this row, if the account still has an address at its domain.
pub fn valid_claim<'c>(
    catalog: &Catalog,
    account: &Account,
    claims: &'c [FirmClaim],
    firm: u32,
) -> Option<&'c FirmClaim> {
    let is_of_firm = |claim: &&FirmClaim| catalog.find(Table::Firms, &claim.firm) == Some(firm);
    claims.iter().find(is_of_firm).filter(|_| has_firm_address(catalog, account, firm))
}

/// The column and the value of a correction as the data writes it; the error names the field of the form, with a sentence without a full
/// stop.
pub fn parse_correction(
    field: &str,
    value: &str,
    today: Date,
) -> Result<(&'static str, String), (&'static str, String)> {
    let known = CORRECTABLE.iter().map(|(name, _)| *name).find(|name| *name == field);
    let field = known.ok_or(("field", "choose what to correct".to_owned()))?;
    let wrong = |expected: &str| Err(("value", format!("this is not {expected}")));
    let line = clean_line(value);
    let value = match field {
        "description" => clean(value),
        _ => line,
    };
    let max = if field == "description" { MAX_TEXT } else { MAX_LINE };
    let count = value.chars().count();
    if count == 0 || count > max {
        return Err(("value", format!("write 1 to {max} characters; this has {count}")));
    }
    match field {
        "website" if !is_web_address(&value) => wrong("a web address such as https://alder.example"),
        "country" => match Country::read(&value) {
            Some(country) => Ok((field, country.alpha2().to_owned())),
            None => wrong("a country, such as DE or Germany"),
        },
        "founded_year" => match value.parse::<i32>().ok().filter(|year| (1500..=today.year()).contains(year)) {
            Some(year) => Ok((field, year.to_string())),
            None => wrong("a year such as 2014"),
        },
        "check_min_usd" | "check_max_usd" | "aum_usd" => {
            match value.parse::<u64>().ok().filter(|usd| *usd <= MAX_DOLLARS) {
                Some(usd) => Ok((field, usd.to_string())),
                None => wrong("a whole number of US dollars such as 250000"),
            }
        }
        _ => Ok((field, value)),
    }
}

/// True for a web address of a host with a domain.
pub fn is_web_address(text: &str) -> bool {
    website::check(text).is_ok() && website::host(text).contains('.') && text.chars().count() <= MAX_TEXT
}

/// Derived columns by which the import recognizes an export of firms; empty, since they are computed again.
const DERIVED: [&str; 2] = ["health_score", "portfolio_count"];

/// Accepted corrections as `vcs.csv`, which `indexer import venturedex` takes: a row for each firm, with slug, name and website, by
/// which it is recognized, and the corrected values, of which the last counts. Firms that the release does not have are left out.
pub fn corrections_csv(catalog: &Catalog, accepted: &[Correction]) -> String {
    let columns = CORRECTABLE.map(|(name, _)| name);
    let mut firms: Vec<(u32, [String; CORRECTABLE.len()])> = Vec::new();
    let mut places: HashMap<u32, usize> = HashMap::new();
    for correction in accepted {
        let Some(row) = catalog.find(Table::Firms, &correction.firm) else { continue };
        let Some(column) = columns.iter().position(|column| *column == correction.field) else { continue };
        let index = *places.entry(row).or_insert_with(|| {
            let mut values: [String; CORRECTABLE.len()] = Default::default();
            values[0] = catalog.text_field((Table::Firms, row), CORRECTABLE[0].0).unwrap_or_default();
            firms.push((row, values));
            firms.len() - 1
        });
        firms[index].1[column].clone_from(&correction.value);
    }
    let mut csv = format!("slug,name,{},{}\r\n", columns.join(","), DERIVED.join(","));
    let cell = |text: &str| format!("\"{}\"", formula::neutralize(text.to_owned()).replace('"', "\"\""));
    for (row, values) in firms {
        let snapshot = catalog.snapshot();
        let names = [snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row)];
        let cells = names.into_iter().chain(values.iter().map(String::as_str)).map(|text| match text {
            "" => String::new(),
            text => cell(text),
        });
        csv.push_str(&cells.chain(DERIVED.map(|_| String::new())).collect::<Vec<_>>().join(","));
        csv.push_str("\r\n");
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrections_are_read_as_the_data_writes_them() {
        let today = "2026-11-30".parse().unwrap();
        for (field, value, expected) in [
            ("website", " https://alder.example/about ", "https://alder.example/about"),
            ("country", "Germany", "DE"),
            ("city", "New \t York", "New York"),
            ("founded_year", "2014", "2014"),
            ("aum_usd", "250000", "250000"),
        ] {
            assert_eq!(parse_correction(field, value, today), Ok((field_of(field), expected.to_owned())), "{field}");
        }
        for (field, value, wrong) in [
            ("score", "100", "field"),
            ("website", "javascript:alert(1)", "value"),
            ("website", "https://x", "value"),
            ("country", "Wakanda", "value"),
            ("founded_year", "2027", "value"),
            ("aum_usd", "1.5m", "value"),
            ("city", " ", "value"),
            ("city", &"x".repeat(201), "value"),
        ] {
            assert_eq!(parse_correction(field, value, today).unwrap_err().0, wrong, "{field} {value}");
        }
    }

    fn field_of(name: &str) -> &'static str {
        CORRECTABLE.iter().find(|(known, _)| *known == name).unwrap().0
    }
}
