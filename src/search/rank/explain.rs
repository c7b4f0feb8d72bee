//! Why a row answers a query: the parts of its score.

use serde::Serialize;

use crate::search::rank::{MatchStrategy, Tally};

/// The parts of a row's score for a query.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// The score, from 0 to 1 and a whisper more.
    pub score: f32,
    /// True where the score makes the row a match.
    pub matches: bool,
    /// The name or alias that did best.
    pub text: String,
    /// The way in which it did best.
    pub way: &'static str,
    /// Every way that was tried on it, the best first.
    pub parts: Vec<Part>,
    /// What prominence adds.
    pub prominence: f32,
}

/// One way in which a name was compared with a query.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Part {
    /// The way: `whole`, `joined`, `core`, `sorted`, `words`, `prefix`, `near_prefix`, `sound`, `acronym`, `raw`.
    pub way: &'static str,
    /// The score of a perfect answer in this way.
    pub ceiling: f32,
    /// How well the name does in this way, from 0 to 1.
    pub likeness: f32,
    /// Their product.
    pub points: f32,
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
