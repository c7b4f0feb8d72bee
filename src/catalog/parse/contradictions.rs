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

    /// A minimum above the maximum of the same field.
    fn crossed_bounds(&self) -> Vec<(&'static str, String)> {
        let given: Vec<(&Parameter, &str)> = self
            .canonical
            .iter()
            .filter_map(|(name, value)| Some((self.resource.parameter(name)?, value.as_str())))
            .collect();
        let mut details = Vec::new();
        for (min, low) in &given {
            let ParamType::Range { key, bound: Bound::Min, unit } = min.kind else { continue };
            let is_maximum = |parameter: &Parameter| matches!(parameter.kind, ParamType::Range { key: other, bound: Bound::Max, .. } if other == key);
            let Some((max, high)) = given.iter().find(|(parameter, _)| is_maximum(parameter)) else { continue };
            let (least, most) = self.bounds_of(key);
            if least <= most {
                continue;
            }
            let (min, max) = (min.name, max.name);
            let is = if unit == BoundUnit::Date { "after" } else { "above" };
            details.push((
                min,
                format!(
                    "`{min}` {low} is {is} `{max}` {high}, so that nothing matches; swap them: `{min}={high}&{max}={low}`"
                ),
            ));
        }
        details
    }

    /// The least and greatest sort key value that all filters admit.
    pub(super) fn bounds_of(&self, key: &str) -> (i64, i64) {
        let index = self.resource.table().sort_key(key);
        let ranges = self.filters.iter().filter_map(|filter| match filter {
            Filter::Range { key, min, max } if *key == index => Some((*min, *max)),
            _ => None,
        });
        ranges.fold((i64::MIN, i64::MAX), |(least, most), (min, max)| (least.max(min), most.min(max)))
    }

    /// Required values that are all excluded.
    fn excluded_values(&self) -> Vec<(&'static str, String)> {
        let mut details = Vec::new();
        for filter in &self.filters {
            let Filter::Not(excluded) = filter else { continue };
            let Filter::AnyOf(facet, excluded) = &**excluded else { continue };
            let is_excluded = |filter: &Filter| match filter {
                Filter::AnyOf(other, values) if other == facet && !values.is_empty() => {
                    values.iter().all(|value| excluded.contains(value))
                }
                _ => false,
            };
            let mut parameters = self.resource.parameters().iter();
            let parameter = parameters.find(|known| known.mode == Mode::Not && known.facet() == Some(*facet));
            if let Some(parameter) = parameter.filter(|_| self.filters.iter().any(is_excluded)) {
                let (name, included) = (parameter.name, parameter.included());
                let given = self.canonical.iter().find(|(known, _)| *known == included);
                let kept = given.map_or_else(String::new, |(_, value)| format!(", and keep `{included}={value}`"));
                details.push((
                    name,
                    format!("`{name}` excludes what `{included}` requires, so that nothing matches; omit it{kept}"),
                ));
            }
        }
        details
    }

    /// The required country, if there is exactly one.
    pub(super) fn required_country(&self) -> Option<Country> {
        self.filters.iter().find_map(|filter| match filter {
            Filter::AnyOf(Facet::Country, values) if values.len() == 1 => Country::at(values[0] as usize),
            _ => None,
        })
    }

    /// Conditions on properties that must be unknown.
    fn unknown_values(&self) -> Vec<(&'static str, String)> {
        let table = self.resource.table();
        let required = |filter: &Filter| match filter {
            Filter::Known(property) => Some(*property),
            Filter::AnyOf(facet, _) => Some(Property::Facet(*facet)),
            Filter::Range { key, .. } => Some(Property::Key(*key)),
            _ => None,
        };
        let unknown = self.filters.iter().filter_map(|filter| match filter {
            Filter::Unknown(property) => Some(*property),
            _ => None,
        });
        let contradicted = unknown.filter(|property| {
            self.filters.iter().any(|filter| match filter {
                Filter::Not(excluded) => required(excluded) == Some(*property),
                filter => required(filter) == Some(*property),
            })
        });
        let name_of =
            |property: Property| Property::all(table).find(|(_, known)| *known == property).map(|(name, _)| name);
        contradicted
            .filter_map(name_of)
            .map(|name| {
                let detail = format!(
                    "`unknown={name}` contradicts the other condition on `{name}`, so that nothing matches; omit one of them"
                );
                ("unknown", detail)
            })
            .collect()
    }
}
