//! Records as JSON text, made once when a snapshot is compiled.
//!
//! A record's text is `{"slug":…,"name":…` without the closing brace; the end of each field is kept, so that any
//! selection of fields is a concatenation of slices.

use serde::Serialize;

use crate::data::derive::score::FirmScore;
use crate::data::derive::{Derived, FirmStats, SectorStats, StartupStats};
use crate::data::import::rows::{Dataset, Firm, Investor, Person, Review, Round, Sector, Startup};
use crate::data::{Date, OrganizationKind, ReviewStatus};

/// A record being written.
#[derive(Default)]
pub(crate) struct Record {
    pub text: Vec<u8>,
    pub ends: Vec<u32>,
}

/// A slug with its name, as records refer to each other.
#[derive(Serialize)]
struct Reference<'a> {
    slug: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct InvestorReference<'a> {
    slug: &'a str,
    name: &'a str,
    lead: bool,
}

#[derive(Serialize)]
struct CoInvestor<'a> {
    slug: &'a str,
    name: &'a str,
    shared_rounds: u32,
}

#[derive(Serialize)]
struct Organization<'a> {
    kind: &'static str,
    slug: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
struct OwnRatings {
    overall: Option<f64>,
    responsiveness: Option<f64>,
    fairness: Option<f64>,
    value_add: Option<f64>,
}

impl Record {
    fn begin(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.text.push(b'{');
    }

    fn field(&mut self, name: &str, value: &impl Serialize) {
        if !self.ends.is_empty() {
            self.text.push(b',');
        }
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        // Numbers, texts and lists of them always have a JSON form; a null stands for one that has none.
        if serde_json::to_writer(&mut self.text, value).is_err() {
            self.text.extend_from_slice(b"null");
        }
        self.ends.push(self.text.len() as u32);
    }

    pub(crate) fn firm(&mut self, dataset: &Dataset, firm: &Firm, facts: &FirmStats, assessment: &FirmScore) {
        let stages: Vec<&str> = facts.stages.iter().map(|stage| name_of(*stage)).collect();
        let [overall, responsiveness, fairness, value_add] =
            assessment.ratings.tenths.map(|rating| rating.map(|tenths| f64::from(tenths) / 10.0));
        let co_investors: Vec<CoInvestor<'_>> = facts
            .top_co_investors
            .iter()
            .map(|(row, shared_rounds)| {
                let other = &dataset.firms[*row as usize];
                CoInvestor { slug: &other.slug, name: &other.name, shared_rounds: *shared_rounds }
            })
            .collect();
        self.begin();
        self.field("slug", &firm.slug);
        self.field("name", &firm.name);
        self.field("kind", &firm.kind.map(name_of));
        self.field("health_score", &assessment.score.value);
        self.field("ghosting_rate", &assessment.ghosting_tenths.map(|tenths| f64::from(tenths) / 10.0));
        self.field("review_count", &assessment.score.review_count);
        self.field("stages", &stages);
        self.field("sectors", &sector_slugs(dataset, &facts.sectors));
        self.field("country", &firm.country.map(crate::data::Country::alpha2));
        self.field("city", &firm.city);
        self.field("website", &firm.website);
        self.field("check_min_usd", &firm.check_min_usd);
        self.field("check_max_usd", &firm.check_max_usd);
        self.field("portfolio_count", &facts.portfolio_count);
        self.field("last_investment_on", &date(facts.last_investment_on));
        self.field("aliases", &firm.aliases);
        self.field("description", &firm.description);
        self.field("founded_year", &firm.founded_year);
        self.field("aum_usd", &firm.aum_usd);
        self.field("investment_count", &facts.investment_count);
        self.field("ratings", &OwnRatings { overall, responsiveness, fairness, value_add });
        self.field("score", &assessment.score);
        self.field("top_co_investors", &co_investors);
    }

    pub(crate) fn startup(&mut self, dataset: &Dataset, startup: &Startup, facts: &StartupStats) {
        let investors: Vec<InvestorReference<'_>> = facts
            .investors
            .iter()
            .map(|Investor { firm, lead }| {
                let firm = &dataset.firms[*firm as usize];
                InvestorReference { slug: &firm.slug, name: &firm.name, lead: *lead }
            })
            .collect();
        self.begin();
        self.field("slug", &startup.slug);
        self.field("name", &startup.name);
        self.field("status", &startup.status.map(name_of));
        self.field("stage", &startup.stage.map(name_of));
        self.field("sectors", &sector_slugs(dataset, &startup.sectors));
        self.field("country", &startup.country.map(crate::data::Country::alpha2));
        self.field("city", &startup.city);
        self.field("website", &startup.website);
        self.field("founded_year", &startup.founded_year);
        self.field("total_raised_usd", &facts.total_raised_usd);
        self.field("round_count", &facts.round_count);
        self.field("last_round_on", &date(facts.last_round_on));
        self.field("investors", &investors);
        self.field("aliases", &startup.aliases);
        self.field("description", &startup.description);
    }

    pub(crate) fn round(&mut self, dataset: &Dataset, round: &Round) {
        let startup = &dataset.startups[round.startup as usize];
        let firms = |leads_only: bool| -> Vec<Reference<'_>> {
            let investors = round.investors.iter().filter(|investor| investor.lead || !leads_only);
            let firms = investors.map(|investor| &dataset.firms[investor.firm as usize]);
            firms.map(|firm| Reference { slug: &firm.slug, name: &firm.name }).collect()
        };
        self.begin();
        self.field("id", &round.id);
        self.field("startup", &Reference { slug: &startup.slug, name: &startup.name });
        self.field("stage", &name_of(round.stage));
        self.field("amount_usd", &round.amount_usd);
        self.field("announced_on", &date(round.announced_on));
        self.field("lead_investors", &firms(true));
        self.field("investors", &firms(false));
        self.field("sectors", &sector_slugs(dataset, &startup.sectors));
        self.field("country", &startup.country.map(crate::data::Country::alpha2));
    }

    pub(crate) fn person(&mut self, dataset: &Dataset, person: &Person) {
        let (slug, name) = match person.organization_kind {
            OrganizationKind::Firm => {
                let firm = &dataset.firms[person.organization as usize];
                (&firm.slug, &firm.name)
            }
            OrganizationKind::Startup => {
                let startup = &dataset.startups[person.organization as usize];
                (&startup.slug, &startup.name)
            }
        };
        self.begin();
        self.field("slug", &person.slug);
        self.field("name", &person.name);
        self.field("title", &person.title);
        self.field("organization", &Organization { kind: name_of(person.organization_kind), slug, name });
        self.field("country", &person.country.map(crate::data::Country::alpha2));
    }

    /// A review; of a pending one neither headline nor text is kept.
    pub(crate) fn review(&mut self, dataset: &Dataset, review: &Review) {
        let firm = &dataset.firms[review.firm as usize];
        let readable = review.status == ReviewStatus::Approved;
        self.begin();
        self.field("id", &review.id);
        self.field("vc", &Reference { slug: &firm.slug, name: &firm.name });
        self.field("status", &name_of(review.status));
        self.field("stage", &review.stage.map(name_of));
        self.field("rating", &review.rating);
        self.field("responsiveness", &review.responsiveness);
        self.field("fairness", &review.fairness);
        self.field("value_add", &review.value_add);
        self.field("ghosted", &review.ghosted);
        self.field("title", &review.title.as_deref().filter(|_| readable));
        self.field("body", &review.body.as_deref().filter(|_| readable));
        self.field("created_on", &date(Some(review.created_on)));
    }

    pub(crate) fn sector(&mut self, dataset: &Dataset, sector: &Sector, facts: &SectorStats) {
        self.begin();
        self.field("slug", &sector.slug);
        self.field("name", &sector.name);
        self.field("parent", &sector.parent.map(|parent| &dataset.sectors[parent as usize].slug));
        self.field("description", &sector.description);
        self.field("vc_count", &facts.vc_count);
        self.field("startup_count", &facts.startup_count);
        self.field("average_health_score", &facts.average_health_tenths.map(|tenths| f64::from(tenths) / 10.0));
    }
}

fn name_of<V: crate::data::vocabulary::Vocabulary>(value: V) -> &'static str {
    value.name()
}

fn date(date: Option<Date>) -> Option<String> {
    date.map(|date| date.to_string())
}

fn sector_slugs<'a>(dataset: &'a Dataset, sectors: &[u32]) -> Vec<&'a str> {
    sectors.iter().map(|sector| dataset.sectors[*sector as usize].slug.as_str()).collect()
}

impl Derived {
    /// The record of a row, by its place in the dataset.
    pub(crate) fn record(&self, dataset: &Dataset, table: crate::data::Table, row: usize, record: &mut Record) {
        use crate::data::Table;
        match table {
            Table::Firms => record.firm(dataset, &dataset.firms[row], &self.firms[row], &self.assessments[row]),
            Table::Startups => record.startup(dataset, &dataset.startups[row], &self.startups[row]),
            Table::Rounds => record.round(dataset, &dataset.rounds[row]),
            Table::People => record.person(dataset, &dataset.people[row]),
            Table::Reviews => record.review(dataset, &dataset.reviews[row]),
            Table::Sectors => record.sector(dataset, &dataset.sectors[row], &self.sectors[row]),
        }
    }
}
