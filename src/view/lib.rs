//! What pages show: values as text, links, columns, forms, charts and pictures.
//!
//! Nothing here knows a page or a request, so that `site`, which has them, is compiled once, without unit tests of its own.

pub mod authenticator;
pub mod charts;
pub mod columns;
pub mod firm_sentence;
pub mod form_data;
pub mod format;
pub mod html;
pub mod link;
pub mod picture;
pub mod stage_strip;
pub mod style_sheet;
