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

/// Lets others run between two parts of long work. Never call it while others may wait for this work, such as with a lock
/// or in the initialization of a cell: they might wait with the turn that this work waits for.
pub fn point() {
    let pause = PAUSE.with_borrow(Clone::clone);
    pause.iter().for_each(|pause| pause());
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
        assert_eq!(paused.get(), 2);
    }
}
