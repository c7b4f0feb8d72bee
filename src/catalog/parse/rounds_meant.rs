//! Notes on conditions of startups that read as if they were of one round: `investor` is a firm of any round, `stage` the
//! one that the startup has reached, `min_raised_usd` bounds the sum of all rounds.

use data::number::counted;
use data::{Facet, Table};

use crate::param_error::ParameterError;
use crate::params::{Mode, Parameter};
use crate::parse::ParamParser;
use crate::{Catalog, Filter, Resource, RowFilter};

/// Startups with a round of a stage that they have left are worth a note if one for so many of those listed has.
const WORTH_A_NOTE: u64 = 10;

impl ParamParser<'_> {
    pub(super) fn note_rounds_meant(&mut self) {
        if self.resource != Resource::Startups {
            return;
        }
        let notes = [self.investor_of_any_round(), self.stage_of_earlier_rounds(), self.sum_of_all_rounds()];
        let note = |(name, detail): (&str, String)| ParameterError::warning("value_interpreted", name, detail);
        self.notes.extend(notes.into_iter().flatten().map(note));
    }

    fn condition(&self, name: &str) -> Option<&'static Parameter> {
        self.conditions.iter().map(|(parameter, _)| *parameter).find(|parameter| parameter.name == name)
    }

    /// The first condition on one round of the startup.
    fn condition_on_round(&self) -> Option<&'static Parameter> {
        self.conditions.iter().map(|(parameter, _)| *parameter).find(|parameter| parameter.mode == Mode::Round)
    }

    /// The filters of startups and those of one of their rounds, without the conditions of these names.
    fn filters_without(&self, names: &[&str]) -> (Vec<Filter>, Vec<Filter>) {
        let kept = self.conditions.iter().filter(|(parameter, _)| !names.contains(&parameter.name));
        let (mut own, mut of_round) = (Vec::new(), Vec::new());
        for filter in kept.flat_map(|(_, range)| &self.filters[range.clone()]) {
            match filter {
                Filter::HasRound(filters) => of_round.extend(filters.iter().cloned()),
                filter => own.push(filter.clone()),
            }
        }
        (own, of_round)
    }

    /// A firm that invested in a startup did not necessarily do so in the round of another condition.
    fn investor_of_any_round(&self) -> Option<(&'static str, String)> {
        const LAST_ROUND: [&str; 2] = ["last_round_since", "last_round_until"];
        let investor = self.condition("investor")?;
        if self.condition("raised_from").is_some() {
            return None;
        }
        let last = LAST_ROUND.iter().find_map(|name| self.condition(name));
        let dated = self.condition_on_round().or(last)?;
        let (own, of_round) = self.filters_without(&[]);
        let any = self.catalog.startups_with(&own, &of_round);
        let (own, mut of_round) = self.filters_without(&["investor", LAST_ROUND[0], LAST_ROUND[1]]);
        let announced = Table::Rounds.sort_key("announced_on");
        let named = |names: &[&str]| {
            let conditions = self.conditions.iter().filter(|(parameter, _)| names.contains(&parameter.name));
            conditions.flat_map(|(_, range)| self.filters[range.clone()].iter().cloned()).collect::<Vec<_>>()
        };
        of_round.extend(named(&["investor"]));
        of_round.extend(named(&LAST_ROUND).into_iter().filter_map(|filter| match filter {
            Filter::Range { min, max, .. } => Some(Filter::Range { key: announced, min, max }),
            _ => None,
        }));
        let joined = self.catalog.startups_with(&own, &of_round);
        if joined == any {
            return None;
        }
        let (startups, verb) = (counted(joined, "startup", "startups"), if joined == 1 { "has" } else { "have" });
        let asked = match dated.mode {
            Mode::Round => format!("`raised_from` in place of `investor`, next to `{}`", dated.name),
            _ => format!("`raised_from` with `{}`", dated.name.replace("last_round", "raised")),
        };
        let detail = format!(
            "`investor` is a firm of any round, of any date and stage; {asked}, asks for one round that it joined then: \
             {startups} {verb} one"
        );
        Some((investor.name, detail))
    }

    /// A startup that has reached a stage had a round of an earlier one.
    fn stage_of_earlier_rounds(&self) -> Option<(&'static str, String)> {
        let stage = self.condition("stage")?;
        if self.condition("raised_stage").is_some() {
            return None;
        }
        let (own, of_round) = self.filters_without(&[]);
        // A round of another condition would have to be that of the stage.
        if !of_round.is_empty() {
            return None;
        }
        let total = self.catalog.startups_with(&own, &of_round);
        let filter = own.iter().find(|filter| matches!(filter, Filter::AnyOf(Facet::Stage, _)))?.clone();
        let (mut others, mut of_stage) = self.filters_without(&["stage"]);
        of_stage.push(filter.clone());
        let raised = self.catalog.startups_with(&others, &of_stage);
        others.push(filter);
        let more = raised - self.catalog.startups_with(&others, &of_stage);
        if more == 0 || more * WORTH_A_NOTE < total {
            return None;
        }
        let value = self.canonical.iter().find(|(name, _)| *name == stage.name).map(|(_, value)| value.as_str())?;
        let startups = counted(more, "startup", "startups");
        let detail = format!(
            "`stage` is the stage that a startup has reached; {startups} more raised a round of it and have another stage now: \
             `raised_stage={value}` finds all that raised one"
        );
        Some((stage.name, detail))
    }

    fn sum_of_all_rounds(&self) -> Option<(&'static str, String)> {
        let bound = ["min_raised_usd", "max_raised_usd"].iter().find_map(|name| self.condition(name))?;
        let round = self.condition_on_round()?;
        let detail = format!(
            "`{}` bounds the sum of all rounds of a startup, of any date and stage, not of those of `{}`; the rounds of then, \
             grouped by `startup`, have their own sums",
            bound.name, round.name
        );
        Some((bound.name, detail))
    }
}

impl Catalog {
    /// Number of startups that meet filters and have one round that meets others, if there are any.
    fn startups_with(&self, filters: &[Filter], of_round: &[Filter]) -> u64 {
        let of_round = (!of_round.is_empty()).then(|| Filter::HasRound(of_round.to_vec()));
        let filters: Vec<Filter> = filters.iter().cloned().chain(of_round).collect();
        self.count(Table::Startups, &filters, &RowFilter::new(self, Table::Startups, &filters))
    }
}
