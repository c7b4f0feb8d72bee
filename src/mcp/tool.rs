//! The six tools: what they are called, when to use them, what they take.

use once_cell::sync::Lazy;
use rmcp::model::{JsonObject, Tool as Listed, ToolAnnotations};
use serde_json::{Value, json};

use crate::data::vocabulary::Vocabulary;
use crate::data::{OrganizationKind, Stage, StartupStatus};
use crate::mcp::Argument;
use crate::mcp::args::ArgType;
use crate::mcp::output_schema;

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tool {
    /// Searches firms.
    SearchVcs,
    /// One firm with all that is known of it.
    GetVcProfile,
    /// Searches startups.
    SearchStartups,
    /// Recent funding rounds.
    GetFundingRounds,
    /// Totals of the whole snapshot.
    GetPlatformStats,
    /// Searches people.
    SearchPeople,
}

/// How many items a tool gives where its caller does not say, and at most.
const LIMIT: Argument = Argument {
    name: "limit",
    parameter: "limit",
    kind: ArgType::Count { default: 10, least: 1, most: 50 },
    description: "At most 50.",
};

const fn argument(name: &'static str, parameter: &'static str, kind: ArgType, description: &'static str) -> Argument {
    Argument { name, parameter, kind, description }
}

const SECTOR: &str = "Slug or name, e.g. fintech; subsectors count.";
const COUNTRY: &str = "ISO code or English name, e.g. DE.";

const SEARCH_VCS: &[Argument] = &[
    argument("query", "q", ArgType::Text, "Firm name; typos and aliases (a16z) are understood."),
    argument("stage", "stage", ArgType::Words(&STAGES), "Stage invested at; a list means any of them."),
    argument("sector", "sector", ArgType::Texts, SECTOR),
    argument("country", "country", ArgType::Texts, COUNTRY),
    argument("min_health_score", "min_health_score", ArgType::Number { least: 0, most: 100 }, "Least peer score."),
    argument("check_usd", "check_usd", ArgType::Number { least: 1, most: i64::MAX }, "Cheque wanted, US dollars."),
    argument(
        "sort",
        "sort",
        ArgType::Text,
        "E.g. -health_score,name; also ghosting_rate, portfolio_count, investment_count, last_investment_on.",
    ),
    LIMIT,
];

const GET_VC_PROFILE: &[Argument] = &[
    argument("slug", "slug", ArgType::Text, "Slug, as search_vcs gives it."),
    argument("name", "name", ArgType::Text, "Firm name, if the slug is not known."),
    argument("reviews_limit", "reviews_limit", ArgType::Count { default: 5, least: 0, most: 50 }, "Newest first."),
    argument(
        "portfolio_limit",
        "portfolio_limit",
        ArgType::Count { default: 10, least: 0, most: 50 },
        "Latest investment first.",
    ),
];

const SEARCH_STARTUPS: &[Argument] = &[
    argument("query", "q", ArgType::Text, "Startup name; typos are understood."),
    argument("sector", "sector", ArgType::Texts, SECTOR),
    argument("stage", "stage", ArgType::Words(&STAGES), "Stage; a list means any of them."),
    argument("country", "country", ArgType::Texts, COUNTRY),
    argument("status", "status", ArgType::Word(&STATUSES), "What became of it."),
    argument("investor", "investor", ArgType::Text, "Slug of a firm that invested."),
    LIMIT,
];

const GET_FUNDING_ROUNDS: &[Argument] = &[
    argument("sector", "sector", ArgType::Texts, SECTOR),
    argument("stage", "stage", ArgType::Words(&STAGES), "Stage; a list means any of them."),
    argument("country", "country", ArgType::Texts, COUNTRY),
    argument("startup", "startup", ArgType::Text, "Slug of the startup."),
    argument("investor", "investor", ArgType::Text, "Slug of a firm that took part."),
    argument("since", "since", ArgType::Day, "First date, YYYY-MM-DD."),
    argument("until", "until", ArgType::Day, "Last date, YYYY-MM-DD."),
    LIMIT,
];

const SEARCH_PEOPLE: &[Argument] = &[
    argument("query", "q", ArgType::Text, "Person's name; typos are understood."),
    argument("organization", "organization", ArgType::Text, "Slug of the firm or startup."),
    argument("kind", "kind", ArgType::Word(&ORGANIZATIONS), "People of firms or of startups."),
    argument("country", "country", ArgType::Texts, COUNTRY),
    LIMIT,
];

const STAGES: [&str; Stage::ALL.len()] = [
    "pre-seed",
    "seed",
    "series-a",
    "series-b",
    "series-c",
    "series-d-plus",
    "growth",
    "debt",
    "grant",
    "ipo",
    "other",
];
const STATUSES: [&str; StartupStatus::ALL.len()] = ["operating", "acquired", "ipo", "closed"];
const ORGANIZATIONS: [&str; OrganizationKind::ALL.len()] = ["firm", "startup"];

impl Tool {
    /// All tools, in the order they are listed.
    pub const ALL: [Self; 6] = [
        Self::SearchVcs,
        Self::GetVcProfile,
        Self::SearchStartups,
        Self::GetFundingRounds,
        Self::GetPlatformStats,
        Self::SearchPeople,
    ];

    /// The tool called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    /// The tool's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SearchVcs => "search_vcs",
            Self::GetVcProfile => "get_vc_profile",
            Self::SearchStartups => "search_startups",
            Self::GetFundingRounds => "get_funding_rounds",
            Self::GetPlatformStats => "get_platform_stats",
            Self::SearchPeople => "search_people",
        }
    }

    /// The tool's title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::SearchVcs => "Search venture capital firms",
            Self::GetVcProfile => "Venture capital firm profile",
            Self::SearchStartups => "Search startups",
            Self::GetFundingRounds => "Funding rounds",
            Self::GetPlatformStats => "Platform statistics",
            Self::SearchPeople => "Search people",
        }
    }

    /// When to use the tool, what it returns, what to call next, and an example.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::SearchVcs => {
                "Find investors by name, stage, sector, country, cheque or peer score. Returns summaries, best first; \
                 health_score (0-100, founders' peer score) and ghosting_rate (% of reviewers never answered) are null \
                 with fewer than 3 reviews. Then call get_vc_profile with a slug. \
                 Example: {\"stage\":\"seed\",\"sector\":\"fintech\",\"country\":\"DE\",\"sort\":\"ghosting_rate\"}"
            }
            Self::GetVcProfile => {
                "All about one firm before a meeting: peer score with its parts, ghosting, stages and cheque, \
                 co-investors, approved founder reviews, recent portfolio. A name that is not clear gives candidates \
                 instead: call again with a slug. Example: {\"name\":\"Sequoia Capital\"}"
            }
            Self::SearchStartups => {
                "Find startups by name, sector, stage, country, status or investor. Returns summaries with money \
                 raised and investors. Their rounds: get_funding_rounds with startup. \
                 Example: {\"sector\":\"health\",\"country\":[\"FR\",\"DE\"],\"stage\":\"series-a\"}"
            }
            Self::GetFundingRounds => {
                "Funding rounds, newest first, by sector, stage, country, startup, investor and dates, with sum_usd \
                 over all matches of known amount. Example: {\"sector\":\"climate\",\"since\":\"2026-01-01\"}"
            }
            Self::GetPlatformStats => {
                "Totals of firms, startups, reviews, rounds, people, and the snapshot's \
                 version. Takes no arguments. Example: {}"
            }
            Self::SearchPeople => {
                "Find people at firms and startups by name, organization or country. Returns title and organization, \
                 never contact data. Example: {\"organization\":\"sequoia-capital\",\"kind\":\"firm\"}"
            }
        }
    }

    /// The arguments it takes.
    #[must_use]
    pub fn arguments(self) -> &'static [Argument] {
        match self {
            Self::SearchVcs => SEARCH_VCS,
            Self::GetVcProfile => GET_VC_PROFILE,
            Self::SearchStartups => SEARCH_STARTUPS,
            Self::GetFundingRounds => GET_FUNDING_ROUNDS,
            Self::GetPlatformStats => &[],
            Self::SearchPeople => SEARCH_PEOPLE,
        }
    }

    /// The JSON Schema of its arguments: flat, without `$ref`.
    #[must_use]
    pub fn input_schema(self) -> Value {
        let properties: JsonObject =
            self.arguments().iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    /// The JSON Schema of its results.
    #[must_use]
    pub fn output_schema(self) -> Value {
        output_schema::of(self)
    }

    fn listed(self) -> Listed {
        let object = |schema| match schema {
            Value::Object(schema) => schema,
            _ => JsonObject::new(),
        };
        Listed::new(self.name(), self.description(), object(self.input_schema()))
            .with_title(self.title())
            .with_raw_output_schema(object(self.output_schema()).into())
            .with_annotations(ToolAnnotations::new().read_only(true))
    }
}

/// The tools as they are listed; made once.
pub(crate) static LISTED: Lazy<Vec<Listed>> = Lazy::new(|| Tool::ALL.map(Tool::listed).to_vec());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_the_schemas_are_those_of_the_vocabularies() {
        assert_eq!(STAGES.to_vec(), Stage::names());
        assert_eq!(STATUSES.to_vec(), StartupStatus::names());
        assert_eq!(ORGANIZATIONS.to_vec(), OrganizationKind::names());
    }

    #[test]
    fn tools_are_listed_in_under_ten_kilobytes() {
        let listed = serde_json::to_string(&*LISTED).unwrap();
        assert!(listed.len() < 9_760, "{}", listed.len());
        for tool in Tool::ALL {
            assert_eq!(Tool::named(tool.name()), Some(tool));
            let example = tool.description().split_once("Example: ").unwrap().1;
            let example: Value = serde_json::from_str(example).unwrap();
            let call = crate::mcp::ToolCall::read(tool, example.as_object().unwrap());
            assert!(call.is_ok(), "{call:?}");
        }
        assert!(!listed.contains("$ref") && !listed.contains("uint") && !listed.contains("int64"));
    }
}
