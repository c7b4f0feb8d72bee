//! The server and its operator commands.
fn main() {}
