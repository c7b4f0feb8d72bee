//! Records as JSON, as REST and MCP return them: slices of the stored values, computed fields, field selection.

pub mod computed;
mod field_mask;
mod field_set;
pub mod fields;
mod record;
pub(crate) mod scan;

pub use field_mask::FieldMask;
pub use field_set::FieldSet;
pub use fields::Fields;
pub(crate) use record::write_named;
pub use record::{ComposedRecord, FieldValues};
