//! The search: by names, addresses, descriptions and questions, in the API, on pages and in tools.

mod addresses;
mod descriptions;
mod filtered;
mod lists;
mod names;
mod questions;
mod readings;
