//! A person's profile.

use askama::Template;

use crate::catalog::provenance::Statement;
use crate::catalog::{Catalog, Filter, ListPosition, Query, RelatedRoles};
use crate::data::Table;
use crate::data::model::{Organization, Person, RelatedRole};
use crate::site::error_page::{PageError, path_of};
use crate::site::layout::PageLayout;
use crate::site::records::{record, records};
use crate::site::{PageRequest, format, linked_data};

const MAX_COLLEAGUES: usize = 12;

/// Roles under other records of the same name.
struct RelatedGroup {
    id: &'static str,
    heading: &'static str,
    /// Each with the path of its organization.
    roles: Vec<(String, RelatedRole)>,
}

impl RelatedGroup {
    fn of(id: &'static str, heading: &'static str, roles: Vec<RelatedRole>) -> Self {
        let roles = roles.into_iter().map(|role| (organization_path(&role.organization), role));
        Self { id, heading, roles: roles.collect() }
    }
}

fn organization_path(organization: &Organization) -> String {
    let table = if organization.kind == "firm" { Table::Firms } else { Table::Startups };
    path_of(table, &organization.slug)
}

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    layout: PageLayout,
    person: Person,
    organization: String,
    colleagues: Vec<Person>,
    related: [RelatedGroup; 2],
    statements: Vec<Statement>,
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
    let RelatedRoles { other_roles, probable_same } = catalog.related_roles(row);
    let base = &request.state.public_url;
    let (path, organization) = (format!("/people/{}", person.slug), organization_path(&person.organization));
    let about = linked_data::person(&person, base, &organization, snapshot.is_invented());
    let page = PersonPage {
        layout: PageLayout::of(snapshot, &person.name, &description, &path)
            .with_twins(request.state, "")
            .about(linked_data::of_record(base, ("/people", "People"), &path, &about)),
        organization,
        colleagues: records(catalog, Table::People, colleagues)?,
        related: [
            RelatedGroup::of("roles", "Other roles under this name", other_roles),
            RelatedGroup::of("same", "Probably the same person", probable_same),
        ],
        statements: catalog.provenance(Table::People, row),
        api: format!("{}/api/v3/people/{}", request.state.public_url, person.slug),
        person,
    };
    Ok(page.render()?)
}
