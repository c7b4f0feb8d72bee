//! Behaviour of the whole, in one binary: every test binary would link tantivy and warp again.

mod bundled;
mod layers;
mod lists;
mod mcp;
mod paging;
mod quota;
mod real;
mod stage;
