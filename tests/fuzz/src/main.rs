//! libFuzzer around the target that `VENTUREDEX_FUZZ` names.
#![no_main]

use std::sync::OnceLock;

#[allow(dead_code)]
#[path = "../../it/support/harness.rs"]
mod harness;
/// Where the targets find it, as in `tests/it`.
mod support {
    pub(crate) use crate::harness;
}
mod targets;

use targets::Target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    static TARGET: OnceLock<Target> = OnceLock::new();
    let target = TARGET.get_or_init(|| {
        let name = std::env::var("VENTUREDEX_FUZZ").unwrap_or_default();
        let found = targets::TARGETS.into_iter().find(|target| target.name == name);
        let names = targets::TARGETS.map(|target| target.name).join(" ");
        found.unwrap_or_else(|| panic!("VENTUREDEX_FUZZ={name} names no target; the targets are: {names}"))
    });
    (target.run)(bytes);
});
