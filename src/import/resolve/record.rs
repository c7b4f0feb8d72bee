//! Records to resolve: the values of an entity that are compared.

use xxhash_rust::xxh3::xxh3_64;

use data::evidence::own_domain;
use data::fold::fold;
use data::import::Dataset;
use data::import::identifiers::NormalIdentifier;
use data::import::rows::DatasetOrganization;
use data::name::CoreName;
use data::{Country, Date, OrganizationKind, PartialDate, Table};

/// A firm, startup or person as one source describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceRecord {
    /// Such as `gleif/firm:lei:5493…` in sources; the slug in a dataset.
    pub id: String,
    pub source: u32,
    /// [`Table::Firms`], [`Table::Startups`] or [`Table::People`].
    pub table: Table,
    pub name: String,
    pub aliases: Vec<String>,
    /// Scheme, and value in normal form.
    pub identifiers: Vec<(String, String)>,
    pub website: Option<String>,
    pub country: Option<Country>,
    pub city: Option<String>,
    pub founded_year: Option<u16>,
    pub sectors: Vec<String>,
    pub links: Links,
    /// Number of rounds, as a measure of the record's importance.
    pub size: u32,
    /// True if the source no longer has the record.
    pub is_gone: bool,
    /// The first and the last day on which the source had it.
    pub seen: Option<(Date, Date)>,
    /// True if a line of `suppressed.csv` names the record.
    pub is_suppressed: bool,
}

impl SourceRecord {
    pub fn new(table: Table, id: String, source: u32) -> Self {
        Self { id, source, table, ..Self::default() }
    }

    pub fn has_domain_of(&self, other: &Self) -> bool {
        let domain = |record: &Self| record.website.as_deref().and_then(own_domain);
        domain(self).is_some_and(|own| domain(other) == Some(own))
    }
}

/// Hashes of a record's connections: rounds, investors, portfolio, people, organizations. Two records of one entity share
/// some; a connection that many records have means little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    pub(super) values: Vec<u64>,
    /// Hashes of the ids of linked records.
    pub(super) records: Vec<u64>,
}

impl Links {
    /// Adds an organization or person by the core of its name.
    pub fn add_name(&mut self, table: Table, name: &str) {
        let core = match table {
            Table::People => fold(name),
            _ => CoreName::parse(name).joined(),
        };
        if !core.is_empty() {
            self.add(table.noun(), &core);
        }
    }

    /// Adds an organization by the domain of its website.
    pub fn add_website(&mut self, address: &str) {
        if let Some(domain) = own_domain(address) {
            self.add("website", &domain);
        }
    }

    /// Adds a round if its day and amount are known.
    pub fn add_round(&mut self, announced_on: Option<PartialDate>, amount_usd: Option<u64>) {
        if let (Some(date), Some(amount)) = (announced_on.filter(|date| date.is_day()), amount_usd) {
            self.add("round", &format!("{date} {amount}"));
        }
    }

    /// Adds a record of the same source, by its id.
    pub fn add_record(&mut self, id: &str) {
        self.records.push(xxh3_64(id.as_bytes()));
    }

    fn add(&mut self, kind: &str, value: &str) {
        self.values.push(xxh3_64(format!("{kind} {value}").as_bytes()));
    }
}

fn of_organization<V>(dataset: &Dataset, table: Table, of: &DatasetOrganization<V>) -> SourceRecord {
    let sectors = of.sectors.iter().map(|row| dataset.sectors[*row as usize].name.clone());
    SourceRecord {
        name: of.name.clone(),
        aliases: of.aliases.clone(),
        identifiers: identifiers(&of.identifiers),
        website: of.website.clone(),
        country: of.country,
        city: of.city.as_deref().map(str::to_owned),
        founded_year: of.founded_year,
        sectors: sectors.collect(),
        ..SourceRecord::new(table, of.slug.clone(), 0)
    }
}

fn identifiers(carried: &[NormalIdentifier]) -> Vec<(String, String)> {
    carried.iter().map(|found| (found.scheme.to_string(), found.value.to_string())).collect()
}

/// Records of a dataset: its firms, startups and people, in this order.
pub fn records_of_dataset(dataset: &Dataset) -> Vec<SourceRecord> {
    let firms = dataset.firms.iter().map(|firm| of_organization(dataset, Table::Firms, firm));
    let startups = dataset.startups.iter().map(|startup| of_organization(dataset, Table::Startups, startup));
    let (mut firms, mut startups): (Vec<_>, Vec<_>) = (firms.collect(), startups.collect());
    for round in &dataset.rounds {
        let startup = &mut startups[round.startup as usize];
        startup.size += 1;
        startup.links.add_round(round.announced_on, round.amount_usd);
        for investor in &round.investors {
            let firm = &mut firms[investor.firm as usize];
            firm.size += 1;
            firm.links.add_name(Table::Startups, &startup.name);
            startup.links.add_name(Table::Firms, &firm.name);
        }
    }
    let mut people = Vec::with_capacity(dataset.people.len());
    for person in &dataset.people {
        let mut record = SourceRecord {
            aliases: person.aliases.clone(),
            identifiers: identifiers(&person.identifiers),
            country: person.country,
            name: person.name.clone(),
            ..SourceRecord::new(Table::People, person.slug.clone(), 0)
        };
        let organization = match person.organization_kind {
            OrganizationKind::Firm => &mut firms[person.organization as usize],
            OrganizationKind::Startup => &mut startups[person.organization as usize],
        };
        organization.links.add_name(Table::People, &person.name);
        record.links.add_name(organization.table, &organization.name);
        organization.website.iter().for_each(|address| record.links.add_website(address));
        record.size = organization.size;
        people.push(record);
    }
    firms.into_iter().chain(startups).chain(people).collect()
}
