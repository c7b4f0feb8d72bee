//! Work by several threads.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// What `each` returns for each value, by threads of their own, or by this one if no other can be started.
pub(crate) fn in_parallel<V: Copy + Send, T: Send, const N: usize>(
    values: [V; N],
    each: impl Fn(V) -> T + Sync,
) -> [T; N] {
    thread::scope(|scope| {
        let each = &each;
        let threads = values.map(|value| (value, Builder::new().spawn_scoped(scope, move || each(value))));
        threads.map(|(value, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(_) => each(value),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_values() {
        assert_eq!(in_parallel([3, 1, 2], |number| number * 10), [30, 10, 20]);
    }
}
