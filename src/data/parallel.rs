//! Work on several threads.

use std::convert::Infallible;
use std::iter;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Builder};

pub fn in_parallel<V: Copy + Sync, T: Send, const N: usize>(values: [V; N], each: impl Fn(V) -> T + Sync) -> [T; N] {
    let returned = all_in_parallel(&values, |value| each(*value));
    returned.try_into().ok().expect("every value was taken once")
}

/// Calls `each` with each value, and returns the results in order. At most one value per processor is in progress, and
/// values start in order, so that work that needs much memory does not need it all at once. Put the longest work first.
pub fn all_in_parallel<V: Sync, T: Send>(values: &[V], each: impl Fn(&V) -> T + Sync) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let each = |value: &V| Ok::<T, Infallible>(each(value));
    let Ok(returned) = try_in_parallel(processors, values, AfterFailure::Stop, each);
    returned
}

/// What the other threads do when the work on a value fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    Stop,
    GoOn,
}

/// As [`all_in_parallel`], on at most so many threads, this one included. The thread of a value that fails starts no
/// other, and one of the errors is returned. A panic is resumed in this thread.
pub fn try_in_parallel<V: Sync, T: Send, E: Send>(
    threads: usize,
    values: &[V],
    after_failure: AfterFailure,
    each: impl Fn(&V) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    let (next, is_stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let work = || -> Result<Vec<(usize, T)>, E> {
        let mut done = Vec::new();
        while !is_stopped.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(value) = values.get(index) else { break };
            let stop = |_: &E| is_stopped.store(after_failure == AfterFailure::Stop, Ordering::Relaxed);
            done.push((index, each(value).inspect_err(stop)?));
        }
        Ok(done)
    };
    let done: Result<Vec<Vec<(usize, T)>>, E> = thread::scope(|scope| {
        // If no other thread can be started, this one does it all.
        let others: Vec<_> =
            (1..threads.min(values.len())).filter_map(|_| Builder::new().spawn_scoped(scope, work).ok()).collect();
        let own = work();
        let others = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        iter::once(own).chain(others).collect()
    });
    let mut done: Vec<(usize, T)> = done?.into_iter().flatten().collect();
    done.sort_unstable_by_key(|(index, _)| *index);
    Ok(done.into_iter().map(|(_, returned)| returned).collect())
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

    #[test]
    fn after_a_failure_the_other_threads_stop_or_go_on() {
        for (threads, after_failure, expected) in [(1, AfterFailure::Stop, 1), (2, AfterFailure::GoOn, 100)] {
            let started = AtomicUsize::new(0);
            let returned = try_in_parallel(threads, &[(); 100], after_failure, |()| {
                match started.fetch_add(1, Ordering::SeqCst) {
                    0 => Err("failed"),
                    _ => Ok(()),
                }
            });
            assert_eq!((returned, started.into_inner()), (Err("failed"), expected));
        }
    }
}
