//! The fields of each endpoint's items.

use crate::EndpointKind;
use crate::facets::Facets;
use crate::record::{Release, SuggestedName, Usage};
use catalog::json::FieldSet;
use catalog::{Aggregate, LookUpAnswer, Totals};
use service::alerts::{AlertRecord, WatchRecord};

impl EndpointKind {
    pub(crate) fn field_set(self) -> FieldSet {
        match self {
            Self::List(resource, _) => FieldSet::of_list(resource),
            Self::Record(table) => FieldSet::of_table(table),
            Self::Facets => FieldSet::of_model::<Facets<'_>>(),
            Self::Aggregate(_) => FieldSet::of_model::<Aggregate>(),
            Self::Stats => FieldSet::of_model::<Totals>(),
            Self::Snapshots => FieldSet::of_model::<Release<'_>>(),
            Self::Suggestions => FieldSet::of_model::<SuggestedName<'_>>(),
            Self::Usage => FieldSet::of_model::<Usage>(),
            Self::LookUp => FieldSet::of_model::<LookUpAnswer>(),
            Self::Saved => FieldSet::of_model::<WatchRecord>(),
            Self::Alerts => FieldSet::of_model::<AlertRecord>(),
            Self::Changes => FieldSet::of_all_tables(),
        }
    }
}
