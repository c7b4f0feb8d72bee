//! From the files of sources to a dataset: statements of each source, the records that they describe together, and invented
//! datasets.
#![warn(unreachable_pub)]

pub mod datagen;
pub mod resolve;
pub mod sources;
