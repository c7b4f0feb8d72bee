//! `/sitemap.xml` (sitemaps.org): the addresses of all pages, in files of at most 10,000 addresses, with an index.

use std::fmt::Write;

use crate::error_page::{PageError, path_of};
use crate::static_pages::StaticEntry;
use crate::{PAGES, PageRequest, PageResult, PathValues, docs, respond_unless_known};
use catalog::{Catalog, Query, ValueCount};
use data::{Facet, Table};
use platform::pause;
use view::format::ACCEPTS;

/// Maximum number of addresses per file: a fifth of what the protocol permits, so that a file is written in a few milliseconds.
const MAX_ADDRESSES: usize = 10_000;
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
/// Facets with a page per value, and the parent paths of these pages.
const MARKETS: [(Facet, &str); 2] = [(Facet::Sector, "/sectors"), (Facet::Country, "/countries")];
const TABLES: [Table; 3] = [Table::Firms, Table::Startups, Table::People];

pub(crate) fn respond(catalog: &Catalog, request: PageRequest<'_>, [number, _]: PathValues<'_>) -> PageResult {
    let (base, files) = (&request.state.public_url, count(catalog).div_ceil(MAX_ADDRESSES));
    let number = number.parse::<usize>().ok();
    if number.is_some_and(|number| number == 0 || number > files || files == 1) {
        return Err(PageError::UnknownPage);
    }
    // Without a number: the only file, or the index of several.
    let is_index = number.is_none() && files > 1;
    let root = if is_index { "sitemapindex" } else { "urlset" };
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root} xmlns=\"{NAMESPACE}\">\n");
    if is_index {
        for number in 1..=files {
            writeln!(text, "<sitemap><loc>{base}/sitemap-{number}.xml</loc></sitemap>").expect(ACCEPTS);
        }
    } else {
        write_addresses(&mut text, catalog, base, number.map_or(0, |number| (number - 1) * MAX_ADDRESSES));
    }
    writeln!(text, "</{root}>").expect(ACCEPTS);
    Ok(respond_unless_known(request, text.into_bytes(), "application/xml"))
}

fn count(catalog: &Catalog) -> usize {
    let records = TABLES.map(|table| catalog.snapshot().rows(table) as usize);
    data_pages().count() + docs_pages().count() + markets(catalog).len() + records.into_iter().sum::<usize>()
}

fn data_pages() -> impl Iterator<Item = &'static str> {
    PAGES.iter().filter(|page| page.is_in_sitemap).map(|page| page.path)
}

fn docs_pages() -> impl Iterator<Item = &'static str> {
    let pages = docs::pages().filter(|(_, entry)| matches!(entry, StaticEntry::Page { .. }));
    // Whether the page of reviews is there depends on the service.
    pages.map(|(path, _)| *path).filter(|path| !docs::is_of_reviews(path))
}

fn markets(catalog: &Catalog) -> Vec<String> {
    let counts = catalog.counts_by(&Query::all(Table::Startups), &MARKETS.map(|(facet, _)| facet));
    let pages = MARKETS.into_iter().zip(counts).flat_map(|((facet, above), counts)| {
        let slug = move |counted: ValueCount| catalog.facet_label(Table::Startups, facet, counted.value).0;
        counts.into_iter().map(move |counted| format!("{above}/{}", slug(counted).to_ascii_lowercase()))
    });
    pages.collect()
}

/// Writes the addresses of a file; `start` is the number of addresses in earlier files.
fn write_addresses(text: &mut String, catalog: &Catalog, base: &str, start: usize) {
    let snapshot = catalog.snapshot();
    let released = snapshot.released_on().to_string();
    let data_pages = data_pages().map(str::to_owned).chain(markets(catalog));
    let data_pages = data_pages.map(|path| (path, Some(released.clone())));
    let docs_pages = docs_pages().map(|path| (path.to_owned(), None));
    let pages: Vec<(String, Option<String>)> = data_pages.chain(docs_pages).collect();
    // A record unchanged since the first release has no known date of change.
    let is_first = !catalog.has_record_history();
    let records = TABLES.into_iter().flat_map(|table| (0..snapshot.rows(table)).map(move |row| (table, row)));
    let records = records.skip(start.saturating_sub(pages.len())).map(|(table, row)| {
        let changed = catalog.changed_in(table, row).map(|release| release.date.to_string());
        (path_of(table, snapshot.slug(table, row)), changed.or_else(|| is_first.then(|| released.clone())))
    });
    let addresses = pages.into_iter().skip(start).chain(records).take(MAX_ADDRESSES);
    for (path, changed) in pause::every(512, addresses) {
        let changed = changed.map_or_else(String::new, |day| format!("<lastmod>{day}</lastmod>"));
        // Slugs need no escape.
        writeln!(text, "<url><loc>{base}{path}</loc>{changed}</url>").expect(ACCEPTS);
    }
}
