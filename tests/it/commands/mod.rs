//! The operator's commands: accounts and keys, backup, findings of `doctor`, and `query`.

pub mod backup;
pub mod doctor;
mod operator;
mod query;
