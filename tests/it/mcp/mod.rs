//! The tool endpoint: its protocol on a sample, its tools on the bundled release.

mod ask;
mod docs;
mod hostile;
mod manifest;
mod protocol;
mod quota;
mod sample;
mod tools;
mod usefulness;
