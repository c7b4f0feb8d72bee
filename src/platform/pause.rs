//! Points at which long work lets others run. Whoever gives work its turns decides what happens there.

use std::cell::RefCell;
use std::rc::Rc;

thread_local! {
    static PAUSE: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
}

/// Runs work that calls `pause` at each [`point`] it reaches.
pub fn with_pauses<T>(pause: Rc<dyn Fn()>, work: impl FnOnce() -> T) -> T {
    let _former = Former(PAUSE.replace(Some(pause)));
    work()
}

/// Sets the former pause again, also if the work panics.
struct Former(Option<Rc<dyn Fn()>>);

impl Drop for Former {
    fn drop(&mut self) {
        PAUSE.set(self.0.take());
    }
}

/// Runs work that others may wait for, such as the initialization of a shared cell, without pauses: they might wait with
/// the turn that this work would wait for.
pub fn without<T>(work: impl FnOnce() -> T) -> T {
    let _former = Former(PAUSE.take());
    work()
}

/// Lets others run between two parts of long work. Never call it with a lock; what initializes a cell that others may wait
/// for runs [`without`] pauses.
pub fn point() {
    let pause = PAUSE.with_borrow(Clone::clone);
    pause.iter().for_each(|pause| pause());
}

/// Passes items on, with a [`point`] before the first of each `count`.
pub fn every<I: IntoIterator>(count: usize, items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().enumerate().map(move |(number, item)| {
        if number % count == 0 {
            point();
        }
        item
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn points_pause_the_work_around_them_and_no_other() {
        let paused = Rc::new(Cell::new(0));
        let counter = || {
            let paused = Rc::clone(&paused);
            Rc::new(move || paused.set(paused.get() + 1))
        };
        point();
        with_pauses(counter(), || {
            point();
            assert_eq!(paused.get(), 1);
            let panics = || with_pauses(Rc::new(|| ()), || panic!("as planned"));
            assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
            point();
        });
        point();
        with_pauses(counter(), || without(point));
        assert_eq!(paused.get(), 2);
        with_pauses(counter(), || assert_eq!(every(3, 0..7).collect::<Vec<i32>>(), [0, 1, 2, 3, 4, 5, 6]));
        assert_eq!(paused.get(), 5);
    }
}
