//! stand-in
#![allow(missing_docs)]
mod nearest;
use crate::dataset::Names;
pub use nearest::nearest;
pub struct TextIndex;
#[derive(Debug)]
pub struct SearchError;
#[derive(Default)]
pub struct Found {
    pub hits: Vec<Hit>,
    pub did_you_mean: Vec<u32>,
}
pub struct Hit {
    pub row: u32,
    pub score: f32,
}
impl TextIndex {
    pub fn in_memory(_: &dyn Names) -> Result<Self, SearchError> {
        Ok(Self)
    }
    pub fn search(&self, names: &dyn Names, q: &str, passes: &dyn Fn(u32) -> bool) -> Found {
        let q = crate::dataset::fold::fold(q);
        Found {
            hits: (0..names.len())
                .filter(|r| passes(*r) && crate::dataset::fold::fold(names.name(*r)).starts_with(&q))
                .map(|row| Hit { row, score: 1.0 })
                .collect(),
            did_you_mean: vec![],
        }
    }
}
