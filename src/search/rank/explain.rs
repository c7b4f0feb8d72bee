use serde::Serialize;

use crate::MATCH_SCORE;
use crate::rank::{MatchClass, MatchStrategy, ScoreSink};
use data::field::model;
use data::vocabulary::Vocabulary;

model! {
    /// Why a record matches a search: the parts of its score.
    #[derive(Clone, Debug, Serialize)]
    pub struct Explanation {
        /// Match score, 0–1 (plus up to 0.06 for prominence).
        pub score: f32,
        /// Whether the score is high enough for a match.
        pub matches: bool,
        /// How it matches.
        #[serde(rename = "match")]
        pub match_class: &'static str [named("match"), one_of("MatchClass")],
        /// The name or alias that matched best.
        pub text: String,
        /// The strategy that matched best.
        #[serde(rename = "way")]
        pub strategy: &'static str [named("way")],
        /// Every strategy that was tried on this name, the best first.
        pub parts: Vec<ScorePart>,
        /// Points added for prominence.
        #[serde(rename = "prominence")]
        pub prominence_bonus: f32 [named("prominence")],
    }

    /// How well a name matches by one strategy.
    #[derive(Clone, Copy, Debug, Serialize)]
    pub struct ScorePart as "ExplanationPart" {
        /// The strategy: `website` (the host of an address), `organization` (title and organization of a person), `whole`, `joined`, `core`, `sorted`, `words`, `characters`, `prefix`,
        /// `near_prefix`, `sound`, `acronym`, `raw` or `relaxed` (words left out).
        #[serde(rename = "way")]
        pub strategy: &'static str [named("way")],
        /// The score of a perfect match by this strategy.
        pub ceiling: f32,
        /// How similar the name is by this strategy, 0–1.
        #[serde(rename = "likeness")]
        pub similarity: f32 [named("likeness")],
        /// Their product.
        pub points: f32,
    }
}

impl Explanation {
    /// Explains the score of a text by its parts, the best first.
    pub fn new(parts: Vec<ScorePart>, text: String, match_class: MatchClass, prominence_bonus: f32) -> Self {
        let (strategy, points) = parts.first().map_or(("nothing", 0.0), |part| (part.strategy, part.points));
        let score = points + prominence_bonus;
        let matches = points > 0.0 && score >= MATCH_SCORE;
        Self { score, matches, match_class: match_class.name(), text, strategy, parts, prominence_bonus }
    }
}

/// The score by each strategy, best first.
#[derive(Debug, Default)]
pub(crate) struct AllScores(pub Vec<ScorePart>);

impl AllScores {
    pub(crate) fn keep_share(&mut self, share: f32) {
        for part in &mut self.0 {
            part.similarity *= share;
            part.points *= share;
        }
    }

    pub(crate) fn points(&self) -> f32 {
        self.0.first().map_or(0.0, |part| part.points)
    }
}

impl ScoreSink for AllScores {
    fn add(&mut self, strategy: MatchStrategy, similarity: f32) {
        let MatchStrategy { name: strategy, ceiling } = strategy;
        self.0.push(ScorePart { strategy, ceiling, similarity, points: ceiling * similarity });
        self.0.sort_by(|left, right| right.points.total_cmp(&left.points));
    }

    fn best(&self) -> f32 {
        0.0
    }
}
