//! Fields that an import could not fill, so that nobody takes their absence for an answer of the source.

use crate::sources::EntityKind;
use crate::sources::field::SourceField;
use crate::sources::import::ImportSummary;
use crate::sources::mapping::Mapping;
use data::vocabulary::Vocabulary as _;

impl ImportSummary {
    /// Names the fields without a value, of the kinds of records that the mapping makes: `firms.aum_usd`.
    pub(super) fn find_unfilled(&self, mapping: &Mapping) -> Vec<String> {
        let made = |kind: EntityKind| mapping.sections.iter().any(|section| section.kind == kind);
        let has_values = |kind: EntityKind, name: &str| {
            let sections = self.sections.iter().filter(|section| section.kind == kind.name());
            sections.flat_map(|section| &section.fields).any(|field| field.field == name && field.values > 0)
        };
        let kinds = EntityKind::ALL.iter().copied().filter(|kind| made(*kind));
        let fields = kinds.flat_map(|kind| SourceField::of_kind(kind).iter().map(move |field| (kind, field.name)));
        let unfilled = fields.filter(|(kind, name)| !has_values(*kind, name));
        unfilled.map(|(kind, name)| format!("{}.{name}", kind.plural())).collect()
    }
}
