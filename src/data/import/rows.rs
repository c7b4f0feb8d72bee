//! The rows of a dataset, before anything is derived: the type of each file, its columns, and the parsing of a row.
//!
//! Datasets have tens of millions of rows: vectors have no spare capacity, and values that many rows have are shared.
//! References between rows are indexes into the tables. Amounts are whole US dollars, ratings 1–5. A row is `None` if a
//! required value is missing or invalid, which is reported.

use std::sync::Arc;

use crate::import::csv_row::CsvRow;
use crate::import::csv_table::{CsvTable, TableRow};
use crate::import::identifiers::NormalIdentifier;
use crate::import::text_store::{StoredText, TextStore};
use crate::{
    Country, Date, FirmKind, OrganizationKind, PartialDate, ReviewProof, ReviewStatus, ReviewerRole, Stage,
    StartupStatus, Table,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetSector {
    pub slug: String,
    pub name: String,
    /// Set when all sectors are read.
    pub parent: Option<u32>,
    pub description: Option<StoredText>,
}

impl TableRow for DatasetSector {
    const NOUN: &'static str = Table::Sectors.noun();
    const FILE: &'static str = "sectors.csv";
    const HEADER: &'static str = "slug,name,parent,description";
    const REQUIRED: &'static str = "slug,name";
}

impl DatasetSector {
    pub(crate) fn read(row: &mut CsvRow<'_, '_>, texts: &mut TextStore) -> Self {
        let (slug, name) = (row.slug("slug"), row.name("name"));
        Self { slug, name, parent: None, description: row.stored_text("description", texts) }
    }
}

/// A firm or startup, with the values that only its kind has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetOrganization<V> {
    pub slug: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub website: Option<String>,
    pub description: Option<StoredText>,
    pub country: Option<Country>,
    pub city: Option<Arc<str>>,
    pub founded_year: Option<u16>,
    /// Those of a firm are the published ones; if empty, they are derived from its portfolio.
    pub sectors: Vec<u32>,
    /// From [`RecordIdentifier::FILE`](crate::import::identifiers).
    pub identifiers: Vec<NormalIdentifier>,
    pub own: V,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FirmValues {
    pub kind: Option<FirmKind>,
    /// Stages published by the firm; if empty, they are derived from its rounds.
    pub stages: Vec<Stage>,
    pub check_min_usd: Option<u64>,
    pub check_max_usd: Option<u64>,
    pub aum_usd: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupValues {
    pub stage: Option<Stage>,
    pub status: Option<StartupStatus>,
}

pub type DatasetFirm = DatasetOrganization<FirmValues>;
pub type DatasetStartup = DatasetOrganization<StartupValues>;

impl TableRow for DatasetFirm {
    const NOUN: &'static str = Table::Firms.noun();
    const FILE: &'static str = "firms.csv";
    const HEADER: &'static str = "slug,name,aliases,kind,website,description,country,city,founded_year,stages,sectors,\
                                  check_min_usd,check_max_usd,aum_usd";
    const REQUIRED: &'static str = "slug,name";
}

impl DatasetFirm {
    pub(crate) fn read(
        row: &mut CsvRow<'_, '_>,
        texts: &mut TextStore,
        sectors: &CsvTable<DatasetSector>,
        released_on: Option<Date>,
    ) -> Self {
        let (slug, name, aliases) = (row.slug("slug"), row.name("name"), row.values("aliases"));
        let kind = row.word("kind");
        let (website, description) = (row.website("website"), row.stored_text("description", texts));
        let (country, city) = (row.country("country"), row.shared_phrase("city"));
        let (founded_year, stages) = (founded_year(row, released_on), row.words("stages"));
        let (sectors, identifiers) = (sectors.references(row, "sectors"), Vec::new());
        let (check_min_usd, check_max_usd) = (row.dollars("check_min_usd"), row.raised_dollars("check_max_usd"));
        let own = FirmValues { kind, stages, check_min_usd, check_max_usd, aum_usd: row.raised_dollars("aum_usd") };
        reject_path(row, &slug, "facets");
        reject_path(row, &slug, "aggregate");
        if let Some((min, max)) = check_min_usd.zip(check_max_usd).filter(|(min, max)| min > max) {
            row.warning("check_min_usd", format!("{min} is above check_max_usd, {max}"));
        }
        Self { slug, name, aliases, website, description, country, city, founded_year, sectors, identifiers, own }
    }
}

impl TableRow for DatasetStartup {
    const NOUN: &'static str = Table::Startups.noun();
    const FILE: &'static str = "startups.csv";
    const HEADER: &'static str = "slug,name,aliases,website,description,country,city,founded_year,stage,sectors,status";
    const REQUIRED: &'static str = "slug,name";
}

impl DatasetStartup {
    pub(crate) fn read(
        row: &mut CsvRow<'_, '_>,
        texts: &mut TextStore,
        sectors: &CsvTable<DatasetSector>,
        released_on: Option<Date>,
    ) -> Self {
        let slug = row.slug("slug");
        reject_path(row, &slug, "aggregate");
        let (name, aliases) = (row.name("name"), row.values("aliases"));
        let (website, description) = (row.website("website"), row.stored_text("description", texts));
        let (country, city) = (row.country("country"), row.shared_phrase("city"));
        let (founded_year, stage) = (founded_year(row, released_on), row.word("stage"));
        let (sectors, identifiers) = (sectors.references(row, "sectors"), Vec::new());
        let own = StartupValues { stage, status: row.word("status") };
        Self { slug, name, aliases, website, description, country, city, founded_year, sectors, identifiers, own }
    }
}

fn reject_path(row: &mut CsvRow<'_, '_>, slug: &str, path: &str) {
    if slug == path {
        row.error("slug", format!("`{path}` is a path of the API; choose another slug"));
    }
}

/// Parses a date, with a warning if it is after the release: it may be planned, but a mistyped year is more likely.
fn past_date(row: &mut CsvRow<'_, '_>, column: &'static str, released_on: Option<Date>) -> Option<PartialDate> {
    let date = row.date(column)?;
    if let Some(released_on) = released_on.filter(|released_on| date.first_day() > *released_on) {
        row.warning(column, format!("{date} is after the release, {released_on}"));
    }
    Some(date)
}

fn founded_year(row: &mut CsvRow<'_, '_>, released_on: Option<Date>) -> Option<u16> {
    let year = row.year("founded_year")?;
    if released_on.is_some_and(|date| i32::from(year) > date.year()) {
        row.warning("founded_year", format!("{year} is after the release"));
    }
    Some(year)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetInvestor {
    pub firm: u32,
    /// True if it led; `None` if no lead is named.
    pub lead: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetRound {
    pub id: String,
    pub startup: u32,
    pub stage: Option<Stage>,
    pub amount_usd: Option<u64>,
    pub announced_on: Option<PartialDate>,
    /// Leads first, without duplicates.
    pub investors: Vec<DatasetInvestor>,
}

impl TableRow for DatasetRound {
    const NOUN: &'static str = Table::Rounds.noun();
    const FILE: &'static str = "funding_rounds.csv";
    const HEADER: &'static str = "id,startup,stage,amount_usd,announced_on,lead_investors,investors";
    const REQUIRED: &'static str = "id,startup";
}

impl DatasetRound {
    pub(crate) fn read(
        row: &mut CsvRow<'_, '_>,
        startups: &CsvTable<DatasetStartup>,
        firms: &CsvTable<DatasetFirm>,
        released_on: Option<Date>,
    ) -> Option<Self> {
        let id = row.id("id");
        let startup = startups.reference(row, "startup");
        let stage = row.word("stage");
        let amount_usd = row.raised_dollars("amount_usd");
        let announced_on = past_date(row, "announced_on", released_on);
        let leads = firms.references(row, "lead_investors").into_iter();
        let mut investors: Vec<_> = leads.map(|firm| DatasetInvestor { firm, lead: Some(true) }).collect();
        // A firm that is not among the leads did not lead, but only if the leads are known.
        let lead = (!investors.is_empty()).then_some(false);
        for firm in firms.references(row, "investors") {
            if !investors.iter().any(|investor| investor.firm == firm) {
                investors.push(DatasetInvestor { firm, lead });
            }
        }
        investors.shrink_to_fit();
        let startup = startup?;
        let dates = announced_on.zip(startups.rows[startup as usize].founded_year);
        if let Some((date, founded)) = dates.filter(|(date, founded)| date.year() < i32::from(*founded)) {
            row.warning("announced_on", format!("{date} is before the startup was founded, {founded}"));
        }
        Some(Self { id, startup, stage, amount_usd, announced_on, investors })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetPerson {
    pub slug: String,
    pub name: String,
    /// From [`Alias::FILE`](crate::import::aliases).
    pub aliases: Vec<String>,
    pub title: Option<Arc<str>>,
    pub organization_kind: OrganizationKind,
    pub organization: u32,
    pub country: Option<Country>,
    pub identifiers: Vec<NormalIdentifier>,
}

impl TableRow for DatasetPerson {
    const NOUN: &'static str = Table::People.noun();
    const FILE: &'static str = "people.csv";
    const HEADER: &'static str = "slug,name,title,organization_kind,organization,country";
    const REQUIRED: &'static str = "slug,name,organization_kind,organization";
}

impl DatasetPerson {
    pub(crate) fn read(
        row: &mut CsvRow<'_, '_>,
        startups: &CsvTable<DatasetStartup>,
        firms: &CsvTable<DatasetFirm>,
    ) -> Option<Self> {
        let (slug, name, title) = (row.slug("slug"), row.name("name"), row.shared_phrase("title"));
        reject_path(row, &slug, "aggregate");
        let organization_kind = row.required("organization_kind", CsvRow::word);
        let organization = match organization_kind {
            Some(OrganizationKind::Firm) => firms.reference(row, "organization"),
            Some(OrganizationKind::Startup) => startups.reference(row, "organization"),
            None => row.required("organization", |_, _| None),
        };
        let country = row.country("country");
        let (organization_kind, organization) = (organization_kind?, organization?);
        let (aliases, identifiers) = (Vec::new(), Vec::new());
        Some(Self { slug, name, aliases, title, organization_kind, organization, country, identifiers })
    }
}

/// Number of published reviews of a firm from which on they have their days: with the month alone, nobody tells which of
/// a few founders wrote one.
pub const DAYS_FROM: u32 = 5;

/// A review. Its content and date are private: a release has them only for approved reviews.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetReview {
    pub id: String,
    pub firm: u32,
    status: ReviewStatus,
    /// True if the firm objects and nobody has decided yet.
    is_disputed: bool,
    created_on: PartialDate,
    /// True if a release has the month of its dates only, see [`DAYS_FROM`].
    is_month_only: bool,
    content: ReviewContent,
    pub(crate) author: ReviewAuthor,
    /// True if a person looked at what makes the review suspicious, and lets it count.
    pub(crate) is_cleared: bool,
    /// The first line of the row.
    pub(crate) line: u32,
}

/// What is known of the author of a review. Only the rules of counting read it; no release has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReviewAuthor {
    /// Keyed hash of the account.
    pub key: Option<Arc<str>>,
    /// Date on which the account was created.
    pub since: Option<PartialDate>,
}

/// The part of a review that its author answers for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReviewContent {
    /// The stage at which the reviewer met the firm.
    pub stage: Option<Stage>,
    pub rating: u8,
    pub responsiveness: Option<u8>,
    pub fairness: Option<u8>,
    pub value_add: Option<u8>,
    pub ghosted: Option<bool>,
    pub title: Option<StoredText>,
    pub body: Option<StoredText>,
    pub role: Option<ReviewerRole>,
    pub contact_month: Option<PartialDate>,
    pub proof: Option<ReviewProof>,
    pub reply: Option<StoredText>,
    pub replied_on: Option<PartialDate>,
}

impl ReviewContent {
    /// In the order of the dimensions of the score.
    pub(crate) fn ratings(&self) -> [Option<u8>; 4] {
        [Some(self.rating), self.responsiveness, self.fairness, self.value_add]
    }
}

impl TableRow for DatasetReview {
    const NOUN: &'static str = Table::Reviews.noun();
    const FILE: &'static str = "reviews.csv";
    const HEADER: &'static str = "id,firm,stage,rating,responsiveness,fairness,value_add,ghosted,title,body,status,created_on,\
                                  role,contact_month,proof,author,author_since,reply,replied_on,disputed_on,cleared";
    const REQUIRED: &'static str = "id,firm,rating,status,created_on";
}

impl DatasetReview {
    pub(crate) fn read(
        row: &mut CsvRow<'_, '_>,
        texts: &mut TextStore,
        firm: Option<u32>,
        released_on: Option<Date>,
    ) -> Option<Self> {
        let (id, stage) = (row.id("id"), row.word("stage"));
        let rating = row.required("rating", CsvRow::rating);
        let content = ReviewContent {
            stage,
            // A review without a rating is left out.
            rating: rating.unwrap_or_default(),
            responsiveness: row.rating("responsiveness"),
            fairness: row.rating("fairness"),
            value_add: row.rating("value_add"),
            ghosted: row.truth("ghosted"),
            title: row.phrase("title").and_then(|title| texts.add(&title)),
            body: row.stored_text("body", texts),
            role: row.word("role"),
            contact_month: row.month("contact_month"),
            proof: row.word("proof"),
            reply: row.stored_text("reply", texts),
            replied_on: past_date(row, "replied_on", released_on),
        };
        let status = row.required("status", CsvRow::word);
        let created_on = row.required("created_on", |row, column| past_date(row, column, released_on));
        let author = ReviewAuthor { key: row.keyed_hash("author"), since: row.date("author_since") };
        let disputed_on = past_date(row, "disputed_on", released_on);
        let is_cleared = row.truth("cleared").unwrap_or(false);
        if let Some(created_on) = created_on {
            for (column, date) in [("contact_month", content.contact_month), ("author_since", author.since)] {
                if let Some(date) = date.filter(|date| date.first_day() > created_on.last_day()) {
                    row.warning(column, format!("{date} is after created_on, {created_on}"));
                }
            }
            for (column, date) in [("replied_on", content.replied_on), ("disputed_on", disputed_on)] {
                if let Some(date) = date.filter(|date| date.last_day() < created_on.first_day()) {
                    row.warning(column, format!("{date} is before created_on, {created_on}"));
                }
            }
        }
        if content.replied_on.is_some() && content.reply.is_none() {
            row.warning("replied_on", "is the date of a reply, and `reply` is empty".into());
        }
        rating?;
        let (is_disputed, is_month_only) = (disputed_on.is_some(), true);
        let (firm, status, created_on) = (firm?, status?, created_on?);
        let line = row.line as u32;
        Some(Self { id, firm, status, is_disputed, created_on, is_month_only, content, author, is_cleared, line })
    }

    /// Gives the published reviews of each firm their days, if there are [`DAYS_FROM`] of them.
    pub(crate) fn publish_days(reviews: &mut [Self], firms: usize) {
        let mut counts = vec![0_u32; firms];
        for review in reviews.iter().filter(|review| review.published().is_some()) {
            counts[review.firm as usize] += 1;
        }
        for review in reviews {
            review.is_month_only = review.published().is_none() || counts[review.firm as usize] < DAYS_FROM;
        }
    }

    /// The status in a release; `None` if it has nothing of the review, which is rejected or disputed.
    pub(crate) fn listed_status(&self) -> Option<ReviewStatus> {
        (self.status != ReviewStatus::Rejected && !self.is_disputed).then_some(self.status)
    }

    /// The content for a release: `None` unless the review is approved and nobody disputes it.
    pub(crate) fn published(&self) -> Option<&ReviewContent> {
        (self.listed_status() == Some(ReviewStatus::Approved)).then_some(&self.content)
    }

    /// The date for a release.
    pub(crate) fn published_on(&self) -> PartialDate {
        self.published_date(self.created_on)
    }

    /// The date of the firm's answer for a release.
    pub(crate) fn published_reply_on(&self) -> Option<PartialDate> {
        Some(self.published_date(self.published()?.replied_on?))
    }

    fn published_date(&self, date: PartialDate) -> PartialDate {
        if self.is_month_only { date.month() } else { date }
    }

    /// The content and the date of any review, for checks that only the operator sees.
    pub(crate) fn unpublished(&self) -> (&ReviewContent, PartialDate) {
        (&self.content, self.created_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl DatasetReview {
        pub(crate) fn new(
            id: String,
            firm: u32,
            status: ReviewStatus,
            created_on: PartialDate,
            content: ReviewContent,
        ) -> Self {
            let (is_disputed, author, is_cleared) = (false, ReviewAuthor::default(), false);
            let is_month_only = status != ReviewStatus::Approved;
            Self { id, firm, status, is_disputed, created_on, is_month_only, content, author, is_cleared, line: 0 }
        }
    }
}
