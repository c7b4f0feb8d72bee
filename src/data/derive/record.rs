//! Records, written once when a snapshot is compiled: each value as JSON text, so that any selection of fields is a
//! concatenation of slices ([`RecordText`]).

use std::io;

use crate::archive::record_text::RecordBuffer;
use crate::derive::review_weight::ReviewWeight;
use crate::derive::{Derived, country_of};
use crate::field::Model;
use crate::identifier;
use crate::import::text_store::StoredText;
use crate::import::{Dataset, identifiers, rows};
use crate::model::{
    CoInvestor, Firm, FundingRound, Identifier, Investor, Organization, Person, Ratings, Reference, Review, Sector,
    Startup,
};
use crate::vocabulary::Vocabulary;
use crate::{Country, OrganizationKind, RecordText, Table};

impl RecordBuffer {
    /// Appends the record of a row, by its index in the dataset.
    pub(crate) fn write<'o>(
        &mut self,
        out: &'o mut Vec<u8>,
        dataset: &Dataset,
        derived: &Derived,
        table: Table,
        row: usize,
    ) -> io::Result<RecordText<'o>> {
        self.clear(table);
        let text = |stored: Option<StoredText>| stored.map(|stored| dataset.texts.read(stored)).transpose();
        match table {
            Table::Firms => derived.firm(dataset, row, text(dataset.firms[row].description)?.as_deref()).visit(self),
            Table::Startups => {
                derived.startup(dataset, row, text(dataset.startups[row].description)?.as_deref()).visit(self);
            }
            Table::Rounds => derived.round(dataset, &dataset.rounds[row]).visit(self),
            Table::People => person(dataset, &dataset.people[row]).visit(self),
            Table::Reviews => {
                let of = &dataset.reviews[row];
                let texts = of.published().map_or([None; 3], |content| [content.title, content.body, content.reply]);
                let [title, body, reply] = texts.map(text);
                let (title, body, reply) = (title?, body?, reply?);
                review(dataset, of, derived.review_weights[row], [&title, &body, &reply].map(Option::as_deref))
                    .visit(self);
            }
            Table::Sectors => {
                derived.sector(dataset, row, text(dataset.sectors[row].description)?.as_deref()).visit(self)
            }
        }
        Ok(self.append_to(out, table))
    }
}

impl Derived {
    fn firm<'a>(&'a self, dataset: &'a Dataset, row: usize, description: Option<&'a str>) -> Firm<&'a str> {
        let (firm, stats, assessment) = (&dataset.firms[row], &self.firms[row], &self.assessments[row]);
        let [overall, responsiveness, fairness, value_add] = assessment.rating_tenths.map(|tenths| tenths.map(decimal));
        let top_co_investors = stats.top_co_investors.iter().map(|(row, shared_rounds)| {
            let Reference { slug, name } = reference(dataset, Table::Firms, *row);
            CoInvestor { slug, name, shared_rounds: *shared_rounds }
        });
        Firm {
            slug: &firm.slug,
            name: &firm.name,
            kind: firm.own.kind.map(Vocabulary::name),
            health_score: assessment.score.value,
            ghosting_rate: assessment.ghosting_tenths.map(decimal),
            review_count: assessment.score.review_count,
            stages: stats.stages.iter().map(|stage| stage.name()).collect(),
            sectors: sector_slugs(dataset, &stats.sectors),
            country: firm.country.map(Country::alpha2),
            city: firm.city.as_deref(),
            website: firm.website.as_deref(),
            check_min_usd: firm.own.check_min_usd,
            check_max_usd: firm.own.check_max_usd,
            portfolio_count: stats.portfolio_count,
            last_investment_on: stats.last_investment_on,
            aliases: firm.aliases.iter().map(String::as_str).collect(),
            description,
            founded_year: firm.founded_year,
            aum_usd: firm.own.aum_usd,
            investment_count: stats.investment_count,
            ratings: Ratings { overall, responsiveness, fairness, value_add },
            score: assessment.score.clone(),
            top_co_investors: top_co_investors.collect(),
            identifiers: identifiers(&firm.identifiers),
            coverage_until: None,
            first_seen: None,
            changed_in: None,
        }
    }

    fn startup<'a>(&self, dataset: &'a Dataset, row: usize, description: Option<&'a str>) -> Startup<&'a str> {
        let (startup, stats) = (&dataset.startups[row], &self.startups[row]);
        let investors = stats.investors.iter().map(|investor| {
            let Reference { slug, name } = reference(dataset, Table::Firms, investor.firm);
            Investor { slug, name, lead: investor.lead }
        });
        Startup {
            slug: &startup.slug,
            name: &startup.name,
            status: startup.own.status.map(Vocabulary::name),
            stage: startup.own.stage.map(Vocabulary::name),
            sectors: sector_slugs(dataset, &startup.sectors),
            country: startup.country.map(Country::alpha2),
            city: startup.city.as_deref(),
            website: startup.website.as_deref(),
            founded_year: startup.founded_year,
            total_raised_usd: stats.total_raised_usd,
            round_count: stats.round_count,
            last_round_on: stats.last_round_on,
            investors: investors.collect(),
            aliases: startup.aliases.iter().map(String::as_str).collect(),
            description,
            identifiers: identifiers(&startup.identifiers),
            coverage_until: None,
            rounds: Vec::new(),
            people: Vec::new(),
            first_seen: None,
            changed_in: None,
        }
    }

    fn round<'a>(&self, dataset: &'a Dataset, round: &'a rows::DatasetRound) -> FundingRound<&'a str> {
        let startup = &dataset.startups[round.startup as usize];
        let firms = |leads_only: bool| -> Vec<Reference<&str>> {
            let investors = round.investors.iter().filter(|investor| !leads_only || investor.lead == Some(true));
            investors.map(|investor| reference(dataset, Table::Firms, investor.firm)).collect()
        };
        FundingRound {
            id: &round.id,
            startup: reference(dataset, Table::Startups, round.startup),
            stage: round.stage.map(Vocabulary::name),
            amount_usd: round.amount_usd,
            announced_on: round.announced_on,
            lead_investors: Some(firms(true)).filter(|leads| !leads.is_empty()),
            investors: firms(false),
            sectors: sector_slugs(dataset, &startup.sectors),
            country: startup.country.map(Country::alpha2),
            suspect: self.limits.is_suspect(round),
            first_seen: None,
            changed_in: None,
        }
    }

    fn sector<'a>(&self, dataset: &'a Dataset, row: usize, description: Option<&'a str>) -> Sector<&'a str> {
        let (sector, stats) = (&dataset.sectors[row], &self.sectors[row]);
        Sector {
            slug: &sector.slug,
            name: &sector.name,
            parent: sector.parent.map(|parent| dataset.sectors[parent as usize].slug.as_str()),
            description,
            vc_count: stats.vc_count,
            startup_count: stats.startup_count,
            average_health_score: stats.average_health_tenths.map(decimal),
            first_seen: None,
            changed_in: None,
        }
    }
}

fn person<'a>(dataset: &'a Dataset, person: &'a rows::DatasetPerson) -> Person<&'a str> {
    let table = match person.organization_kind {
        OrganizationKind::Firm => Table::Firms,
        OrganizationKind::Startup => Table::Startups,
    };
    let Reference { slug, name } = reference(dataset, table, person.organization);
    let country = country_of(dataset, person);
    Person {
        slug: &person.slug,
        name: &person.name,
        title: person.title.as_deref(),
        organization: Organization { kind: person.organization_kind.name(), slug, name },
        country: country.map(|(country, _)| country.alpha2()),
        country_source: country.map(|(_, source)| source.name()),
        identifiers: identifiers(&person.identifiers),
        first_seen: None,
        changed_in: None,
    }
}

fn review<'a>(
    dataset: &'a Dataset,
    review: &'a rows::DatasetReview,
    ReviewWeight { weight, held_as }: ReviewWeight,
    [title, body, reply]: [Option<&'a str>; 3],
) -> Review<&'a str> {
    let content = review.published();
    let status = review.listed_status().expect("reviews without a public status are left out");
    Review {
        id: &review.id,
        vc: reference(dataset, Table::Firms, review.firm),
        status: status.name(),
        stage: content.and_then(|content| content.stage).map(Vocabulary::name),
        rating: content.map(|content| content.rating),
        responsiveness: content.and_then(|content| content.responsiveness),
        fairness: content.and_then(|content| content.fairness),
        value_add: content.and_then(|content| content.value_add),
        ghosted: content.and_then(|content| content.ghosted),
        title,
        body,
        created_on: review.published_on(),
        role: content.and_then(|content| content.role).map(Vocabulary::name),
        contact_month: content.and_then(|content| content.contact_month),
        proof: content.and_then(|content| content.proof).map(Vocabulary::name),
        counted: content.map(|_| held_as.is_none()),
        held_as: held_as.map(Vocabulary::name),
        weight: content.map(|_| weight),
        reply,
        replied_on: review.published_reply_on(),
        first_seen: None,
        changed_in: None,
    }
}

/// The slug and name of a row; rounds and reviews have only an id.
pub(crate) fn reference(dataset: &Dataset, table: Table, row: u32) -> Reference<&str> {
    let row = row as usize;
    let (slug, name): (&str, &str) = match table {
        Table::Firms => (&dataset.firms[row].slug, &dataset.firms[row].name),
        Table::Startups => (&dataset.startups[row].slug, &dataset.startups[row].name),
        Table::Rounds => (&dataset.rounds[row].id, ""),
        Table::People => (&dataset.people[row].slug, &dataset.people[row].name),
        Table::Reviews => (&dataset.reviews[row].id, ""),
        Table::Sectors => (&dataset.sectors[row].slug, &dataset.sectors[row].name),
    };
    Reference { slug, name }
}

fn sector_slugs<'a>(dataset: &'a Dataset, sectors: &[u32]) -> Vec<&'a str> {
    sectors.iter().map(|sector| dataset.sectors[*sector as usize].slug.as_str()).collect()
}

fn identifiers(carried: &[identifiers::NormalIdentifier]) -> Vec<Identifier<&str>> {
    let json = carried.iter().map(|identifiers::NormalIdentifier { scheme, value }| {
        let page = identifier::scheme(scheme).and_then(|scheme| scheme.page);
        let url = page.map(|page| page.replace("{}", value));
        Identifier { scheme: &**scheme, value: &**value, strength: identifier::strength(scheme).name(), url }
    });
    json.collect()
}

fn decimal(tenths: impl Into<u32>) -> f64 {
    f64::from(tenths.into()) / 10.0
}
