//! State that one task changes and all others look at.
//!
//! A look is a lock for reading. Where the same thread takes a second one before it lets go of the first, and the
//! owner wants to write in between, both wait for ever, each for the other. That takes an unlucky moment; so builds
//! with debug assertions panic on every second look, whatever the moment.

use std::ops::Deref;

use tokio::sync::watch::{self, error::RecvError};

/// A receiver of state that many look at.
#[derive(Debug)]
pub(crate) struct Watched<T> {
    receiver: watch::Receiver<T>,
    state: State,
}

/// The state, as long as somebody looks at it.
#[derive(Debug)]
pub(crate) struct Look<'a, T> {
    value: watch::Ref<'a, T>,
    _held: Held,
}

impl<T> Watched<T> {
    /// Looks at the state. To be let go of before anything else is asked of whoever holds it.
    pub(crate) fn borrow(&self) -> Look<'_, T> {
        let held = Held::by_this_thread(self.state);
        Look { value: self.receiver.borrow(), _held: held }
    }

    /// Waits until the state meets a condition.
    ///
    /// # Errors
    /// When the task that changes it has ended first.
    pub(crate) async fn wait_for(&mut self, mut condition: impl FnMut(&T) -> bool) -> Result<Look<'_, T>, RecvError> {
        let state = self.state;
        let met = self.receiver.wait_for(|value| {
            let _held = Held::by_this_thread(state);
            condition(value)
        });
        let value = met.await?;
        Ok(Look { value, _held: Held::by_this_thread(state) })
    }

    /// Whether the state is another than was seen last; so it counts as well once the task that changes it has ended.
    pub(crate) fn has_changed(&self) -> bool {
        self.receiver.has_changed().unwrap_or(true)
    }

    /// From now on the state as it is counts as seen.
    pub(crate) fn mark_seen(&mut self) {
        self.receiver.mark_unchanged();
    }

    /// Whether the task that changes it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.receiver.has_changed().is_err()
    }
}

impl<T> From<watch::Receiver<T>> for Watched<T> {
    fn from(receiver: watch::Receiver<T>) -> Self {
        let state = State(std::ptr::from_ref(&*receiver.borrow()).addr());
        Self { receiver, state }
    }
}

impl<T> Clone for Watched<T> {
    fn clone(&self) -> Self {
        Self { receiver: self.receiver.clone(), state: self.state }
    }
}

impl<T> Deref for Look<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// Tells one state from all others, by where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State(usize);

/// Says that this thread looks at a state; a look cannot move to another thread.
#[derive(Debug)]
struct Held {
    #[cfg(debug_assertions)]
    state: State,
}

#[cfg(debug_assertions)]
thread_local! {
    static HELD: std::cell::RefCell<Vec<State>> = const { std::cell::RefCell::new(Vec::new()) };
}

#[cfg(debug_assertions)]
impl Held {
    fn by_this_thread(state: State) -> Self {
        HELD.with_borrow_mut(|held| {
            assert!(!held.contains(&state), "a thread that looks at a state looks at it again");
            held.push(state);
        });
        Self { state }
    }
}

#[cfg(not(debug_assertions))]
impl Held {
    fn by_this_thread(_: State) -> Self {
        Self {}
    }
}

#[cfg(debug_assertions)]
impl Drop for Held {
    fn drop(&mut self) {
        HELD.with_borrow_mut(|held| {
            if let Some(at) = held.iter().position(|state| *state == self.state) {
                held.swap_remove(at);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> (Watched<u8>, Watched<u8>) {
        let sender = watch::Sender::new(1);
        (sender.subscribe().into(), sender.subscribe().into())
    }

    #[test]
    fn one_look_after_the_other_and_looks_at_different_states_are_fine() {
        let ((first, again), (other, _)) = (two(), two());
        assert_eq!(*first.borrow(), 1);
        assert_eq!(*again.borrow(), 1);
        let look = first.borrow();
        assert_eq!(*other.borrow(), *look);
    }

    #[test]
    #[should_panic(expected = "looks at it again")]
    fn a_second_look_at_the_same_state_is_noticed() {
        let (first, again) = two();
        let _look = first.borrow();
        let _ = again.borrow();
    }

    #[tokio::test]
    #[should_panic(expected = "looks at it again")]
    async fn a_look_within_a_condition_is_noticed() {
        let (mut first, again) = two();
        let _ = first.wait_for(|one| *one == *again.borrow()).await;
    }
}
