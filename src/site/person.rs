use askama::Template;

use crate::error_page::path_of;
use crate::layout::PageLayout;
use crate::records::{first_rows, record, records};
use crate::{PageRequest, PageResult, PathValues, find, linked_data, render};
use catalog::provenance::ProvenanceStatement;
use catalog::{Catalog, Filter, RelatedRoles};
use data::model::{Firm, Investor, Organization, Person, RelatedRole, Startup};
use data::vocabulary::Vocabulary;
use data::{Facet, Role, Table};
use view::format;

const MAX_COLLEAGUES: usize = 24;
const MAX_NAMESAKES: usize = 10;
const MAX_INVESTORS: usize = 3;

struct RoleRow {
    /// Slug of the record, unless it is the record of the page.
    slug: Option<String>,
    title: Option<String>,
    organization: Organization,
    path: String,
    /// Facts about the organization, some with the path of a list.
    facts: Vec<(String, Option<String>)>,
    backers: Option<Backers>,
    /// The reason to assume the same person; true if it is weak.
    reason: Option<(String, bool)>,
}

/// True for lead investors, false if no lead is known; name and path of the first ones, number of others.
type Backers = (bool, Vec<(String, String)>, usize);

#[derive(Template)]
#[template(path = "person.html")]
struct PersonPage {
    layout: PageLayout,
    person: Person,
    organization: String,
    roles: Vec<RoleRow>,
    /// Groups of colleagues: id, heading, people. Co-founders come first if the person is a founder.
    colleagues: Vec<(&'static str, String, Vec<Person>)>,
    /// Number of people at the organization, including this one.
    colleague_count: u64,
    /// People of the same name with nothing else in common.
    namesakes: Vec<Person>,
    statements: Vec<ProvenanceStatement>,
    api: String,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, path: PathValues<'_>) -> PageResult<String> {
    let row = find(catalog, Table::People, path[0])?;
    let snapshot = catalog.snapshot();
    let person: Person = record(catalog, Table::People, row)?;
    let RelatedRoles { other_roles, probable_same } = catalog.related_roles(row);
    let load_role = |slug, title, organization: Organization, reason| -> PageResult<RoleRow> {
        let table = table_of(&organization);
        let (facts, backers) = match (table, snapshot.find(table, &organization.slug)) {
            (Table::Firms, Some(row)) => {
                let firm: Firm = record(catalog, table, row)?;
                let startups = format::counted_known(firm.portfolio_count, "startup", "startups");
                let rounds = format::counted_known(firm.investment_count, "round", "rounds");
                let facts = vec![
                    (format::firm_kind(&firm.kind), None),
                    (startups, Some(format!("/startups?investor={}", firm.slug))),
                    (rounds, Some(format!("/rounds?investor={}", firm.slug))),
                ];
                (facts, None)
            }
            (_, Some(row)) => startup_facts(&record(catalog, table, row)?),
            (_, None) => (Vec::new(), None),
        };
        let path = path_of(table, &organization.slug);
        Ok(RoleRow { slug, title, organization, path, facts, backers, reason })
    };
    let mut roles = vec![load_role(None, person.title.clone(), person.organization.clone(), None)?];
    for (related, is_weak) in [(other_roles, false), (probable_same, true)] {
        for RelatedRole { slug, title, organization, detail, .. } in related {
            roles.push(load_role(Some(slug), title, organization, Some((detail, is_weak)))?);
        }
    }
    let of_roles: Vec<&str> = roles.iter().filter_map(|role| role.slug.as_deref()).collect();
    let is_other = |other: &u32| *other != row && !of_roles.contains(&snapshot.slug(Table::People, *other));
    let namesakes: Vec<u32> =
        catalog.rows_named(Table::People, &person.name).into_iter().filter(is_other).take(MAX_NAMESAKES).collect();
    let (co_founders, others, colleague_count) = colleagues(catalog, row, &person);
    let at = &person.organization.name;
    let mut colleagues = vec![
        ("co-founders", format!("Co-founders of {at}"), records(catalog, Table::People, &co_founders)?),
        ("colleagues", format!("Others at {at}"), records(catalog, Table::People, &others)?),
    ];
    colleagues.retain(|(.., people)| !people.is_empty());
    let title = person.title.as_deref().unwrap_or("Person");
    let description = format!("{}: {title} at {}.", person.name, person.organization.name);
    let base = &request.state.public_url;
    let organization = path_of(table_of(&person.organization), &person.organization.slug);
    let about = linked_data::person(&person, base, &organization);
    render(&PersonPage {
        layout: PageLayout::of_record(catalog, request, (Table::People, row), &description, about),
        organization,
        roles,
        colleagues,
        colleague_count,
        namesakes: records(catalog, Table::People, &namesakes)?,
        statements: catalog.provenance(Table::People, row),
        api: request.api(&format!("people/{}", person.slug)),
        person,
    })
}

fn table_of(organization: &Organization) -> Table {
    if organization.kind == "firm" { Table::Firms } else { Table::Startups }
}

fn startup_facts(startup: &Startup) -> (Vec<(String, Option<String>)>, Option<Backers>) {
    let words = [&startup.status, &startup.stage].into_iter().flatten();
    let mut facts: Vec<(String, Option<String>)> = words.map(|word| (format::word(word), None)).collect();
    // `ipo` is both a status and a stage.
    facts.dedup();
    facts.extend(startup.total_raised_usd.as_ref().map(|usd| (format!("{} raised", format::usd(usd)), None)));
    let rounds = format::counted_known(startup.round_count, "round", "rounds");
    facts.push((rounds, Some(format!("/rounds?startup={}", startup.slug))));
    let leads: Vec<&Investor> = startup.investors.iter().filter(|investor| investor.lead == Some(true)).collect();
    let are_leads = !leads.is_empty();
    let investors = if are_leads { leads } else { startup.investors.iter().collect() };
    let named = investors.iter().take(MAX_INVESTORS).map(|firm| (firm.name.clone(), path_of(Table::Firms, &firm.slug)));
    let more = investors.len().saturating_sub(MAX_INVESTORS);
    (facts, (!investors.is_empty()).then(|| (are_leads, named.collect(), more)))
}

/// Other people at the organization: co-founders, if the person is a founder, and the others; the number of all.
fn colleagues(catalog: &Catalog, row: u32, person: &Person) -> (Vec<u32>, Vec<u32>, u64) {
    let snapshot = catalog.snapshot();
    let table = table_of(&person.organization);
    let organization: Vec<u32> = snapshot.find(table, &person.organization.slug).into_iter().collect();
    let (firms, startups) = if table == Table::Firms { (organization, Vec::new()) } else { (Vec::new(), organization) };
    let members = Filter::MemberOf { firms, startups };
    let (members, total) = first_rows(catalog, Table::People, members, MAX_COLLEAGUES + 1);
    let others = members.into_iter().filter(|other| *other != row).take(MAX_COLLEAGUES);
    let founders = snapshot.facet_rows(Table::People, Facet::Role, Role::Founder.index() as u32);
    let (co_founders, others): (Vec<u32>, Vec<u32>) =
        others.partition(|other| founders.contains(row) && founders.contains(*other));
    (co_founders, others, total)
}
