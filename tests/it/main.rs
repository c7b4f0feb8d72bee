//! Behaviour of the whole, in one binary: every test binary would link tantivy and warp again.

mod broken;
mod bundled;
mod docs;
mod faults;
mod indexer;
mod layers;
mod lists;
mod mcp;
mod names;
mod openapi;
mod paging;
mod quota;
mod real;
mod rest;
mod stage;
mod swap;
