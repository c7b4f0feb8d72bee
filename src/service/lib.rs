//! The part of the server shared by all front ends: its [`State`], saved searches with their alerts, bulk downloads,
//! and the operator's name, contact and color.
#![warn(unreachable_pub)]

pub mod access;
pub mod alerts;
mod bill;
pub mod brand;
pub mod bulk;
pub mod firms;
pub mod operator;
pub mod reviews;
pub mod security_txt;
pub mod state;
pub mod version_end;
pub mod well_known;

pub use access::{Access, ReviewAccess, SignUp};
pub use bill::Bill;
pub use brand::{Brand, BrandColor};
pub use bulk::BulkAccess;
pub use operator::Operator;
pub use state::State;
pub use version_end::VersionEnd;
