//! Bytes as text.

/// The bytes as hexadecimal digits, two for each, in lower case.
pub fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
