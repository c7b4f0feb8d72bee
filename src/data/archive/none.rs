//! Values that mean "no value" in columns of numbers.

pub const NONE_U8: u8 = u8::MAX;
pub const NONE_U16: u16 = u16::MAX;
/// In columns of row numbers and ranks.
pub const NONE_U32: u32 = u32::MAX;
/// In columns of dollars.
pub const NONE_U64: u64 = u64::MAX;
/// In columns of dates, which are codes of [`PartialDate`](crate::PartialDate), and of leaderboard values.
pub const NONE_I32: i32 = i32::MIN;
