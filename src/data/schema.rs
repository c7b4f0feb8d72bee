//! The tables of a snapshot: their records, sort keys and facets.

use serde::Serialize;

use crate::field::{Definition, Field, Model};
use crate::model;
use crate::vocabulary::{Vocabulary, vocabulary};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Table {
    #[default]
    Firms,
    Startups,
    #[serde(rename = "funding_rounds")]
    Rounds,
    People,
    /// Approved and pending reviews; rejected ones are not in the archive.
    Reviews,
    Sectors,
}

struct TableSchema {
    name: &'static str,
    noun: &'static str,
    model: &'static Definition,
    sort_keys: &'static [&'static str],
    default_sort: &'static str,
    facets: &'static [Facet],
}

/// In the order of [`Table::ALL`].
const SCHEMAS: &[TableSchema; 6] = {
    use Facet::*;

    &[
        TableSchema {
            name: "firms",
            noun: "firm",
            model: <model::Firm>::DEFINITION,
            sort_keys: &[
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
            default_sort: "-health_score,-investment_count",
            facets: &[Stage, Sector, Country, City, Kind, Website, Identifier],
        },
        TableSchema {
            name: "startups",
            noun: "startup",
            model: <model::Startup>::DEFINITION,
            sort_keys: &["name", "total_raised_usd", "round_count", "last_round_on", "founded_year"],
            default_sort: "-total_raised_usd,-round_count",
            facets: &[Stage, Sector, Country, City, Status, Investor, Website, Identifier],
        },
        TableSchema {
            name: "funding_rounds",
            noun: "funding round",
            model: <model::FundingRound>::DEFINITION,
            sort_keys: &["announced_on", "amount_usd"],
            default_sort: "-announced_on",
            facets: &[Stage, Sector, Country, City, Startup, Investor, Lead, Kind],
        },
        TableSchema {
            name: "people",
            noun: "person",
            model: <model::Person>::DEFINITION,
            sort_keys: &["name"],
            default_sort: "name",
            facets: &[Kind, Country, City, Firm, Startup, Role, Title, Identifier],
        },
        TableSchema {
            name: "reviews",
            noun: "review",
            model: <model::Review>::DEFINITION,
            sort_keys: &["created_on", "rating", "responsiveness", "fairness", "value_add"],
            default_sort: "-created_on",
            facets: &[Firm, Status, Stage, Ghosted, Rating],
        },
        TableSchema {
            name: "sectors",
            noun: "sector",
            model: <model::Sector>::DEFINITION,
            sort_keys: &["name", "vc_count", "startup_count", "average_health_score"],
            default_sort: "-vc_count",
            facets: &[Parent],
        },
    ]
};

impl Table {
    pub const ALL: [Self; 6] = [Self::Firms, Self::Startups, Self::Rounds, Self::People, Self::Reviews, Self::Sectors];

    const fn schema(self) -> &'static TableSchema {
        &SCHEMAS[self as usize]
    }

    /// The name in the archive, in counts and in messages.
    pub fn name(self) -> &'static str {
        self.schema().name
    }

    pub const fn noun(self) -> &'static str {
        self.schema().noun
    }

    pub const fn plural(self) -> &'static str {
        match self {
            Self::Rounds => "funding rounds",
            _ => self.schema().name,
        }
    }

    pub fn key(self) -> &'static str {
        if matches!(self, Self::Rounds | Self::Reviews) { "id" } else { "slug" }
    }

    pub const fn model(self) -> &'static Definition {
        self.schema().model
    }

    /// The fields stored in the archive, in order; those in lists come first.
    #[inline]
    pub fn fields(self) -> &'static [Field] {
        &self.model().fields[..self.model().stored]
    }

    pub fn default_fields(self) -> &'static [Field] {
        &self.model().fields[..self.model().listed]
    }

    pub fn joined_fields(self) -> &'static [Field] {
        &self.model().fields[self.model().stored..]
    }

    /// The index of a stored field. Panics if the table has no such field: names come from the code.
    pub fn field_index(self, name: &str) -> usize {
        let index = self.fields().iter().position(|field| field.name == name);
        index.unwrap_or_else(|| panic!("{} have no field `{name}`", self.name()))
    }

    pub fn sort_keys(self) -> &'static [&'static str] {
        self.schema().sort_keys
    }

    /// True if the values of a sort key, given by index, are dates.
    pub fn is_date(self, key: usize) -> bool {
        self.sort_keys()[key].ends_with("_on")
    }

    /// The order of the rows in the archive, as a value of `sort`.
    pub fn default_sort(self) -> &'static str {
        self.schema().default_sort
    }

    /// The index of a sort key. Panics if the table has no such key, as [`Table::field_index`].
    pub fn sort_key(self, name: &str) -> usize {
        let index = self.sort_keys().iter().position(|key| *key == name);
        index.unwrap_or_else(|| panic!("{} have no sort key `{name}`", self.name()))
    }

    pub fn facets(self) -> &'static [Facet] {
        self.schema().facets
    }
}

vocabulary! {
    /// A property that rows are counted and filtered by. Its values are indexes into the vocabulary of its name, or row
    /// numbers of firms, startups or sectors.
    Facet, "facet", {
        Stage = "stage",
        /// Rows of the sectors; a row counts for its sectors and all their ancestors.
        Sector = "sector",
        Country = "country",
        /// Indexes into the list of folded city names; for rounds the startup's, for people the organization's.
        City = "city",
        /// Indexes into `FirmKind::ALL`, for rounds those of the investors; for people into `OrganizationKind::ALL`.
        Kind = "kind",
        Status = "status",
        Investor = "investor",
        Lead = "lead",
        Startup = "startup",
        Firm = "firm",
        /// 0: no, 1: yes.
        Ghosted = "ghosted",
        /// 1–5.
        Rating = "rating",
        Parent = "parent",
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
        Responsiveness = "responsiveness",
        Fairness = "fairness",
        ValueAdd = "value_add",
        /// Smoothed share of ghosted founders, lowest first.
        GhostingRate = "ghosting_rate",
        /// Rounds joined in the 365 days up to the newest round of the data.
        Activity = "activity",
    }, |text: &str| Metric::ALL.iter().copied().find(|metric| metric.name().replace('_', "-") == text)
}
