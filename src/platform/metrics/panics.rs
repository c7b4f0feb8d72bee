//! Caught panics: counted, with the source location recorded by [`log_panics`].

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook};
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::FutureExt;

static CAUGHT: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Panic {
    /// File, line and column; `None` before [`log_panics`].
    place: Option<String>,
    /// `None` if it may contain client input.
    message: Option<&'static str>,
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("panic")?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        self.message.map_or(Ok(()), |message| write!(f, ": {message}"))
    }
}

impl Panic {
    pub(crate) fn caught(payload: &(dyn Any + Send)) -> Self {
        CAUGHT.fetch_add(1, Ordering::Relaxed);
        Self { place: PLACE.take(), message: constant_message(payload) }
    }
}

/// Runs `work` and catches its panic. The caller is responsible for poisoned locks and half-changed values.
pub fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Panic::caught(payload.as_ref()))
}

pub async fn catch_async<T>(work: impl Future<Output = T>) -> Result<T, Panic> {
    AssertUnwindSafe(work).catch_unwind().await.map_err(|payload| Panic::caught(payload.as_ref()))
}

pub fn count() -> u64 {
    CAUGHT.load(Ordering::Relaxed)
}

/// Makes a panic of any thread one line of the log, instead of several lines without a time on stderr.
pub fn log_panics() {
    set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let thread = std::thread::current().name().unwrap_or("unnamed").to_owned();
        let message = constant_message(panic.payload());
        tracing::error!(place, thread, cause = message.unwrap_or("see the level debug"), "panic");
        if let Some(message) = panic.payload().downcast_ref::<String>() {
            tracing::debug!(place, cause = message, "panic");
        }
        PLACE.set(Some(place));
    }));
}

/// A message that is a constant of the program; a formatted one may quote a request.
fn constant_message(payload: &(dyn Any + Send)) -> Option<&'static str> {
    payload.downcast_ref::<&'static str>().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_formatted_is_not_repeated() {
        let secret = std::hint::black_box("a query");
        let formatted = catch(|| panic!("cannot read {secret}")).unwrap_err().to_string();
        assert!(formatted.starts_with("panic") && !formatted.contains("query"), "{formatted}");
        let before = count();
        let constant = catch(|| panic!("a defect")).unwrap_err().to_string();
        assert!(constant.ends_with(": a defect"), "{constant}");
        assert!(count() > before);
        assert_eq!(catch(|| 7), Ok(7));
    }
}
