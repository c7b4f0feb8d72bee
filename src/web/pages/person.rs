//! A person's profile.

use askama::Template;

use crate::catalog::{Catalog, Clause, Place, Query};
use crate::dataset::Table;
use crate::web::frame::Frame;
use crate::web::records::{self, Person};

use super::failure::{Failure, path_of};
use super::{Visit, words};

/// Colleagues that a profile shows.
const COLLEAGUES: usize = 12;

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    frame: Frame,
    person: Person,
    organization: String,
    colleagues: Vec<Person>,
    api: String,
}

/// `/people/{slug}`: a person.
pub(super) fn page(catalog: &Catalog, visit: Visit<'_>, row: u32) -> Result<String, Failure> {
    let snapshot = catalog.snapshot();
    let person: Person = records::read(catalog, Table::People, row).ok_or(Failure::Broken)?;
    let table = if person.organization.kind == "firm" { Table::Firms } else { Table::Startups };
    let at = snapshot.find(table, &person.organization.slug).map(|row| vec![row]).unwrap_or_default();
    let clause = match table {
        Table::Firms => Clause::MemberOf { firms: at, startups: Vec::new() },
        _ => Clause::MemberOf { firms: Vec::new(), startups: at },
    };
    let query = Query { clauses: vec![clause], ..Query::all(Table::People) };
    let others = catalog.list(&query, Place::default(), COLLEAGUES + 1).rows;
    let others = others.iter().filter(|other| **other != row).take(COLLEAGUES);
    let title = person.title.as_deref().unwrap_or("Person");
    let about = format!("{}: {title} at {}.", person.name, person.organization.name);
    let page = PersonPage {
        frame: Frame::of(snapshot, &person.name, &about, &format!("/people/{}", person.slug)),
        organization: path_of(table, &person.organization.slug),
        colleagues: others.filter_map(|row| records::read(catalog, Table::People, *row)).collect(),
        api: format!("{}/api/v3/people/{}", visit.state.public_url, person.slug),
        person,
    };
    Ok(page.render()?)
}
