//! Records that probably belong to the same person. Each record is one role of a person. It is unknown if two records
//! with the same name are one person, so they are related with a reason and never merged.

use data::fold::fold;
use data::model::{Organization, RelatedRole};
use data::{Facet, Table};

use crate::Catalog;

/// Maximum number of records with the same name that are compared; no name of real data has as many.
const MAX_NAMESAKES: usize = 100;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct RelatedRoles {
    /// Records that share an organization, or have organizations that joined a common round.
    pub other_roles: Vec<RelatedRole>,
    /// Records with organizations in the same city, which is weaker evidence.
    pub probable_same: Vec<RelatedRole>,
}

pub(crate) type OrganizationRow = (Table, u32);
type PersonOrganization = (Organization, OrganizationRow);

impl Catalog {
    pub fn related_roles(&self, person: u32) -> RelatedRoles {
        let snapshot = self.snapshot();
        let mut related = RelatedRoles::default();
        let own = self.organization_of(person);
        let mut others = self.rows_named(Table::People, snapshot.name(Table::People, person));
        others.retain(|other| *other != person);
        others.sort_unstable();
        for other in others.into_iter().take(MAX_NAMESAKES) {
            let organization = self.organization_of(other);
            let (reason, detail) = if own.1 == organization.1 {
                ("organization", format!("both at {}", own.0.name))
            } else if let Some(detail) = self.shared_round(&own, &organization) {
                ("round", detail)
            } else if let Some(detail) = self.shared_place(own.1, organization.1) {
                ("place", detail)
            } else {
                continue;
            };
            let title = self.text_field((Table::People, other), "title");
            let slug = snapshot.slug(Table::People, other).to_owned();
            let role = RelatedRole { slug, title, organization: organization.0, reason: reason.to_owned(), detail };
            if reason == "place" { related.probable_same.push(role) } else { related.other_roles.push(role) }
        }
        related
    }

    pub(crate) fn organization_of(&self, person: u32) -> PersonOrganization {
        let field = Table::People.field_index("organization");
        let record = self.snapshot().record(Table::People, person);
        let organization: Organization = record.parse(field).expect("a person has an organization");
        let table = if organization.kind == "firm" { Table::Firms } else { Table::Startups };
        let row = self.snapshot().find(table, &organization.slug).expect("the organization is in the snapshot");
        (organization, (table, row))
    }

    pub fn text_field(&self, (table, row): OrganizationRow, name: &str) -> Option<String> {
        let record = self.snapshot().record(table, row);
        record.parse(table.field_index(name)).expect("the field is text or null")
    }

    fn shared_round(&self, one: &PersonOrganization, two: &PersonOrganization) -> Option<String> {
        let snapshot = self.snapshot();
        let joined = |firm: u32| snapshot.facet_rows(Table::Rounds, Facet::Investor, firm);
        let raised = |startup: u32| snapshot.facet_rows(Table::Rounds, Facet::Startup, startup);
        Some(match (one.1, two.1) {
            ((Table::Firms, firm), (Table::Firms, second)) => {
                let round = joined(firm).iter().find(|round| joined(second).contains(*round))?;
                let startup = snapshot.name(Table::Startups, snapshot.round_startup(round));
                format!("{} and {} joined a round of {startup}", one.0.name, two.0.name)
            }
            ((Table::Firms, firm), (_, startup)) => {
                raised(startup).iter().find(|round| joined(firm).contains(*round))?;
                format!("{} invested in {}", one.0.name, two.0.name)
            }
            (_, (Table::Firms, _)) => return self.shared_round(two, one),
            _ => return None,
        })
    }

    /// A country alone is too large to be evidence.
    fn shared_place(&self, own: OrganizationRow, other: OrganizationRow) -> Option<String> {
        let place = |at: OrganizationRow| Some((self.text_field(at, "city")?, self.text_field(at, "country")?));
        let ((city, country), (other_city, other_country)) = place(own).zip(place(other))?;
        let is_same = fold(&city) == fold(&other_city) && country == other_country;
        is_same.then(|| format!("both in {city}, {country}"))
    }
}
