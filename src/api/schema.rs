//! The fields of each endpoint's items.

use crate::alerts::{AlertRecord, WatchRecord};
use crate::api::EndpointKind;
use crate::api::facets::Facets;
use crate::api::record::{Release, SuggestedName, Usage};
use crate::catalog::json::FieldSet;
use crate::catalog::{Aggregate, LookUpAnswer, Totals};

impl FieldSet {
    pub fn of(content: EndpointKind) -> Self {
        match content {
            EndpointKind::List(resource, _) => Self::of_list(resource),
            EndpointKind::Record(table) => Self::of_table(table),
            EndpointKind::Facets => Self::of_model::<Facets<'_>>(),
            EndpointKind::Aggregate(_) => Self::of_model::<Aggregate>(),
            EndpointKind::Stats => Self::of_model::<Totals>(),
            EndpointKind::Snapshots => Self::of_model::<Release<'_>>(),
            EndpointKind::Suggestions => Self::of_model::<SuggestedName<'_>>(),
            EndpointKind::Usage => Self::of_model::<Usage>(),
            EndpointKind::LookUp => Self::of_model::<LookUpAnswer>(),
            EndpointKind::Saved => Self::of_model::<WatchRecord>(),
            EndpointKind::Alerts => Self::of_model::<AlertRecord>(),
            EndpointKind::Changes => Self::of_all_tables(),
        }
    }
}
