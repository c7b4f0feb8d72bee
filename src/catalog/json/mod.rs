//! Records as JSON, as REST and MCP return them: slices of the stored text, computed fields, field selection.

pub mod computed;
pub(crate) mod field_mask;
mod field_set;
pub mod fields;
pub mod record;

pub use field_mask::FieldMask;
pub use field_set::FieldSet;
pub use fields::Fields;
