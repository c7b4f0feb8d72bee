//! Values that stand for "unknown" in columns of numbers.

/// In columns of bytes.
pub const U8: u8 = u8::MAX;
/// In columns of 16-bit numbers.
pub const U16: u16 = u16::MAX;
/// In columns of row numbers.
pub const U32: u32 = u32::MAX;
/// In columns of dollars.
pub const U64: u64 = u64::MAX;
/// In columns of dates and standings.
pub const I32: i32 = i32::MIN;
