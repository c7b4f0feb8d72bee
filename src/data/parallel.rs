//! Work on several threads.

use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, Builder};

/// Calls `each` with each value, see [`all_in_parallel`].
pub fn in_parallel<V: Copy + Sync, T: Send, const N: usize>(values: [V; N], each: impl Fn(V) -> T + Sync) -> [T; N] {
    let returned = all_in_parallel(&values, |value| each(*value));
    returned.try_into().ok().expect("every value was taken once")
}

/// Calls `each` with each value, and returns the results in order. At most one value per processor is in progress, and
/// values start in order, so that work that needs much memory does not need it all at once. Put the longest work first.
pub fn all_in_parallel<V: Sync, T: Send>(values: &[V], each: impl Fn(&V) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, T)> {
        let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < values.len());
        iter::from_fn(take).map(|index| (index, each(&values[index]))).collect()
    };
    let mut done = thread::scope(|scope| {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        // If no other thread can be started, this one does it all.
        let others: Vec<_> =
            (1..processors.min(values.len())).filter_map(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, returned)| returned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_values() {
        assert_eq!(in_parallel([3, 1, 2], |number| number * 10), [30, 10, 20]);
    }

    #[test]
    fn no_more_values_are_worked_on_than_there_are_processors() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        in_parallel([(); 100], |()| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
        });
        assert!(most.into_inner() <= thread::available_parallelism().map_or(1, usize::from));
    }
}
