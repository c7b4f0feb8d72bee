//! Alerts: changes of the data that match a saved search, sent to its owner.

pub mod webhook;
