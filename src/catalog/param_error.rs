//! What is wrong with a request's parameters, and what would have worked.

use serde::Serialize;

use crate::data::field::model;
use crate::data::vocabulary::{Vocabulary, normal, with_article};
use crate::search::nearest;

/// The key that sorts by how well a name matches.
pub(crate) const RELEVANCE: &str = "relevance";

model! {
    /// What is wrong with one parameter.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct ParameterError {
        /// The parameter's name as written in the request.
        pub parameter: String,
        /// The stable code of the error or warning.
        pub code: &'static str,
        /// What is wrong and how to fix it.
        pub detail: String,
        /// The nearest accepted name or value.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub did_you_mean: Option<String> [optional],
        /// The accepted names or values, if there are few.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub accepted: Option<Vec<String>> [optional],
    }
}

impl ParameterError {
    /// A value that is none of its type.
    #[must_use]
    pub fn invalid(parameter: &str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self { parameter: parameter.to_owned(), code: "invalid_parameter", detail, did_you_mean: None, accepted: None }
    }

    /// Codes that warnings have and errors never do.
    pub const WARNINGS: [&str; 2] = ["limit_clamped", "total_capped"];

    /// A warning: `limit` was above the most that is given.
    #[must_use]
    pub fn limit_clamped(most: u64) -> Self {
        Self { code: "limit_clamped", ..Self::invalid("limit", format!("`limit` is at most {most}; {most} was used")) }
    }

    /// A warning: a search has more matches than the best `given`.
    #[must_use]
    pub fn total_capped(given: u64) -> Self {
        let detail =
            format!("more names match than the best {given}, which `total` counts: say more of the name, or filter");
        Self { code: "total_capped", ..Self::invalid("q", detail) }
    }

    /// A name that no parameter has.
    #[must_use]
    pub fn unknown_parameter(name: &str, accepted: &[&str]) -> Self {
        let (meant, mend) = match called_elsewhere(name, accepted) {
            Some((meant, mend)) => (Some(meant), mend),
            None => (nearest(name, accepted.iter().copied()), ""),
        };
        Self {
            parameter: name.to_owned(),
            code: "unknown_parameter",
            detail: format!("there is no parameter `{name}` here{mend}"),
            did_you_mean: meant.map(str::to_owned),
            accepted: Some(accepted.iter().map(|name| (*name).to_owned()).collect()),
        }
    }

    /// A value that is not in this snapshot; `noun` says what it should be.
    pub(crate) fn unknown_value(parameter: &str, value: &str, noun: &str, did_you_mean: Option<String>) -> Self {
        let detail = format!("`{value}` is not {} of this snapshot", with_article(noun));
        Self { parameter: parameter.to_owned(), code: "unknown_value", detail, did_you_mean, accepted: None }
    }
}

/// A value that a closed vocabulary does not have.
pub(crate) fn unknown_word<V: Vocabulary>(name: &str, value: &str) -> ParameterError {
    let names = V::names();
    ParameterError {
        parameter: name.to_owned(),
        code: "unknown_value",
        detail: format!("`{value}` is not {}", with_article(&V::NOUN.replace('_', " "))),
        did_you_mean: nearest(value, names.iter().copied()).map(str::to_owned),
        accepted: Some(names.into_iter().map(str::to_owned).collect()),
    }
}

/// A key that a list cannot be sorted by, as it was given.
pub(crate) fn unknown_key(name: &str, given: &str, keys: &[&str], searchable: bool) -> ParameterError {
    let (sign, key) = match given.trim_start_matches(['-', '+']) {
        key if given.starts_with('-') => ("-", key),
        key => ("", key),
    };
    let mut accepted = keys.to_vec();
    if searchable {
        accepted.insert(0, RELEVANCE);
    }
    let meant = nearest(key, accepted.iter().copied());
    let detail = match normal(key) == RELEVANCE && searchable {
        true => format!("`{given}` is no order: `{RELEVANCE}` has one direction, the best match first"),
        false => format!("`{given}` is not a key that this list can be sorted by"),
    };
    let meant = meant.map(|key| if key == RELEVANCE { key.to_owned() } else { format!("{sign}{key}") });
    ParameterError {
        parameter: name.to_owned(),
        code: "unknown_value",
        detail,
        did_you_mean: meant,
        accepted: Some(accepted.into_iter().map(str::to_owned).collect()),
    }
}

/// What parameters are called elsewhere: names, what they are called here (the first that is accepted), and how to mend
/// it where the name alone does not tell.
const ELSEWHERE: &[(&[&str], &[&str], &str)] = &[
    (
        &["page", "offset", "page_number", "pagenumber", "skip", "start", "from", "p"],
        &["cursor"],
        "; lists go on by `cursor`, taken from `pagination.next_cursor`, and `limit`",
    ),
    (
        &[
            "after",
            "starting_after",
            "next",
            "next_cursor",
            "nextcursor",
            "page_token",
            "cursor",
            "page",
            "offset",
            "skip",
        ],
        &["cursor", "page", "offset"],
        "",
    ),
    (
        &[
            "per_page",
            "perpage",
            "page_size",
            "pagesize",
            "size",
            "count",
            "max_results",
            "max",
            "rows",
            "first",
            "take",
        ],
        &["limit"],
        "",
    ),
    (
        &["order", "order_by", "orderby", "sort_by", "sortby", "ordering", "sorting", "direction", "sort_order"],
        &["sort"],
        "; `sort=-name` sorts by a key, downwards",
    ),
    (&["name", "keyword", "keywords", "term", "text", "title", "search", "query"], &["q"], ""),
    (&["industry", "industries", "category", "categories", "vertical"], &["sector"], ""),
    (&["round", "round_type", "series", "funding_stage"], &["stage"], ""),
    (&["country_code", "nation", "location", "region", "hq", "headquarters"], &["country"], ""),
    (&["firm", "fund", "investor", "vc", "slug"], &["vc", "investor", "organization"], ""),
    (&["company", "portfolio_company"], &["startup", "organization"], ""),
    (&["select", "include", "columns", "properties", "attributes"], &["fields"], ""),
    (
        &["check", "check_size", "cheque", "cheque_size", "ticket", "ticket_size", "amount"],
        &["check_usd", "raise_usd"],
        "",
    ),
    (&["score", "min_score", "rating"], &["min_health_score", "min_rating"], ""),
];

/// The accepted parameter that others call `name`.
fn called_elsewhere<'a>(name: &str, accepted: &[&'a str]) -> Option<(&'a str, &'static str)> {
    let plain = name.to_ascii_lowercase().replace('-', "_");
    let known = ELSEWHERE.iter().filter(|(names, ..)| names.contains(&plain.as_str()));
    known.into_iter().find_map(|(_, meant, mend)| {
        let meant = meant.iter().find_map(|meant| accepted.iter().find(|accepted| *accepted == meant));
        meant.map(|meant| (*meant, *mend))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{FirmKind, OrganizationKind, Table};

    #[test]
    fn nouns_have_their_article() {
        let detail = |error: ParameterError| error.detail;
        assert_eq!(detail(unknown_word::<OrganizationKind>("kind", "x")), "`x` is not an organization kind");
        assert_eq!(detail(unknown_word::<FirmKind>("kind", "x")), "`x` is not a kind");
        for table in Table::ALL {
            let told = detail(ParameterError::unknown_value("vc", "x", table.noun(), None));
            assert_eq!(told, format!("`x` is not a {} of this snapshot", table.noun()));
        }
    }

    #[test]
    fn a_key_is_told_as_it_was_given_with_the_one_that_was_meant() {
        let keys = ["name", "health_score"];
        for (given, searchable, meant) in [
            ("-relevance", true, Some("relevance")),
            ("--Relevance", true, Some("relevance")),
            ("-relevence", true, Some("relevance")),
            ("-relevance", false, None),
            ("--name", true, Some("-name")),
            ("-+name", true, Some("-name")),
            ("nmae", false, Some("name")),
            ("-healthscore", false, Some("-health_score")),
            ("-", true, None),
        ] {
            let error = unknown_key("sort", given, &keys, searchable);
            assert_eq!(error.did_you_mean.as_deref(), meant, "{given}");
            assert!(error.detail.starts_with(&format!("`{given}`")), "{}", error.detail);
            let told = error.detail.contains("one direction");
            assert_eq!(told, searchable && given.to_lowercase().contains("relevance"), "{}", error.detail);
        }
    }

    #[test]
    fn names_that_others_use_are_understood() {
        let v3 = ["q", "stage", "sector", "country", "check_usd", "sort", "limit", "cursor", "fields"];
        for (name, meant) in [
            ("page", "cursor"),
            ("offset", "cursor"),
            ("per_page", "limit"),
            ("pageSize", "limit"),
            ("order", "sort"),
            ("order_by", "sort"),
            ("name", "q"),
            ("industry", "sector"),
            ("secotr", "sector"),
            ("check-size", "check_usd"),
        ] {
            let error = ParameterError::unknown_parameter(name, &v3);
            assert_eq!(error.did_you_mean.as_deref(), Some(meant), "{name}");
        }
        let paging = ParameterError::unknown_parameter("page", &v3).detail;
        assert!(paging.contains("`cursor`") && paging.contains("`limit`"), "{paging}");
        let v1 = ParameterError::unknown_parameter("page", &["limit", "offset"]);
        assert_eq!((v1.did_you_mean.as_deref(), v1.detail.contains("cursor")), (Some("offset"), false));
        let v2 = ParameterError::unknown_parameter("offset", &["limit", "page"]);
        assert_eq!(v2.did_you_mean.as_deref(), Some("page"));
    }
}
