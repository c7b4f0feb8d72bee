//! Pages of single records: what they say is what the API says.

mod firm;
mod person;
mod reviews;
mod startup;

use scraper::ElementRef;

use crate::support::harness::Client;
use crate::support::html::{Markup, text_of};

/// The total of the list that a link of a page leads to, as the API counts it.
fn total(client: &Client, href: &str) -> u64 {
    let path = href.replacen("/rounds?", "/funding-rounds?", 1);
    let reply = client.get(&format!("/api/v3{path}&limit=1"));
    assert_eq!(reply.status, 200, "{href}: {}", reply.text);
    reply.json()["pagination"]["total"].as_u64().unwrap()
}

/// Each link to a list with the number that is written there.
fn counted_links(part: ElementRef<'_>) -> Vec<(&str, u64)> {
    let number = |text: &str| {
        // `see all 371 startups`, `Stage Seed 12`: the first number.
        let start = text.find(|char: char| char.is_ascii_digit())?;
        let digits = text[start..].split(|char: char| !char.is_ascii_digit() && char != ',').next()?;
        digits.replace(',', "").parse().ok()
    };
    let links = part.all("a").into_iter().filter_map(|link| {
        let href = link.attr("href")?;
        let is_list = href.starts_with("/startups?") || href.starts_with("/rounds?");
        let count = number(&text_of(link)).filter(|_| is_list)?;
        Some((href, count))
    });
    links.collect()
}
