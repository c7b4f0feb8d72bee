//! The tables of a snapshot: their fields, sort keys and facets.

/// A table of the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Table {
    /// Venture capital firms.
    Firms,
    /// Startups.
    Startups,
    /// Funding rounds.
    Rounds,
    /// People.
    People,
    /// Approved and pending reviews; rejected ones are never served and are not kept.
    Reviews,
    /// Sectors.
    Sectors,
}

impl Table {
    /// All tables, in the order of the archive.
    pub const ALL: [Self; 6] = [Self::Firms, Self::Startups, Self::Rounds, Self::People, Self::Reviews, Self::Sectors];

    /// The table's name, as in the archive, in counts and in messages.
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

    /// One row of it, in messages.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Firms => "firm",
            Self::Startups => "startup",
            Self::Rounds => "funding round",
            Self::People => "person",
            Self::Reviews => "review",
            Self::Sectors => "sector",
        }
    }

    /// The fields that a record holds ready-made, the default ones first.
    #[must_use]
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Firms => &[
                "slug",
                "name",
                "kind",
                "health_score",
                "ghosting_rate",
                "review_count",
                "stages",
                "sectors",
                "country",
                "city",
                "website",
                "check_min_usd",
                "check_max_usd",
                "portfolio_count",
                "last_investment_on",
                "aliases",
                "description",
                "founded_year",
                "aum_usd",
                "investment_count",
                "ratings",
                "score",
                "top_co_investors",
            ],
            Self::Startups => &[
                "slug",
                "name",
                "status",
                "stage",
                "sectors",
                "country",
                "city",
                "website",
                "founded_year",
                "total_raised_usd",
                "round_count",
                "last_round_on",
                "investors",
                "aliases",
                "description",
            ],
            Self::Rounds => &[
                "id",
                "startup",
                "stage",
                "amount_usd",
                "announced_on",
                "lead_investors",
                "investors",
                "sectors",
                "country",
            ],
            Self::People => &["slug", "name", "title", "organization", "country"],
            Self::Reviews => &[
                "id",
                "vc",
                "status",
                "stage",
                "rating",
                "responsiveness",
                "fairness",
                "value_add",
                "ghosted",
                "title",
                "body",
                "created_on",
            ],
            Self::Sectors => {
                &["slug", "name", "parent", "description", "vc_count", "startup_count", "average_health_score"]
            }
        }
    }

    /// How many of [`Table::fields`] a list gives by default.
    #[must_use]
    pub fn default_fields(self) -> usize {
        match self {
            Self::Firms => 15,
            Self::Startups => 13,
            table => table.fields().len(),
        }
    }

    /// Fields of the full record that are put together from other tables when they are asked for.
    #[must_use]
    pub fn composed(self) -> &'static [&'static str] {
        match self {
            Self::Startups => &["rounds", "people"],
            _ => &[],
        }
    }

    /// The keys that the table can be sorted by.
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
            ],
            Self::Startups => &["name", "total_raised_usd", "round_count", "last_round_on", "founded_year"],
            Self::Rounds => &["announced_on", "amount_usd"],
            Self::People => &["name"],
            Self::Reviews => &["created_on", "rating"],
            Self::Sectors => &["name", "vc_count", "startup_count"],
        }
    }

    /// The order in which rows stand in the table, as a value of `sort`.
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

    /// The facets the table can be filtered by.
    #[must_use]
    pub fn facets(self) -> &'static [Facet] {
        match self {
            Self::Firms => &[Facet::Stage, Facet::Sector, Facet::Country, Facet::City, Facet::Kind],
            Self::Startups => &[Facet::Stage, Facet::Sector, Facet::Country, Facet::Status, Facet::Investor],
            Self::Rounds => &[Facet::Stage, Facet::Sector, Facet::Country, Facet::Startup, Facet::Investor],
            Self::People => &[Facet::Kind, Facet::Country, Facet::Firm, Facet::Startup],
            Self::Reviews => &[Facet::Firm, Facet::Status, Facet::Stage, Facet::Ghosted, Facet::Rating],
            Self::Sectors => &[Facet::Parent],
        }
    }
}

/// A property that rows are counted and filtered by. Its values are numbered: places in a vocabulary, or row numbers of
/// another table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Facet {
    /// Places in `Stage::ALL`.
    Stage,
    /// Rows of the sectors; a row counts for its sectors and all their ancestors.
    Sector,
    /// Places in `Country::all`.
    Country,
    /// Places in the list of folded city names.
    City,
    /// Places in `FirmKind::ALL`, of people in `OrganizationKind::ALL`.
    Kind,
    /// Places in `StartupStatus::ALL` or `ReviewStatus::ALL`.
    Status,
    /// Rows of the firms that invested.
    Investor,
    /// Rows of the startups.
    Startup,
    /// Rows of the firms.
    Firm,
    /// 0 no, 1 yes.
    Ghosted,
    /// The rating, 1–5.
    Rating,
    /// Rows of the sectors.
    Parent,
}

impl Facet {
    /// The facet's name in the archive.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Sector => "sector",
            Self::Country => "country",
            Self::City => "city",
            Self::Kind => "kind",
            Self::Status => "status",
            Self::Investor => "investor",
            Self::Startup => "startup",
            Self::Firm => "firm",
            Self::Ghosted => "ghosted",
            Self::Rating => "rating",
            Self::Parent => "parent",
        }
    }
}

/// What the leaderboard ranks firms by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Metric {
    /// The cautious peer score: S − se.
    HealthScore,
    /// Smoothed mean of responsiveness.
    Responsiveness,
    /// Smoothed mean of fairness.
    Fairness,
    /// Smoothed mean of value added.
    ValueAdd,
    /// Smoothed share of ghosted founders, least first.
    GhostingRate,
    /// Rounds joined in the 365 days before the release.
    Activity,
}

impl crate::data::vocabulary::Vocabulary for Metric {
    const ALL: &'static [Self] =
        &[Self::HealthScore, Self::Responsiveness, Self::Fairness, Self::ValueAdd, Self::GhostingRate, Self::Activity];
    const NOUN: &'static str = "metric";

    fn name(self) -> &'static str {
        match self {
            Self::HealthScore => "health_score",
            Self::Responsiveness => "responsiveness",
            Self::Fairness => "fairness",
            Self::ValueAdd => "value_add",
            Self::GhostingRate => "ghosting_rate",
            Self::Activity => "activity",
        }
    }

    fn index(self) -> usize {
        self as usize
    }

    fn synonym(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|metric| metric.name().replace('_', "-") == text)
    }
}
