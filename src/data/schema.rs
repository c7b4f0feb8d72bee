//! The tables of a snapshot: their records, sort keys and facets.

use serde::Serialize;

use crate::field::{Definition, Field, Model};
use crate::model::{Firm, FundingRound, Person, Review, Sector, Startup};
use crate::vocabulary::{Vocabulary, vocabulary};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Table {
    Firms,
    Startups,
    #[serde(rename = "funding_rounds")]
    Rounds,
    People,
    /// Approved and pending reviews; rejected ones are not in the archive.
    Reviews,
    Sectors,
}

impl Table {
    /// All tables, in the order of the archive.
    pub const ALL: [Self; 6] = [Self::Firms, Self::Startups, Self::Rounds, Self::People, Self::Reviews, Self::Sectors];

    /// The name in the archive, in counts and in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Firms => "firms",
            Self::Startups => "startups",
            Self::Rounds => "funding_rounds",
            Self::People => "people",
            Self::Reviews => "reviews",
            Self::Sectors => "sectors",
        }
    }

    /// One row of the table, for messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Firms => "firm",
            Self::Startups => "startup",
            Self::Rounds => "funding round",
            Self::People => "person",
            Self::Reviews => "review",
            Self::Sectors => "sector",
        }
    }

    /// The word for several records.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Firms => "firms",
            Self::Startups => "startups",
            Self::Rounds => "funding rounds",
            Self::People => "people",
            Self::Reviews => "reviews",
            Self::Sectors => "sectors",
        }
    }

    /// The field that identifies a row.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Firms | Self::Startups | Self::People | Self::Sectors => "slug",
            Self::Rounds | Self::Reviews => "id",
        }
    }

    #[must_use]
    pub fn model(self) -> &'static Definition {
        match self {
            Self::Firms => <Firm>::DEFINITION,
            Self::Startups => <Startup>::DEFINITION,
            Self::Rounds => <FundingRound>::DEFINITION,
            Self::People => <Person>::DEFINITION,
            Self::Reviews => <Review>::DEFINITION,
            Self::Sectors => <Sector>::DEFINITION,
        }
    }

    /// The fields stored in the archive, in order; those in lists come first.
    #[must_use]
    pub fn fields(self) -> &'static [Field] {
        let model = self.model();
        &model.fields[..model.stored]
    }

    #[must_use]
    pub fn default_fields(self) -> &'static [Field] {
        let model = self.model();
        &model.fields[..model.listed]
    }

    /// Fields that are composed on request, from other tables or from the history of the release.
    #[must_use]
    pub fn joined_fields(self) -> &'static [Field] {
        let model = self.model();
        &model.fields[model.stored..]
    }

    /// The index of a stored field.
    ///
    /// # Panics
    /// If the table has no such field: names come from the code, never from a request.
    #[must_use]
    pub fn field_index(self, name: &str) -> usize {
        let index = self.fields().iter().position(|field| field.name == name);
        index.unwrap_or_else(|| panic!("{} have no field `{name}`", self.name()))
    }

    #[must_use]
    pub fn sort_keys(self) -> &'static [&'static str] {
        match self {
            Self::Firms => &[
                "name",
                "health_score",
                "ghosting_rate",
                "review_count",
                "portfolio_count",
                "investment_count",
                "last_investment_on",
                "check_min_usd",
                "founded_year",
                "check_max_usd",
                "aum_usd",
                "responsiveness",
                "fairness",
                "value_add",
                "activity",
            ],
            Self::Startups => &["name", "total_raised_usd", "round_count", "last_round_on", "founded_year"],
            Self::Rounds => &["announced_on", "amount_usd"],
            Self::People => &["name"],
            Self::Reviews => &["created_on", "rating", "responsiveness", "fairness", "value_add"],
            Self::Sectors => &["name", "vc_count", "startup_count", "average_health_score"],
        }
    }

    /// True if the values of a sort key, given by index, are dates.
    #[must_use]
    pub fn is_date(self, key: usize) -> bool {
        self.sort_keys()[key].ends_with("_on")
    }

    /// The order of the rows in the archive, as a value of `sort`.
    #[must_use]
    pub fn default_sort(self) -> &'static str {
        match self {
            Self::Firms => "-health_score,-investment_count",
            Self::Startups => "-total_raised_usd,-round_count",
            Self::Rounds => "-announced_on",
            Self::People => "name",
            Self::Reviews => "-created_on",
            Self::Sectors => "-vc_count",
        }
    }

    /// The index of a sort key.
    ///
    /// # Panics
    /// If the table has no such key: names come from the code, never from a request.
    #[must_use]
    pub fn sort_key(self, name: &str) -> usize {
        let index = self.sort_keys().iter().position(|key| *key == name);
        index.unwrap_or_else(|| panic!("{} have no sort key `{name}`", self.name()))
    }

    #[must_use]
    pub fn facets(self) -> &'static [Facet] {
        match self {
            Self::Firms => &[
                Facet::Stage,
                Facet::Sector,
                Facet::Country,
                Facet::City,
                Facet::Kind,
                Facet::Website,
                Facet::Identifier,
            ],
            Self::Startups => &[
                Facet::Stage,
                Facet::Sector,
                Facet::Country,
                Facet::City,
                Facet::Status,
                Facet::Investor,
                Facet::Website,
                Facet::Identifier,
            ],
            Self::Rounds => &[
                Facet::Stage,
                Facet::Sector,
                Facet::Country,
                Facet::City,
                Facet::Startup,
                Facet::Investor,
                Facet::Lead,
                Facet::Kind,
            ],
            Self::People => &[
                Facet::Kind,
                Facet::Country,
                Facet::City,
                Facet::Firm,
                Facet::Startup,
                Facet::Role,
                Facet::Title,
                Facet::Identifier,
            ],
            Self::Reviews => &[Facet::Firm, Facet::Status, Facet::Stage, Facet::Ghosted, Facet::Rating],
            Self::Sectors => &[Facet::Parent],
        }
    }
}

vocabulary! {
    /// A property that rows are counted and filtered by. Its values are numbers: indexes into a vocabulary, or row numbers
    /// of another table.
    Facet, "facet", {
        /// Indexes into `Stage::ALL`.
        Stage = "stage",
        /// Rows of the sectors; a row counts for its sectors and all their ancestors.
        Sector = "sector",
        /// Indexes into `Country::all`.
        Country = "country",
        /// Indexes into the list of folded city names; for rounds the startup's, for people the organization's.
        City = "city",
        /// Indexes into `FirmKind::ALL`, for rounds the kinds of the investors; for people into
        /// `OrganizationKind::ALL`.
        Kind = "kind",
        /// Indexes into `StartupStatus::ALL` or `ReviewStatus::ALL`.
        Status = "status",
        /// Rows of the firms that invested.
        Investor = "investor",
        /// Rows of the firms that led.
        Lead = "lead",
        /// Rows of the startups.
        Startup = "startup",
        /// Rows of the firms.
        Firm = "firm",
        /// 0: no, 1: yes.
        Ghosted = "ghosted",
        /// 1–5.
        Rating = "rating",
        /// Rows of the sectors.
        Parent = "parent",
        /// Indexes into `Role::ALL`.
        Role = "role",
        /// Indexes into the list of folded job titles.
        Title = "title",
        /// Indexes into the list of hosts of websites, without `www.`.
        Website = "website",
        /// Indexes into the list of identifiers, as `scheme:value` in lowercase.
        Identifier = "identifier",
    }
}

impl Facet {
    /// Facets with values that are texts in a list of the snapshot.
    pub const LISTED: [Self; 4] = [Self::City, Self::Title, Self::Website, Self::Identifier];
}

vocabulary! {
    /// A measure that the leaderboard ranks firms by.
    Metric, "metric", {
        /// The cautious peer score: S − se.
        HealthScore = "health_score",
        /// Smoothed mean of responsiveness.
        Responsiveness = "responsiveness",
        /// Smoothed mean of fairness.
        Fairness = "fairness",
        /// Smoothed mean of value added.
        ValueAdd = "value_add",
        /// Smoothed share of ghosted founders, lowest first.
        GhostingRate = "ghosting_rate",
        /// Rounds joined in the 365 days up to the newest round of the data.
        Activity = "activity",
    }, |text: &str| Metric::ALL.iter().copied().find(|metric| metric.name().replace('_', "-") == text)
}
