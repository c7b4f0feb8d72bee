//! Accounts, passwords, sessions, API keys, quotas and mail, and the store that holds them.
//!
//! Front ends call [`AuthService`], which decides from memory: a table of key digests identifies the caller, and the
//! counters of [`quota`] count. It reads the [`Store`] at the start and after each change, and writes usage in the
//! background. The store is SQLite for one server, or PostgreSQL for several, with one conformance suite.
#![warn(unreachable_pub)]

/// Implements `Debug` for what has secrets: it shows the name of the type only.
#[macro_export]
macro_rules! hide_debug {
    ($($secret:ident),*) => {
        $(impl std::fmt::Debug for $secret {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($secret), "(…)"))
            }
        })*
    };
}

/// Defines an enum, and a function that returns the code of each variant.
#[macro_export]
macro_rules! coded {
    (
        $(#[$doc:meta])* $function_vis:vis fn $function:ident;
        $(#[$meta:meta])* $vis:vis enum $name:ident {
            $($(#[$of:meta])* $variant:ident $(($($tuple:tt)*))? $({$($field:tt)*})? => $code:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $name {
            $($(#[$of])* $variant $(($($tuple)*))? $({$($field)*})?,)*
        }

        impl $name {
            $(#[$doc])*
            $function_vis fn $function(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $code,)*
                }
            }
        }
    };
}

pub mod account;
mod api_key;
pub mod audit;
#[cfg(test)]
mod conformance;
mod data_lock;
pub mod derived_secret;
pub mod email;
mod error;
pub mod firm;
pub mod known_browser;
pub mod link;
mod log_file;
pub mod mail;
mod measured;
pub mod password;
mod postgres;
pub mod quota;
pub(crate) mod rate_limits;
pub mod review;
pub mod secret_digest;
mod service;
pub mod session;
mod sql;
mod sqlite;
mod store;
pub mod totp;
pub mod watch;

pub use api_key::{ApiKey, KEY_PREFIX, KeyDigest, MaskedKey};
pub use data_lock::{DataLock, LockHolder};
pub(crate) use error::AccountResult;
pub use error::{AccountError, AuthError, StoreError, StoreResult};
pub use known_browser::BrowserToken;
pub use log_file::LogFile;
pub use postgres::{PostgresInspection, PostgresSettings, PostgresStore, PostgresTables, StoreUrl};
pub use rate_limits::{RateLimitConfig, RetryAfter};
pub use service::accounts::{StartedSession, Visitor};
pub use service::api_keys::{AccountUsage, KeyUsage, NewKey};
pub use service::mails::{invitation, invited_account, link_mail, request_invitation};
pub(crate) use service::random;
pub use service::reviews::new_review_id;
pub use service::sign_in_ticket::SignInTicket;
pub use service::steady_time::{ClockJump, MonotonicClock};
pub use service::{AuthService, Caller, QuotaSubject};
pub use sqlite::SqliteStore;
pub use sqlite::database_file::{DatabaseFile, StoreCounts, has_database, install_database};
pub use sqlite::files as private_files;
pub(crate) use store::REVOKED_NAME_DAYS;
pub use store::{
    CounterStore, Credentials, DayUsage, Durability, KeyChanges, KeyState, PasswordVersion, ReadKind, Statements,
    Store, StoreMeasurements, Totp, USAGE_DAYS,
};
