//! Values of parameters and columns, common to both databases.

use std::str::FromStr;

use crate::account::{AccountId, CounterId, Email, KeyId, KeyName};
use crate::firm::{ClaimId, CorrectionId, NoticeId};
use crate::link::Purpose;
use crate::password::hash::PasswordHash;
use crate::quota::Tier;
use crate::review::ReviewId;
use crate::secret_digest::SecretDigest;
use crate::session::SessionId;
use crate::sql::{SqlError, SqlResult};
use crate::totp::TotpSecret;
use crate::watch::{AlertId, DeliveryId, WatchId, WebhookId};
use crate::{MaskedKey, PasswordVersion};
use data::vocabulary::Vocabulary;
use data::{Date, SnapshotVersion};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SqlValue<'v> {
    Null,
    Number(i64),
    /// SQLite stores and returns it as a number.
    Flag(bool),
    /// PostgreSQL stores U+FFFD in place of NUL.
    Text(&'v str),
    Bytes(&'v [u8]),
}

macro_rules! values_from {
    ($($value:ident: $($of:ty),*);*) => {
        $($(impl From<$of> for SqlValue<'_> {
            fn from(value: $of) -> Self {
                Self::$value(value.into())
            }
        })*)*
    };
}

values_from! { Number: i64, i32, u32, u8; Flag: bool }

impl<'v> From<&'v str> for SqlValue<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text)
    }
}

impl<'v> From<&'v String> for SqlValue<'v> {
    fn from(text: &'v String) -> Self {
        Self::Text(text)
    }
}

impl<'v, const N: usize> From<&'v [u8; N]> for SqlValue<'v> {
    fn from(bytes: &'v [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'v, T: Into<SqlValue<'v>>> From<Option<T>> for SqlValue<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::sql::SqlValue::from($value)),*] };
}

pub(crate) use params;

/// Conversion from a column value; `None` if the value has another type or is out of range.
pub(crate) trait FromValue: Sized {
    fn from_value(value: SqlValue<'_>) -> Option<Self>;
}

macro_rules! to_numbers {
    ($($number:ty),*) => {
        $(impl FromValue for $number {
            fn from_value(value: SqlValue<'_>) -> Option<Self> {
                if let SqlValue::Number(number) = value { number.try_into().ok() } else { None }
            }
        })*
    };
}

to_numbers!(i64, i32, u32, u64, u8);

impl FromValue for bool {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        match value {
            SqlValue::Flag(flag) => Some(flag),
            SqlValue::Number(number) => Some(number != 0),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        if let SqlValue::Text(text) = value { Some(text.to_owned()) } else { None }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        if let SqlValue::Bytes(bytes) = value { bytes.try_into().ok() } else { None }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        if value == SqlValue::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

/// Types, each with the function that makes it of the stored type.
macro_rules! wrapped {
    ($($name:ty: $wrap:expr),* $(,)?) => {
        $(impl FromValue for $name {
            fn from_value(value: SqlValue<'_>) -> Option<Self> {
                FromValue::from_value(value).map($wrap)
            }
        })*
    };
}

wrapped! {
    AccountId: AccountId, AlertId: AlertId, ClaimId: ClaimId, CorrectionId: CorrectionId, CounterId: CounterId, NoticeId: NoticeId, DeliveryId: DeliveryId, KeyId: KeyId,
    PasswordVersion: PasswordVersion, ReviewId: ReviewId, SessionId: SessionId, WatchId: WatchId, WebhookId: WebhookId,
    Date: Date::from_days, Email: Email::from_stored, PasswordHash: PasswordHash::from_stored,
    SecretDigest: SecretDigest::from_bytes, TotpSecret: TotpSecret::from_bytes,
}

impl FromValue for Purpose {
    fn from_value(value: SqlValue<'_>) -> Option<Self> {
        String::from_value(value).and_then(|name| Self::read(&name))
    }
}

pub trait SqlRow {
    fn value(&self, column: usize) -> SqlResult<SqlValue<'_>>;
}

pub(crate) struct SqlColumns<'r> {
    row: &'r dyn SqlRow,
    next: usize,
}

/// Reads a row, or some of its columns.
pub(crate) trait FromColumns: Sized {
    fn from_columns(columns: &mut SqlColumns<'_>) -> SqlResult<Self>;

    fn from_row(row: &dyn SqlRow) -> SqlResult<Self> {
        Self::from_columns(&mut SqlColumns { row, next: 0 })
    }
}

impl<'r> SqlColumns<'r> {
    pub(crate) fn read<T: FromColumns>(&mut self) -> SqlResult<T> {
        T::from_columns(self)
    }

    fn value(&mut self) -> SqlResult<(usize, SqlValue<'r>)> {
        let column = self.next;
        self.next += 1;
        Ok((column, self.row.value(column)?))
    }

    fn parsed<T: FromStr<Err: std::fmt::Display>>(&mut self) -> SqlResult<T> {
        match self.value()? {
            (_, SqlValue::Text(text)) => text.parse().map_err(|error: T::Err| SqlError::Data(error.to_string())),
            (column, _) => Err(SqlError::Data(format!("column {column} is not a text"))),
        }
    }
}

impl<T: FromValue> FromColumns for T {
    fn from_columns(columns: &mut SqlColumns<'_>) -> SqlResult<Self> {
        let (column, value) = columns.value()?;
        let unexpected = || SqlError::Data(format!("column {column} has another type or is out of range"));
        T::from_value(value).ok_or_else(unexpected)
    }
}

macro_rules! parsed_columns {
    ($($name:ty),*) => {
        $(impl FromColumns for $name {
            fn from_columns(columns: &mut SqlColumns<'_>) -> SqlResult<Self> {
                columns.parsed()
            }
        })*
    };
}

parsed_columns!(KeyName, MaskedKey, SnapshotVersion, Tier);

/// Tuples whose parts are read one after the other.
macro_rules! tuples {
    ($(($($part:ident),*))*) => {
        $(impl<$($part: FromColumns),*> FromColumns for ($($part,)*) {
            fn from_columns(columns: &mut SqlColumns<'_>) -> SqlResult<Self> {
                Ok(($(columns.read::<$part>()?,)*))
            }
        })*
    };
}

tuples! { (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) }

impl FromColumns for () {
    fn from_columns(_: &mut SqlColumns<'_>) -> SqlResult<Self> {
        Ok(())
    }
}

/// Reads the fields of a struct in the order of the query's columns.
macro_rules! columns_of {
    ($name:ident: $($field:ident),* $(,)?) => {
        impl $crate::sql::FromColumns for $name {
            fn from_columns(columns: &mut $crate::sql::SqlColumns<'_>) -> $crate::sql::SqlResult<Self> {
                Ok(Self { $($field: columns.read()?),* })
            }
        }
    };
}

pub(crate) use columns_of;
