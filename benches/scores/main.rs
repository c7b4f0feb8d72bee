//! The peer score in worlds whose truth is known: how often intervals have the true score, by quality and number of reviews, and what
//! arranged reviews do to ranks.
//!
//! `cargo bench --bench scores -- [--worlds 8] [--firms 3000]`
//!
//! The table of coverage is that of `/docs/score`; the exit code is 1 if a cell is outside 85 to 95 %, or if an attack moves a rank by
//! more than three places of 61 and its reviews are not held.

#[path = "../../tests/it/support/review_world.rs"]
mod review_world;

use std::process::ExitCode;

use review_world::{Attack, COUNTS, Chance, Coverage, Firms, QUALITIES, Reviewers, World, count_covered, held, place};

/// Cells with fewer intervals say nothing.
const MIN_INTERVALS: u32 = 300;
const MAX_MOVE: usize = 3;

fn option(name: &str, default: usize) -> usize {
    let mut arguments = std::env::args().skip_while(|argument| argument != name).skip(1);
    arguments.next().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} takes a number")))
}

fn main() -> ExitCode {
    let (worlds, firms) = (option("--worlds", 8), option("--firms", 3_000));
    let mut chance = Chance(58);
    let is_covered = coverage(&mut chance, worlds, firms);
    let is_robust = attacks(&mut chance, worlds * 10);
    if is_covered && is_robust { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn coverage(chance: &mut Chance, worlds: usize, firms: usize) -> bool {
    println!("share of intervals with the true score, in percent (number of intervals)");
    let mut is_good = true;
    for kind in [Firms::MostlyAlike, Firms::OfAllKinds] {
        for reviewers in Reviewers::ALL {
            let mut coverage = Coverage::default();
            for _ in 0..worlds {
                count_covered(&mut coverage, &World::new(chance, firms, kind, reviewers, 3..110));
            }
            println!("\nfirms {kind:?}, reviewers {reviewers:?}");
            println!("{:>12} {}", "", COUNTS.clone().map(|(name, _)| format!("{name:>15}")).concat());
            for ((name, _), row) in QUALITIES.iter().zip(coverage) {
                let cell = |(covered, all): (u32, u32)| {
                    let share = 100.0 * f64::from(covered) / f64::from(all.max(1));
                    is_good &= all < MIN_INTERVALS || (85.0..=95.0).contains(&share);
                    format!("{share:>7.1} ({all:>5})")
                };
                println!("{name:>12} {}", row.map(cell).concat());
            }
        }
    }
    is_good
}

fn attacks(chance: &mut Chance, worlds: usize) -> bool {
    println!("\nattacks on 3 firms in each of {worlds} worlds of 61 firms with 12 to 40 reviews");
    println!("{:>16} {:>8} {:>12} {:>16}", "attack", "held", "moves if not", "above 3 places");
    let mut is_good = true;
    for attack in Attack::ALL {
        let (mut all, mut count_held, mut largest, mut failed) = (0, 0, 0, 0);
        for _ in 0..worlds {
            let world = World::new(chance, 61, Firms::MostlyAlike, Reviewers::Trials, 12..41);
            let before = world.scores();
            for _ in 0..3 {
                let firm = chance.below(61);
                let Some(from) = place(&before, firm) else { continue };
                let mut attacked = world.clone();
                attacked.add(chance, firm, attack);
                let after = attacked.scores();
                all += 1;
                if attacked.holds_added() {
                    count_held += 1;
                    continue;
                }
                let moved = place(&after, firm).map_or(usize::MAX, |to| to.abs_diff(from));
                largest = largest.max(moved);
                failed += usize::from(moved > MAX_MOVE);
            }
        }
        println!("{:>16} {count_held:>4}/{all:<3} {largest:>12} {failed:>16}", format!("{attack:?}"));
        is_good &= failed == 0;
    }
    let (mut all, mut kept, mut moved) = (0, 0, 0);
    for _ in 0..worlds {
        let mut world = World::new(chance, 61, Firms::MostlyAlike, Reviewers::Trials, 12..41);
        let firm = chance.below(61);
        world.add_honest_burst(chance, firm, 20);
        let is_held = world.holds_added();
        world.clear_all();
        let cleared = world.scores();
        all += 1;
        kept += usize::from(is_held);
        moved += usize::from(held(&cleared[firm]) == 0);
    }
    println!("honest bursts of 20: {kept} of {all} held, {moved} released when they are cleared");
    is_good && moved == all
}
