//! Pages of single records: what they say is what the API says.

mod firm;
mod person;
mod reviews;
mod startup;

use crate::charts::without_tags;
use crate::harness::Client;

/// The links of a part of a page.
pub(crate) fn links(html: &str) -> Vec<String> {
    let hrefs = html.split("<a ").skip(1).filter_map(|rest| rest.split_once("href=\"")?.1.split('"').next());
    hrefs.map(|href| href.replace("&#38;", "&")).collect()
}

/// A section of a page by its id; empty if the page does not have it.
fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let start = format!("<section aria-labelledby=\"{id}\">");
    page.split_once(start.as_str()).map_or("", |(_, rest)| rest.split("</section>").next().unwrap())
}

/// The total of the list that a link of a page leads to, as the API counts it.
fn total(client: &Client, href: &str) -> u64 {
    let path = href.replacen("/rounds?", "/funding-rounds?", 1);
    let reply = client.get(&format!("/api/v3{path}&limit=1"));
    assert_eq!(reply.status, 200, "{href}: {}", reply.text);
    reply.json()["pagination"]["total"].as_u64().unwrap()
}

/// Each link to a list with the number that is written there.
fn counted_links(html: &str) -> Vec<(String, u64)> {
    let number = |text: &str| {
        let digits = text.rsplit(|char: char| !char.is_ascii_digit() && char != ',').next()?;
        digits.replace(',', "").parse().ok()
    };
    let links = html.split("<a ").skip(1).filter_map(|rest| {
        let (link, _) = rest.split_once("</a>")?;
        let href = link.split_once("href=\"")?.1.split('"').next()?.replace("&#38;", "&");
        let is_list = href.starts_with("/startups?") || href.starts_with("/rounds?");
        let count = number(&without_tags(link.split_once('>')?.1)).filter(|_| is_list)?;
        Some((href, count))
    });
    links.collect()
}
