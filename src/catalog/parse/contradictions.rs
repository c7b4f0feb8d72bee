//! Detects conditions that no record can meet together.

use crate::param_error::{Issue, ParameterError};
use crate::params::{BoundUnit, Mode, ParamType, Parameter};
use crate::parse::ParamParser;
use crate::parse::scalars::Bound;
use crate::{Filter, Property};
use data::{Country, Facet};

impl ParamParser<'_> {
    pub(super) fn contradictions(&self) -> Vec<Issue> {
        let details = self.crossed_bounds().into_iter().chain(self.excluded_values()).chain(self.unknown_values());
        details.map(|(name, detail)| Issue::Invalid(ParameterError::invalid(name, detail))).collect()
    }

    fn crossed_bounds(&self) -> Vec<(&'static str, String)> {
        let given = self.canonical.iter();
        let given: Vec<(&Parameter, &str)> =
            given.filter_map(|(name, value)| Some((self.resource.parameter(name)?, value.as_str()))).collect();
        let crossed = given.iter().filter_map(|(min, low)| {
            let ParamType::Range { key, bound: Bound::Min, unit } = min.kind else { return None };
            let is_maximum = |parameter: &Parameter| {
                let is_max =
                    matches!(parameter.kind, ParamType::Range { key: other, bound: Bound::Max, .. } if other == key);
                is_max && parameter.mode == min.mode
            };
            let (max, high) = given.iter().find(|(parameter, _)| is_maximum(parameter))?;
            let (least, most) = self.bounds_of(min, key);
            let (min, max) = (min.name, max.name);
            let is = if unit == BoundUnit::Date { "after" } else { "above" };
            let detail = format!(
                "`{min}` {low} is {is} `{max}` {high}, so that nothing matches; swap them: `{min}={high}&{max}={low}`"
            );
            (least > most).then_some((min, detail))
        });
        crossed.collect()
    }

    /// The least and greatest value of a parameter's sort key that all filters admit.
    pub(super) fn bounds_of(&self, parameter: &Parameter, key: &str) -> (i64, i64) {
        let index = parameter.table(self.resource).sort_key(key);
        let filters = self.filters.iter().flat_map(|filter| match filter {
            Filter::HasRound(filters) if parameter.mode == Mode::Round => filters.as_slice(),
            filter if parameter.mode != Mode::Round => std::slice::from_ref(filter),
            _ => &[],
        });
        let ranges = filters.filter_map(|filter| match filter {
            Filter::Range { key, min, max } if *key == index => Some((*min, *max)),
            _ => None,
        });
        ranges.fold((i64::MIN, i64::MAX), |(least, most), (min, max)| (least.max(min), most.min(max)))
    }

    fn excluded_values(&self) -> Vec<(&'static str, String)> {
        let details = self.filters.iter().filter_map(|filter| {
            let Filter::Not(excluded) = filter else { return None };
            let Filter::AnyOf(facet, excluded) = &**excluded else { return None };
            let is_excluded = |filter: &Filter| match filter {
                Filter::AnyOf(other, values) if other == facet && !values.is_empty() => {
                    values.iter().all(|value| excluded.contains(value))
                }
                _ => false,
            };
            let mut parameters = self.resource.parameters().iter();
            let parameter = parameters.find(|known| known.mode == Mode::Not && known.facet() == Some(*facet))?;
            let (name, included) = (parameter.name, parameter.included());
            let given = self.canonical.iter().find(|(known, _)| *known == included);
            let kept = given.map_or_else(String::new, |(_, value)| format!(", and keep `{included}={value}`"));
            let text = format!("`{name}` excludes what `{included}` requires, so that nothing matches; omit it{kept}");
            self.filters.iter().any(is_excluded).then_some((name, text))
        });
        details.collect()
    }

    pub(super) fn required_country(&self) -> Option<Country> {
        self.filters.iter().find_map(|filter| match filter {
            Filter::AnyOf(Facet::Country, values) if values.len() == 1 => Country::at(values[0] as usize),
            _ => None,
        })
    }

    fn unknown_values(&self) -> Vec<(&'static str, String)> {
        let table = self.resource.table();
        let unknown = self.filters.iter().filter_map(|filter| match filter {
            Filter::Unknown(property) => Some(*property),
            _ => None,
        });
        let is_required = |property: &Property| self.filters.iter().any(|filter| required(filter) == Some(*property));
        let name_of = |property: Property| Property::all(table).find(|(_, known)| *known == property);
        let details = unknown.filter(is_required).filter_map(name_of).map(|(name, _)| {
            let detail = format!(
                "`unknown={name}` contradicts the other condition on `{name}`, so that nothing matches; omit one of them"
            );
            ("unknown", detail)
        });
        details.collect()
    }
}

fn required(filter: &Filter) -> Option<Property> {
    match filter {
        Filter::Not(excluded) => required(excluded),
        Filter::Known(property) => Some(*property),
        Filter::AnyOf(facet, _) => Some(Property::Facet(*facet)),
        Filter::Range { key, .. } => Some(Property::Key(*key)),
        _ => None,
    }
}
