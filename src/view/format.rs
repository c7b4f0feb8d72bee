//! Formats values for pages: amounts, dates, places, words of vocabularies.

use std::fmt::Display;

use data::model::Review;
pub use data::number::{counted, grouped as number};
use data::vocabulary::Vocabulary;
pub use data::vocabulary::{capitalized, word};
use data::{Country, Date, HoldReason, PartialDate, ReviewProof, ReviewerRole, Stage, identifier};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Why text can always be written into a string.
pub const ACCEPTS: &str = "a string accepts any text";

/// US dollars in three digits, without zeros at the end: `$1.25M`, `$41.3M`, `$350K`.
pub fn usd(amount: &u64) -> String {
    let amount = *amount;
    const SCALES: [(u64, &str); 4] = [(1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "K")];
    // An amount that rounds up to a thousand units belongs to the next scale.
    let scale = SCALES.into_iter().find(|(unit, _)| amount >= unit - unit / 2_000);
    let Some((unit, letter)) = scale else { return format!("${amount}") };
    // The digits behind the point in hundredths of the unit, halves rounded up.
    let step = [1, 10, 100].into_iter().find(|step| amount < 10 * step * unit).unwrap_or(100);
    let hundredths = amount.saturating_add(step * unit / 200) / (step * unit / 100) * step;
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    format!("${}{letter}", text.trim_end_matches('0').trim_end_matches('.'))
}

pub fn usd_range(min: &Option<u64>, max: &Option<u64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) if min == max => usd(min),
        (Some(min), Some(max)) => format!("{} – {}", usd(min), usd(max)),
        (Some(min), None) => format!("from {}", usd(min)),
        (None, Some(max)) => format!("up to {}", usd(max)),
        (None, None) => String::new(),
    }
}

/// `2026-11-03` as `3 Nov 2026`, `2026-11` as `Nov 2026`; any other text unchanged.
pub fn day(date: impl Display) -> String {
    let date = date.to_string();
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next(), parts.next(), parts.next());
    let month = month.and_then(|month| month.parse::<usize>().ok()).and_then(|month| MONTHS.get(month.checked_sub(1)?));
    match (year, month, day.map(|day| day.parse::<u8>())) {
        (Some(year), Some(month), Some(Ok(day))) => format!("{day} {month} {year}"),
        (Some(year), Some(month), None) => format!("{month} {year}"),
        _ => date,
    }
}

/// A number of known records, which is never "0": those that are not known may exist.
pub fn counted_known(count: u32, one: &str, many: &str) -> String {
    if count == 0 { format!("no known {one}") } else { counted(count, one, many) }
}

/// The month of a date, or its year: `Nov 2026`.
pub fn month(date: PartialDate) -> String {
    let text = date.to_string();
    day(text.get(..7).unwrap_or(&text))
}

/// A date with its preposition: `on 3 Nov 2026`, `in Nov 2026`, `in 2026`.
pub fn on_date(date: &PartialDate) -> String {
    format!("{} {}", if date.is_day() { "on" } else { "in" }, day(date))
}

/// The UTC date of Unix seconds: `3 Nov 2026`.
pub fn day_of(unix: i64) -> String {
    day(Date::from_unix(unix))
}

/// The UTC time of Unix seconds: `22 Nov 2026, 13:05 UTC`.
pub fn instant(unix: i64) -> String {
    let second = unix.rem_euclid(86_400);
    format!("{}, {:02}:{:02} UTC", day_of(unix), second / 3_600, second / 60 % 60)
}

/// A date without its year: `22 Nov`.
pub fn short_day(date: impl Display) -> String {
    let full = day(date);
    full.rsplit_once(' ').map_or(full.clone(), |(short, _)| short.to_owned())
}

/// The name of a country; an unknown code is returned unchanged.
pub fn country(code: &str) -> &str {
    Country::from_alpha2(code).map_or(code, |country| country.name())
}

/// City and country, as far as known; empty if both are unknown.
/// What a round is called: its stage, or `Round` if that is unknown.
pub fn round(stage: Option<&str>) -> String {
    stage.map_or_else(|| "Round".to_owned(), word)
}

/// The stage of rounds among others, which may be unknown.
pub fn stage(stage: Option<Stage>) -> String {
    stage.map_or_else(|| "Stage unknown".to_owned(), |stage| word(stage.name()))
}

pub fn place(city: &Option<String>, code: &Option<String>) -> String {
    let country = code.as_deref().map(country);
    match (city.as_deref(), country) {
        (Some(city), Some(country)) if city == country => country.to_owned(),
        (Some(city), Some(country)) => format!("{city}, {country}"),
        (Some(name), None) | (None, Some(name)) => name.to_owned(),
        (None, None) => String::new(),
    }
}

/// The kind of a firm; `other` or an unknown kind is `Investor`.
pub fn firm_kind(kind: &Option<String>) -> String {
    kind.as_deref().filter(|kind| *kind != "other").map_or_else(|| "Investor".to_owned(), word)
}

/// A website without scheme and `www.`: `alder.example`.
pub fn short_url(website: &str) -> &str {
    let short = website.split_once("://").map_or(website, |(_, rest)| rest);
    short.strip_prefix("www.").unwrap_or(short).trim_end_matches('/')
}

/// The `http` or `https` URL of a website; `None` for anything else, such as `javascript:`, which must not be a link.
pub fn web_url(website: &str) -> Option<String> {
    let lower = website.to_ascii_lowercase();
    if lower.starts_with("https://") || lower.starts_with("http://") {
        return Some(website.to_owned());
    }
    let host = website.split_once('/').map_or(website, |(host, _)| host);
    let is_host = host.contains('.') && host.chars().all(|char| char.is_alphanumeric() || matches!(char, '.' | '-'));
    is_host.then(|| format!("https://{website}"))
}

pub fn stars(rating: &u8) -> String {
    let full = usize::from(*rating).min(5);
    "★".repeat(full) + &"☆".repeat(5 - full)
}

/// The ratings of a review by dimension; empty if there are none.
pub fn ratings(review: &Review) -> String {
    let all =
        [("Responsiveness", review.responsiveness), ("Fairness", review.fairness), ("Value added", review.value_add)];
    let rated = all.into_iter().filter_map(|(label, value)| Some(format!("{label} {} of 5", value?)));
    rated.collect::<Vec<_>>().join(" · ")
}

/// What is known of the author of a review: role, month of contact and proof; empty if nothing is.
pub fn reviewer(review: &Review) -> String {
    let role = review.role.as_ref().and_then(|role| match ReviewerRole::read(role)? {
        ReviewerRole::Founder => Some("Founder".to_owned()),
        ReviewerRole::Executive => Some("Executive".to_owned()),
        ReviewerRole::Other => None,
    });
    let contact = review.contact_month.map(|month| format!("contact in {}", month.month_in_words()));
    let proof = review.proof.as_ref().and_then(|proof| ReviewProof::read(proof)).map(proof_in_words);
    let known = [role, contact, proof.map(str::to_owned)].into_iter().flatten();
    capitalized(&known.collect::<Vec<_>>().join(" · "))
}

pub fn proof_in_words(proof: ReviewProof) -> &'static str {
    match proof {
        ReviewProof::None => "not verified",
        ReviewProof::Email => "verified by an e-mail address at a startup of the data",
        ReviewProof::Confirmed => "round or pitch confirmed by the operator",
    }
}

/// Why a review is held, in words.
pub fn hold(reason: &str) -> &'static str {
    HoldReason::ALL.iter().find(|known| known.name() == reason).map_or("unusual", |reason| reason.in_words())
}

/// Replaces the backquotes of a message by “ and ”.
pub fn with_quotes(message: &str) -> String {
    let mut is_open = false;
    let quote = |char| match char {
        '`' => {
            is_open = !is_open;
            if is_open { '“' } else { '”' }
        }
        char => char,
    };
    message.chars().map(quote).collect()
}

pub fn response(ghosted: &Option<bool>) -> &'static str {
    match ghosted {
        Some(true) => "never got a response",
        Some(false) => "got a response",
        None => "",
    }
}

pub fn tenths(value: &f64) -> String {
    format!("{value:.1}")
}

/// The title of an identifier scheme; the name if the scheme is unknown.
pub fn scheme(name: &str) -> &str {
    identifier::scheme(name).map_or(name, |scheme| scheme.title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_have_three_digits_at_most() {
        for (amount, text) in [
            (0_u64, "$0"),
            (999, "$999"),
            (1_000, "$1K"),
            (350_400, "$350K"),
            (999_499, "$999K"),
            (999_500, "$1M"),
            (1_240_000, "$1.24M"),
            (2_250_000, "$2.25M"),
            (41_250_000, "$41.3M"),
            (9_999_000, "$10M"),
            (99_940_000, "$99.9M"),
            (99_960_000, "$100M"),
            (12_000_000_000, "$12B"),
            (3_400_000_000_000, "$3.4T"),
        ] {
            assert_eq!(usd(&amount), text, "{amount}");
        }
        assert_eq!(usd_range(&Some(100_000), &None), "from $100K");
    }

    #[test]
    fn numbers_and_dates_are_formatted() {
        assert_eq!(number(1_234_567_u64), "1,234,567");
        assert_eq!(number(123_u32), "123");
        assert_eq!(counted(1_u32, "review", "reviews"), "1 review");
        assert_eq!(day("2026-11-03"), "3 Nov 2026");
        assert_eq!(day("2026-13-03"), "2026-13-03");
        assert_eq!(
            (day("2026-03").as_str(), day("2026").as_str(), day("2026-13").as_str()),
            ("Mar 2026", "2026", "2026-13")
        );
        let month_of = |text: &str| month(text.parse().unwrap());
        assert_eq!(["2026-11-03", "2026-11", "2026"].map(month_of), ["Nov 2026", "Nov 2026", "2026"]);
        assert_eq!(instant(1_795_305_600 + 47_130), "22 Nov 2026, 13:05 UTC");
        assert_eq!(short_day("2026-11-03"), "3 Nov");
    }

    #[test]
    fn a_city_that_is_its_country_is_shown_once() {
        assert_eq!((country("US"), country("XX")), ("United States", "XX"));
        assert_eq!(place(&Some("Lyon".into()), &Some("FR".into())), "Lyon, France");
        assert_eq!(place(&Some("Singapore".into()), &Some("SG".into())), "Singapore");
    }

    #[test]
    fn backquotes_become_typographic_quotes() {
        assert_eq!(with_quotes("`a` is not `b`"), "“a” is not “b”");
    }

    #[test]
    fn words_of_vocabularies_are_capitalized() {
        for (name, text) in [
            ("series-a", "Series A"),
            ("series-d-plus", "Series D+"),
            ("angel-network", "Angel network"),
            ("value_add", "Value add"),
            ("ipo", "IPO"),
        ] {
            assert_eq!(word(name), text);
        }
    }

    #[test]
    fn a_firm_of_another_kind_is_an_investor() {
        let kinds = [Some("angel-network"), Some("other"), None].map(|kind| firm_kind(&kind.map(str::to_owned)));
        assert_eq!(kinds, ["Angel network", "Investor", "Investor"]);
    }

    #[test]
    fn only_web_urls_are_linked() {
        assert_eq!(web_url("https://a.example/x").as_deref(), Some("https://a.example/x"));
        assert_eq!(web_url("www.a.example").as_deref(), Some("https://www.a.example"));
        for text in ["javascript:alert(1)", "data:text/html,x", "//a.example", "mailto:a@b.example", "n/a"] {
            assert_eq!(web_url(text), None, "{text}");
        }
        assert_eq!(short_url("https://www.a.example/"), "a.example");
    }
}
