//! A person's profile.

use askama::Template;

use crate::catalog::{Catalog, Filter, ListPosition, Query};
use crate::data::Table;
use crate::data::model::Person;
use crate::site::error_page::{PageError, path_of};
use crate::site::layout::PageLayout;
use crate::site::records::{record, records};
use crate::site::{PageRequest, format};

const MAX_COLLEAGUES: usize = 12;

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    layout: PageLayout,
    person: Person,
    organization: String,
    colleagues: Vec<Person>,
    api: String,
}

/// `/people/{slug}`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let person: Person = record(catalog, Table::People, row)?;
    let table = if person.organization.kind == "firm" { Table::Firms } else { Table::Startups };
    let organization: Vec<u32> = snapshot.find(table, &person.organization.slug).into_iter().collect();
    let filter = match table {
        Table::Firms => Filter::MemberOf { firms: organization, startups: Vec::new() },
        _ => Filter::MemberOf { firms: Vec::new(), startups: organization },
    };
    let query = Query { filters: vec![filter], ..Query::all(Table::People) };
    let members = catalog.list(&query, ListPosition::default(), MAX_COLLEAGUES + 1).rows;
    let colleagues = members.iter().filter(|other| **other != row).take(MAX_COLLEAGUES);
    let title = person.title.as_deref().unwrap_or("Person");
    let description = format!("{}: {title} at {}.", person.name, person.organization.name);
    let page = PersonPage {
        layout: PageLayout::of(snapshot, &person.name, &description, &format!("/people/{}", person.slug))
            .by(&request.state.operator),
        organization: path_of(table, &person.organization.slug),
        colleagues: records(catalog, Table::People, colleagues)?,
        api: format!("{}/api/v3/people/{}", request.state.public_url, person.slug),
        person,
    };
    Ok(page.render()?)
}
