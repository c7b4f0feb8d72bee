//! Work on several threads.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread::{self, Builder};

/// The number of threads that run at once.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Calls both, the first in a thread of its own.
pub(crate) fn both<A: Send, B>(first: impl FnOnce() -> A + Send, second: impl FnOnce() -> B) -> (A, B) {
    let first = Mutex::new(Some(first));
    let run_first = || {
        let first = first.lock().unwrap_or_else(PoisonError::into_inner).take();
        first.map(|first| first())
    };
    thread::scope(|scope| {
        let other = Builder::new().spawn_scoped(scope, run_first);
        let second = second();
        let returned = other.ok().and_then(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // If no other thread can be started, this one does it all.
        (returned.or_else(run_first).expect("it was not called yet"), second)
    })
}

/// Computes a value of each item, several at once, and passes the values to `take` in this thread, in the order of the
/// items. At most one value more than there are threads is computed or waits to be taken. An error of `take` ends it, and a panic is resumed here.
pub(crate) fn compute_in_order<I: Send, T: Send, E>(
    threads: usize,
    items: impl Iterator<Item = I> + Send,
    compute: impl Fn(I) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let items = Mutex::new(items.enumerate());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let (permit, permits) = mpsc::channel();
    let permits = Mutex::new(permits);
    let (sender, computed) = mpsc::channel();
    let work = |sender: mpsc::Sender<_>| {
        let may_begin = || permits.lock().unwrap_or_else(PoisonError::into_inner).recv().is_ok();
        while may_begin()
            && let Some((index, item)) = next()
        {
            let value = catch_unwind(AssertUnwindSafe(|| compute(item)));
            if sender.send((index, value)).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        // Whatever ends this closure drops it, and thus ends the threads.
        let permit = permit;
        let start = |sender: mpsc::Sender<_>| Builder::new().spawn_scoped(scope, || work(sender)).is_ok();
        let started = (0..threads).filter(|_| start(sender.clone())).count();
        drop(sender);
        if started == 0 {
            return iter::from_fn(next).try_for_each(|(_, item)| take(compute(item)));
        }
        for _ in 0..=started {
            permit.send(()).expect("the receiver is not dropped");
        }
        let (mut waiting, mut taken) = (BTreeMap::new(), 0);
        for (index, value) in computed {
            waiting.insert(index, value);
            while let Some(value) = waiting.remove(&taken) {
                take(value.unwrap_or_else(|panic| resume_unwind(panic)))?;
                taken += 1;
                permit.send(()).expect("the receiver is not dropped");
            }
        }
        Ok(())
    })
}

pub fn in_parallel<V: Copy + Sync, T: Send, const N: usize>(values: [V; N], each: impl Fn(V) -> T + Sync) -> [T; N] {
    let returned = all_in_parallel(&values, |value| each(*value));
    returned.try_into().ok().expect("every value was taken once")
}

/// Calls `each` with each value, and returns the results in order. At most one value per processor is in progress, and
/// values start in order, so that work that needs much memory does not need it all at once. Put the longest work first.
pub fn all_in_parallel<V: Sync, T: Send>(values: &[V], each: impl Fn(&V) -> T + Sync) -> Vec<T> {
    let each = |value: &V| Ok::<T, Infallible>(each(value));
    let Ok(returned) = try_in_parallel(processors(), values, AfterFailure::Stop, each);
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
    fn both_results_are_returned() {
        assert_eq!(both(|| 1, || "two"), (1, "two"));
    }

    #[test]
    fn values_are_taken_in_the_order_of_their_items_and_few_wait() {
        for threads in [1, 2, 7] {
            let (computed, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let compute = |item: usize| {
                // Items that come first take longest.
                (item..50).for_each(|_| thread::yield_now());
                let ahead = computed.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                assert!(ahead <= threads + 1, "{ahead} values wait for {threads} threads");
                item
            };
            let mut values = Vec::new();
            let take = |value: usize| {
                values.push(value);
                taken.store(values.len(), Ordering::SeqCst);
                Ok::<_, Infallible>(())
            };
            let Ok(()) = compute_in_order(threads, 0..100, compute, take);
            assert!(values.into_iter().eq(0..100));
        }
    }

    #[test]
    fn an_error_or_a_panic_ends_the_other_threads() {
        let started = AtomicUsize::new(0);
        let compute = |item: usize| {
            started.fetch_add(1, Ordering::SeqCst);
            item
        };
        let failed = compute_in_order(3, 0..1_000, compute, |item| if item == 5 { Err("failed") } else { Ok(()) });
        assert_eq!(failed, Err("failed"));
        assert!(started.into_inner() < 20);
        let panics = || {
            let Ok(()) = compute_in_order(3, 0..1_000, |item| assert_ne!(item, 5), |()| Ok::<_, Infallible>(()));
        };
        catch_unwind(panics).unwrap_err();
    }

    #[test]
    fn no_more_values_are_worked_on_than_there_are_processors() {
        let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        in_parallel([(); 100], |()| {
            most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            thread::yield_now();
            running.fetch_sub(1, Ordering::SeqCst);
        });
        assert!(most.into_inner() <= processors());
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
