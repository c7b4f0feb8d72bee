//! Who may ask, and how often: accounts, keys, tiers, the meter of daily quotas, and the store behind them.
//!
//! [`AuthService`] is what the web layer asks. It decides from memory: a table of key digests says who is calling, a [`DailyCounter`]
//! counts. The [`Store`] is read at start and whenever it changed, and usage is written behind, so that no request ever
//! waits for a disk. The only user of dashmap and of the database.

pub mod account;
pub mod api_key;
pub mod api_key_cache;
#[cfg(test)]
mod conformance;
pub mod error;
pub mod password;
pub mod service;
pub mod session;
pub mod sqlite;
pub mod store;
pub use api_key::{ApiKey, KEY_PREFIX, KeyDigest, MalformedKey, MaskedKey};
pub use error::{AccountError, AuthError, StoreError};
pub use service::accounts::{NewSession, Visitor};
pub use service::api_keys::{AccountUsage, KeyUsage, NewKey};
pub use service::{AuthService, Caller, sends_key};
pub use sqlite::SqliteStore;
pub use store::{AddedUsage, Changes, Credentials, DayUsage, KeyState, PasswordVersion, Store, Usage};
