//! Behaviour of the whole, in one binary: every test binary would link tantivy and warp again.

mod account;
mod agreement;
mod broken;
mod bundled;
mod docs;
mod etag;
mod faults;
mod further;
mod indexer;
mod kept;
mod layers;
mod lists;
mod mcp;
mod names;
mod openapi;
mod pages;
mod paging;
mod parameters;
mod quota;
mod real;
mod rest;
mod schema;
mod snapshots;
mod stage;
mod swap;
mod wire;
