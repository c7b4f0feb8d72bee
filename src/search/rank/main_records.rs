//! The order of matches that are probably one record.

use std::collections::HashMap;

use crate::Hit;

/// Moves each main record directly before the first of its near-duplicates that precedes it. It takes over that score,
/// so that scores stay descending: the duplicate's name is also a name of the main record. `main_of` returns the main
/// row of a near-duplicate; no main row has one itself.
pub(crate) fn put_main_records_first(hits: &mut Vec<Hit>, main_of: impl Fn(u32) -> Option<u32>) {
    // Position of the first near-duplicate of each main row.
    let mut places: HashMap<u32, usize> = HashMap::new();
    for (place, hit) in hits.iter().enumerate() {
        if let Some(main) = main_of(hit.row) {
            places.entry(main).or_insert(place);
        }
    }
    if places.is_empty() {
        return;
    }
    // A main record sorts by the position of its near-duplicate, before it.
    let place_of = |(place, hit): (usize, &Hit)| match places.get(&hit.row) {
        Some(first) if *first < place => ((*first, false), Hit { score: hits[*first].score, ..*hit }),
        _ => ((place, true), *hit),
    };
    let mut ordered: Vec<((usize, bool), Hit)> = hits.iter().enumerate().map(place_of).collect();
    ordered.sort_by_key(|(place, _)| *place);
    *hits = ordered.into_iter().map(|(_, hit)| hit).collect();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hits(rows: &[u32]) -> Vec<Hit> {
        let count = rows.len() as f32;
        rows.iter().enumerate().map(|(place, row)| Hit { row: *row, score: 1.0 - place as f32 / count }).collect()
    }

    #[test]
    fn the_main_record_takes_the_place_of_its_near_duplicate() {
        let main_of = |row: u32| [None, Some(4), None, Some(4), None][row as usize];
        let mut found = hits(&[0, 1, 2, 3, 4]);
        put_main_records_first(&mut found, main_of);
        assert_eq!(found.iter().map(|hit| hit.row).collect::<Vec<_>>(), [0, 4, 1, 2, 3]);
        assert_eq!(found[1].score, found[2].score);

        let mut found = hits(&[1, 2, 3]);
        put_main_records_first(&mut found, main_of);
        assert_eq!(found, hits(&[1, 2, 3]), "the main record does not match");
    }

    proptest! {
        /// Rows below `mains` are main rows; each other row has one of them, or none.
        #[test]
        fn near_duplicates_follow_their_main_records_and_all_others_keep_their_order(
            rows in Just((0_u32..30).collect::<Vec<_>>()).prop_shuffle(),
            count in 0_usize..30,
            mains in 1_u32..10,
            chosen in prop::collection::vec(prop::option::of(any::<prop::sample::Index>()), 30),
        ) {
            let before = hits(&rows[..count]);
            let main_of = |row: u32| {
                let index = chosen[row as usize].filter(|_| row >= mains)?;
                Some(index.index(mains as usize) as u32)
            };
            let mut after = before.clone();
            put_main_records_first(&mut after, main_of);

            let sorted = |hits: &[Hit]| {
                let mut rows: Vec<u32> = hits.iter().map(|hit| hit.row).collect();
                rows.sort_unstable();
                rows
            };
            prop_assert_eq!(sorted(&after), sorted(&before), "a permutation");
            prop_assert!(after.is_sorted_by(|left, right| left.score >= right.score));
            let place = |hits: &[Hit], row: u32| hits.iter().position(|hit| hit.row == row);
            let mut moved = Vec::new();
            for hit in &after {
                let Some(main) = main_of(hit.row) else { continue };
                if let Some(main_place) = place(&after, main) {
                    prop_assert!(main_place < place(&after, hit.row).unwrap());
                }
                if place(&before, main) > place(&before, hit.row) && !moved.contains(&main) {
                    moved.push(main);
                }
            }
            let others = |hits: &[Hit]| -> Vec<u32> {
                hits.iter().map(|hit| hit.row).filter(|row| !moved.contains(row)).collect()
            };
            prop_assert_eq!(others(&after), others(&before));
            for main in moved {
                let first = after.iter().position(|hit| main_of(hit.row) == Some(main)).unwrap();
                prop_assert_eq!(after[first - 1].row, main, "directly before its first near-duplicate");
            }
        }
    }
}
