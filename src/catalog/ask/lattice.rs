//! The lattice of a question. At each word, readers propose what begins there: each extends a copy of a path that
//! reaches the word. Of the paths with the same state only the cheapest goes on, and the cheapest one through all words
//! is the reading.
//!
//! Costs are in `costs.txt`. A phrase costs its reader, so that few long phrases are cheaper than many short ones; a
//! word that nothing covers costs far more. Thus no reader has to know the others, and a phrase that fits well in its
//! place, but leaves the next word without a meaning, loses to one that does not.

use once_cell::sync::Lazy;

use crate::ask::path::Path;
use crate::ask::question::Question;
use data::word_file;
use platform::pause;

/// Maximum number of paths that reach a word.
const MAX_PATHS: usize = 4;

/// Cost by which a path may exceed the cheapest one that reaches the same word; it never catches up with more.
const MAX_LEAD: u32 = 1_000;

/// Reads the phrase that begins at a word; returns its length in words. It may change the path even if it returns
/// nothing.
type Reader = fn(&mut Path<'_, '_>, usize) -> Option<usize>;

macro_rules! readers {
    ($($name:literal $method:ident,)*) => { &[$(($name, |path, at| path.$method(at)),)*] };
}

const READERS: &[(&str, Reader)] = readers! {
    "called" called,
    "known field" known_field,
    "co-investors" co_investors,
    "most active" most_active,
    "groups" groups,
    "acquirer" acquirer,
    "at organizations" at_organizations,
    "portfolio" portfolio,
    "relation" relation,
    "like" like,
    "long name" long_name,
    "superlative" superlative,
    "date" date,
    "bound" bound,
    "city of state" city_of_state,
    "kind of firms" record_kind_of_firms,
    "kind of records" record_kind,
    "field" field_name,
    "host" host,
    "state" state,
    "phrase" phrase,
    "verb" verb,
    "negation" negation,
    "glue" glue,
    "short name" short_name,
    "unread" unread_word,
};

/// Costs of paths apart from their readers: for a content word that is unread, a word that is known as no condition, a
/// value that the list does not take, and a sign without a value.
const OTHERS: [&str; 4] = ["content", "left", "refused", "sign"];

#[cfg(test)]
const HEADING: &str =
    "# Costs of readers and of what paths leave, see `lattice.rs`. The fit in `tests.rs` writes this file.";

/// The costs of [`READERS`], then those of [`OTHERS`].
#[derive(Clone)]
pub(super) struct Costs([u32; READERS.len() + OTHERS.len()]);

/// The costs of `costs.txt`.
pub(super) static COSTS: Lazy<Costs> = Lazy::new(|| Costs(word_file::numbers(include_str!("costs.txt"), name_of)));

fn name_of(index: usize) -> &'static str {
    READERS.get(index).map_or_else(|| OTHERS[index - READERS.len()], |(name, _)| name)
}

#[cfg(test)]
impl Costs {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn with_step(&self, index: usize, step: i32) -> Self {
        let mut costs = self.clone();
        costs.0[index] = costs.0[index].saturating_add_signed(step);
        costs
    }

    pub(super) fn to_file(&self) -> String {
        let lines = self.0.iter().enumerate().map(|(index, cost)| format!("{}: {cost}\n", name_of(index)));
        format!("{HEADING}\n{}", lines.collect::<String>())
    }
}

/// The cheapest path through all words.
pub(super) fn cheapest<'q, 'a>(question: &'q Question<'a>, costs: &Costs) -> Path<'q, 'a> {
    let count = question.tokens.len();
    let (of_readers, of_others) = costs.0.split_at(READERS.len());
    let mut reached: Vec<Vec<Path<'q, 'a>>> = (0..=count).map(|_| Vec::new()).collect();
    reached[0].push(Path::new(question));
    let mut next = Path::new(question);
    for at in 0..count {
        pause::point();
        let paths = std::mem::take(&mut reached[at]);
        let least = paths.iter().map(|path| path.cost).min().unwrap_or_default();
        for path in paths.iter().filter(|path| path.cost <= least + MAX_LEAD) {
            for ((_, read), cost) in READERS.iter().zip(of_readers) {
                next.clone_from(path);
                let Some(length) = read(&mut next, at) else { continue };
                let end = (at + length.max(1)).min(count);
                let has_lost_sign = next.end_clause(end);
                let counts = [
                    next.uncovered - path.uncovered,
                    next.left - path.left,
                    next.refused - path.refused,
                    u32::from(has_lost_sign),
                ];
                next.cost += cost + counts.iter().zip(of_others).map(|(count, cost)| count * cost).sum::<u32>();
                keep_cheapest(&mut reached[end], &next);
            }
        }
    }
    let paths = reached.pop().unwrap_or_default();
    paths.into_iter().min_by_key(|path| path.cost).unwrap_or(next)
}

/// Adds a path, unless one in the same state is as cheap.
fn keep_cheapest<'q, 'a>(paths: &mut Vec<Path<'q, 'a>>, path: &Path<'q, 'a>) {
    if let Some(known) = paths.iter_mut().find(|known| known.outlook() == path.outlook()) {
        if path.cost < known.cost {
            known.clone_from(path);
        }
        return;
    }
    if paths.len() < MAX_PATHS {
        paths.push(path.clone());
    } else if let Some(dearest) = paths.iter_mut().max_by_key(|known| known.cost).filter(|known| path.cost < known.cost)
    {
        dearest.clone_from(path);
    }
}
