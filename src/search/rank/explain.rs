//! Why a row answers a query: the parts of its score.

use serde::Serialize;

use crate::data::field::model;
use crate::search::rank::{MatchStrategy, Tally};

model! {
    /// Why a record matches a search: the parts of its score.
    #[derive(Clone, Debug, Serialize)]
    pub struct Explanation {
        /// Match score, 0–1 (plus up to 0.02 for prominence).
        pub score: f32,
        /// Whether the score is high enough for a match.
        pub matches: bool,
        /// The name or alias that matched best.
        pub text: String,
        /// The strategy that matched best.
        pub way: &'static str,
        /// Every strategy that was tried on this name, the best first.
        pub parts: Vec<Part>,
        /// Points added for prominence.
        pub prominence: f32,
    }

    /// How well a name matches by one strategy.
    #[derive(Clone, Copy, Debug, Serialize)]
    pub struct Part as "ExplanationPart" {
        /// The strategy: `whole`, `joined`, `core`, `sorted`, `words`, `prefix`, `near_prefix`, `sound`, `acronym` or `raw`.
        pub way: &'static str,
        /// The score of a perfect match by this strategy.
        pub ceiling: f32,
        /// How similar the name is by this strategy, 0–1.
        pub likeness: f32,
        /// Their product.
        pub points: f32,
    }
}

/// Keeps all parts.
#[derive(Debug, Default)]
pub(crate) struct Parts(pub Vec<Part>);

impl Tally for Parts {
    fn note(&mut self, way: MatchStrategy, likeness: f32) {
        self.0.push(Part { way: way.name(), ceiling: way.ceiling(), likeness, points: way.ceiling() * likeness });
        self.0.sort_by(|left, right| right.points.total_cmp(&left.points));
    }

    fn best(&self) -> f32 {
        0.0
    }
}
