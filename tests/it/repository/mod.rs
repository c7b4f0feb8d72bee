//! The repository itself: its bundled dataset, documents, wording, files of `deploy/` and fuzz targets.

mod bundled;
mod deploy;
mod documents;
mod fuzz;
mod language;
