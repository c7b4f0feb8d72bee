//! The charts of a startup's profile.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::charts::{ChartHead, ChartItem, DatedAmount, Matrix, MatrixColumn, MatrixRow, StepChart};
use crate::format;
use catalog::Catalog;
use data::model::FundingRound;
use data::vocabulary::Vocabulary;
use data::{Facet, Table};

/// Maximum numbers of rounds and investors in the matrix.
const MAX_COLUMNS: usize = 12;
const MAX_ROWS: usize = 30;

/// The cumulative amount raised, round by round.
pub(crate) fn funding(rounds: &[FundingRound]) -> Option<StepChart> {
    let step = |round: &FundingRound| DatedAmount {
        label: format::word(&round.stage),
        date: round.announced_on,
        amount: round.amount_usd,
        left_out: round.suspect.then(|| "suspect".to_owned()),
        href: Some(format!("#round-{}", round.id)),
    };
    let dated: Vec<&FundingRound> = rounds.iter().filter(|round| round.announced_on.is_some()).collect();
    let raised: u64 = dated.iter().filter(|round| !round.suspect).filter_map(|round| round.amount_usd).sum();
    let unknown = dated.iter().filter(|round| round.amount_usd.is_none()).count();
    let hollow = unknown + dated.iter().filter(|round| round.suspect).count();
    let mut summary = format!("{} in {}.", format::usd(&raised), format::counted(dated.len(), "round", "rounds"));
    if hollow > 0 {
        summary += &format!(" Of {hollow}, the amount is unknown or suspect: a hollow dot.");
    }
    if dated.len() < rounds.len() {
        let undated = format::counted(rounds.len() - dated.len(), "round", "rounds");
        summary += &format!(" Not drawn, because no date is known: {undated}.");
    }
    // The page has the newest first.
    let steps = rounds.iter().rev().map(step).collect();
    StepChart::new(ChartHead::new("funding", "Raised in total", summary), ["Round", "Date", "Amount", "Total"], steps)
}

/// A matrix of investors and rounds. `None` if fewer than two rounds have known investors: the table of rounds
/// suffices.
pub(crate) fn investors(catalog: &Catalog, startup: u32) -> Option<Matrix> {
    let snapshot = catalog.snapshot();
    let slug = snapshot.slug(Table::Startups, startup);
    // The oldest first. Rounds without a date have no position in time.
    let mut rounds: Vec<u32> = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup).iter().collect();
    rounds.reverse();
    let all = rounds.len();
    // A column without any known investor is no use.
    rounds.retain(|round| snapshot.round_investors(*round).next().is_some());
    let known = rounds.len();
    if known < 2 {
        return None;
    }
    let left_out = known.saturating_sub(MAX_COLUMNS);
    let shown = &rounds[left_out..];
    // The rounds that each investor joined; true if it led.
    let mut joined: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for round in &rounds {
        snapshot.round_investors(*round).for_each(|(firm, led)| joined.entry(firm).or_default().push((*round, led)));
    }
    let (investors, several) = (joined.len(), joined.values().filter(|rounds| rounds.len() > 1).count());
    let mut firms: Vec<(u32, Vec<(u32, bool)>)> = joined.into_iter().collect();
    // Keep those with the most rounds, then the most leads; show them in the order of their first round.
    firms.sort_by_key(|(_, rounds)| Reverse((rounds.len(), rounds.iter().filter(|(_, led)| *led).count())));
    firms.retain(|(_, rounds)| rounds.iter().any(|(round, _)| shown.contains(round)));
    firms.truncate(MAX_ROWS);
    let first = |rounds: &[(u32, bool)]| shown.iter().position(|round| rounds.iter().any(|(own, _)| own == round));
    firms.sort_by_key(|(_, rounds)| first(rounds));

    let column = |round: &u32| MatrixColumn {
        label: format::word(snapshot.round_stage(*round).name()),
        detail: snapshot.round_date(*round).map_or_else(|| "no date".to_owned(), format::month),
        href: format!("#round-{}", snapshot.slug(Table::Rounds, *round)),
    };
    let row = |(firm, joined): &(u32, Vec<(u32, bool)>)| {
        let part = |round: &u32| match joined.iter().find(|(own, _)| own == round) {
            Some((_, true)) => "led",
            Some((_, false)) => "joined",
            None => "",
        };
        let of = snapshot.slug(Table::Firms, *firm);
        let list = format!("/rounds?startup={slug}&investor={of}");
        MatrixRow {
            label: snapshot.name(Table::Firms, *firm).to_owned(),
            href: format!("/vcs/{of}"),
            parts: shown.iter().map(part).collect(),
            total: ChartItem::linked("Rounds", Some(joined.len() as u64), list),
        }
    };
    let mut summary = format!(
        "{} in {}; {} joined more than one.",
        format::counted(investors, "investor", "investors"),
        format::counted(known, "round", "rounds"),
        format::number(several),
    );
    if known < all {
        let unknown = format::counted(all - known, "more round", "more rounds");
        summary += &format!(" The investors of {unknown} are not known.");
    }
    let lead = |round: &&u32| snapshot.round_investors(**round).any(|(_, led)| led);
    let without_lead = rounds.iter().filter(|round| !lead(round)).count();
    if without_lead > 0 {
        summary += &format!(" The lead of {} is not known.", format::counted(without_lead, "round", "rounds"));
    }
    let mut rest = Vec::new();
    if left_out > 0 {
        let text = format::counted(left_out, "earlier round", "earlier rounds");
        rest.push((text, format!("/rounds?startup={slug}")));
    }
    if firms.len() < investors {
        rest.push((format::counted(investors - firms.len(), "investor", "investors"), "#rounds".to_owned()));
    }
    let head = ChartHead::new("matrix", "Who joined which round", summary);
    let (columns, rows) = (shown.iter().map(column).collect(), firms.iter().map(row).collect());
    Matrix::new(head, ["Investor", "Rounds"], columns, rows, rest)
}
