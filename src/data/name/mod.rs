//! Names taken apart: legal forms, generic words, numerals, initials, vehicles, hosts.
//!
//! One module for search, near-duplicates, aliases, resolution and addresses. Its words are in `words.txt`.

mod core_name;
mod host;
mod initials;
pub mod numerals;
mod script_forms;
mod vehicle;
mod words;

pub use core_name::{CoreName, WordKind, legal_forms, singular};
pub use host::OwnName;
pub use initials::join_initials;
pub use script_forms::without_script_form;
pub use vehicle::{Vehicle, find_vehicle};
pub use words::WordList;
