//! The operator's commands: accounts and keys, backup, findings of `doctor`, `query`, and what a newcomer tries.

pub mod backup;
pub mod doctor;
mod first_minute;
mod operator;
mod package_files;
mod query;
