//! A person's profile.

use askama::Template;

use crate::catalog::{Catalog, Filter, ListPosition, Query};
use crate::data::Table;
use crate::openapi::model;
use crate::openapi::model::Person;
use crate::site::layout::PageLayout;

use crate::site::error_page::{PageError, path_of};
use crate::site::{PageRequest, format};

/// Colleagues that a profile shows.
const COLLEAGUES: usize = 12;

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    frame: PageLayout,
    person: Person,
    organization: String,
    colleagues: Vec<Person>,
    api: String,
}

/// `/people/{slug}`: a person.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let person: Person = model::read(catalog, Table::People, row).ok_or(PageError::Broken)?;
    let table = if person.organization.kind == "firm" { Table::Firms } else { Table::Startups };
    let at = snapshot.find(table, &person.organization.slug).map(|row| vec![row]).unwrap_or_default();
    let clause = match table {
        Table::Firms => Filter::MemberOf { firms: at, startups: Vec::new() },
        _ => Filter::MemberOf { firms: Vec::new(), startups: at },
    };
    let query = Query { clauses: vec![clause], ..Query::all(Table::People) };
    let others = catalog.list(&query, ListPosition::default(), COLLEAGUES + 1).rows;
    let others = others.iter().filter(|other| **other != row).take(COLLEAGUES);
    let title = person.title.as_deref().unwrap_or("Person");
    let about = format!("{}: {title} at {}.", person.name, person.organization.name);
    let page = PersonPage {
        frame: PageLayout::of(snapshot, &person.name, &about, &format!("/people/{}", person.slug)),
        organization: path_of(table, &person.organization.slug),
        colleagues: others.filter_map(|row| model::read(catalog, Table::People, *row)).collect(),
        api: format!("{}/api/v3/people/{}", visit.state.public_url, person.slug),
        person,
    };
    Ok(page.render()?)
}
