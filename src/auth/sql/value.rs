//! Values of parameters and columns, common to both databases.

use std::str::FromStr;

use crate::sql::{SqlError, SqlResult};

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

macro_rules! from_numbers {
    ($($number:ty),*) => {
        $(impl From<$number> for SqlValue<'_> {
            fn from(number: $number) -> Self {
                Self::Number(number.into())
            }
        })*
    };
}

from_numbers!(i64, i32, u32);

impl From<bool> for SqlValue<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

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

/// Values of the parameters `?1`, `?2` and so on.
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

to_numbers!(i64, i32, u32, u64);

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

pub trait SqlRow {
    fn value(&self, column: usize) -> SqlResult<SqlValue<'_>>;
}

impl dyn SqlRow + '_ {
    pub(crate) fn get<T: FromValue>(&self, column: usize) -> SqlResult<T> {
        let unexpected = || SqlError::Data(format!("column {column} has another type or is out of range"));
        T::from_value(self.value(column)?).ok_or_else(unexpected)
    }

    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, column: usize) -> SqlResult<T> {
        match self.value(column)? {
            SqlValue::Text(text) => text.parse().map_err(|error: T::Err| SqlError::Data(error.to_string())),
            _ => Err(SqlError::Data(format!("column {column} is not a text"))),
        }
    }
}
