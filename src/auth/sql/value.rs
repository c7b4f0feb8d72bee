//! Values of parameters and rows, as both databases understand them.

use std::str::FromStr;

use crate::sql::SqlError;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'v> {
    Null,
    Number(i64),
    /// SQLite stores and returns it as a number.
    Flag(bool),
    /// PostgreSQL stores U+FFFD in place of NUL.
    Text(&'v str),
    Bytes(&'v [u8]),
}

impl From<i64> for Value<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<i32> for Value<'_> {
    fn from(number: i32) -> Self {
        Self::Number(number.into())
    }
}

impl From<u32> for Value<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl From<bool> for Value<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(text: &'v str) -> Self {
        Self::Text(text)
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(text: &'v String) -> Self {
        Self::Text(text)
    }
}

impl<'v, const N: usize> From<&'v [u8; N]> for Value<'v> {
    fn from(bytes: &'v [u8; N]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The values of parameters `?1`, `?2` and so on.
macro_rules! params {
    ($($value:expr),* $(,)?) => { [$($crate::sql::Value::from($value)),*] };
}

pub(crate) use params;

/// The type of a value that is read from a column. `None` if the value has another type or is out of range.
pub(crate) trait FromValue: Sized {
    fn from_value(value: Value<'_>) -> Option<Self>;
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Number(number) = value { Some(number) } else { None }
    }
}

impl FromValue for i32 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for u32 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for u64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value)?.try_into().ok()
    }
}

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Flag(flag) => Some(flag),
            Value::Number(number) => Some(number != 0),
            _ => None,
        }
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Text(text) = value { Some(text.to_owned()) } else { None }
    }
}

impl<const N: usize> FromValue for [u8; N] {
    fn from_value(value: Value<'_>) -> Option<Self> {
        if let Value::Bytes(bytes) = value { bytes.try_into().ok() } else { None }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        if value == Value::Null { Some(None) } else { T::from_value(value).map(Some) }
    }
}

pub(crate) trait Row {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError>;
}

impl dyn Row + '_ {
    pub(crate) fn get<T: FromValue>(&self, column: usize) -> Result<T, SqlError> {
        let unexpected = || SqlError::Data(format!("column {column} has another type or is out of range"));
        T::from_value(self.value(column)?).ok_or_else(unexpected)
    }

    /// A text that was stored in the form that `T` parses.
    pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(&self, column: usize) -> Result<T, SqlError> {
        match self.value(column)? {
            Value::Text(text) => text.parse().map_err(|error: T::Err| SqlError::Data(error.to_string())),
            _ => Err(SqlError::Data(format!("column {column} is not a text"))),
        }
    }
}
