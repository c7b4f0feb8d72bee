//! Turns panics of the crates that parse archives and workbooks into errors.
//!
//! They index and add what a damaged file states, as in `self.strings[index]`, and some such places are found only by a file
//! that leads there. A reader that panicked is dropped, and its state with it.

use std::any::Any;
use std::cell::Cell;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// True while a panic of this thread becomes an error and need not be printed.
    static IS_CONTAINED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a parser. The error is a sentence without the file.
pub(super) fn contain<T>(parse: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_CONTAINED.get() {
                print(panic);
            }
        }));
    });
    let outer = IS_CONTAINED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(parse));
    IS_CONTAINED.set(outer);
    result.map_err(|payload| {
        format!("its parser stopped at a damaged place ({}); save the file again", message(payload.as_ref()))
    })
}

/// As [`contain`], for a parser that has errors of its own.
pub(super) fn contain_result<T, E: Display>(parse: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    contain(parse)?.map_err(|error| error.to_string())
}

fn message(payload: &(dyn Any + Send)) -> &str {
    let constant = payload.downcast_ref::<&'static str>().copied();
    constant.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_parser_is_an_error() {
        let index = std::hint::black_box(3);
        let error = contain(|| [1, 2][index]).unwrap_err();
        assert!(error.contains("index out of bounds"), "{error}");
        assert_eq!(contain(|| 7), Ok(7));
        assert!(!IS_CONTAINED.get());
    }
}
