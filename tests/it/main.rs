//! Behaviour of the whole, in one binary: every test binary would link tantivy and warp again.

mod bundled;
mod layers;
mod mcp;
mod stage;
