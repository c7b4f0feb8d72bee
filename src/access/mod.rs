//! Who may ask, and how often: accounts, keys, tiers, the meter of daily quotas, and the store behind them.
//!
//! [`Access`] is what the web layer asks. It decides from memory: a table of key digests says who is calling, a [`Meter`]
//! counts. The [`Store`] is read at start and whenever it changed, and usage is written behind, so that no request ever
//! waits for a disk. The only user of dashmap and of the database.

pub mod account;
mod addresses;
mod admission;
#[cfg(test)]
mod conformance;
mod desk;
mod error;
mod key;
mod meter;
pub mod network;
pub mod password;
pub mod pool;
mod pseudonym;
mod quota;
pub mod session;
mod sqlite;
mod store;
mod table;
mod throttle;
mod tier;

pub use addresses::AddressMeter;
pub use admission::{Allowances, FAILED_SIGN_INS_OF_ACCOUNT, FAILED_SIGN_INS_OF_ADDRESS, SIGN_IN_WINDOW};
pub use desk::{Access, AccountUsage, Caller, KeyUsage, NewKey, NewSession, Visitor, sends_key};
pub use error::{AccessError, AccountError, Refused};
pub use key::{ApiKey, KEY_PREFIX, KeyDigest, MalformedKey, ShownKey};
pub use meter::{Meter, Tally};
pub use quota::Quota;
pub use sqlite::SqliteStore;
pub use store::{AddedUsage, Changes, Credentials, DayUsage, KeyState, PasswordVersion, Store, Usage};
pub use throttle::RetryAfter;
pub use tier::{NotATier, Tier};
