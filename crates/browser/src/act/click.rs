//! Clicks.

use super::before::{Before, Expects};
use super::delivery::Delivery;
use super::pointer::{self, Reach};
use super::settle::Press;
use super::target::{Aim, Kind, Ready};
use super::{Acted, Button, ClickOptions, Target};
use crate::{Deadline, Error, Tab};

/// How often a press that something else would have taken is made again.
const ATTEMPTS: u32 = 3;

impl Tab {
    /// Clicks.
    ///
    /// # Errors
    /// [`Error::NoSuchElement`], [`Error::RefStale`], [`Error::NotActionable`], [`Error::Obscured`],
    /// [`Error::InvalidArgument`] for a count that is not 1 to 3, [`Error::DialogOpen`], [`Error::OffPolicy`],
    /// [`Error::Refused`] when it led to a refused place, [`Error::TimedOut`], [`Error::PageGone`].
    pub async fn click(&self, target: &Target, options: ClickOptions, deadline: Deadline) -> Result<Acted, Error> {
        if !(1..=3).contains(&options.count) {
            return Err(Error::InvalidArgument(format!("a click has a count of 1 to 3, not {}", options.count)));
        }
        self.enter(deadline).await?;
        let aim = Aim::take(self, target, deadline).await?;
        let (before, ready) = aim.approach("click", deadline).await?;
        click(&aim, before, ready, options, deadline).await
    }
}

/// Clicks an element and says what came of it.
pub(super) async fn click(
    aim: &Aim<'_>,
    mut before: Before,
    mut ready: Ready,
    options: ClickOptions,
    deadline: Deadline,
) -> Result<Acted, Error> {
    let guard = ready.kind != Kind::Frame;
    if ready.promising && options.button == Button::Left {
        before.expects = Expects::Effect;
    }
    for attempt in 1..=ATTEMPTS {
        let reach = Reach {
            action: "click", // What a frame holds sees the press, not the document around it.
            guard,
            modifiers: options.modifiers,
        };
        let reached = reach.go(aim, ready, deadline).await?;
        before.note_followed(reached.followed.as_deref());
        aim.check_document()?;
        let tab = aim.tab;
        for count in 1..=options.count {
            let at = reached.place.on_page();
            if pointer::click(tab, at, options, count, deadline).await? == Delivery::Interrupted {
                return tab.after(before, deadline).await;
            }
        }
        match tab.settle(&mut before, deadline).await? {
            Press::Elsewhere(_) if attempt < ATTEMPTS => {
                ready = aim.prepare("click", deadline).await?;
            }
            Press::Elsewhere(cover) => {
                return Err(Error::Obscured { target: aim.name(), cover });
            }
            Press::Lost if guard && tab.unchanged(&before) => {
                return Err(Error::ActionFailed(format!("the click did not arrive at {}", aim.name())));
            }
            Press::Lost | Press::Landed => break,
        }
    }
    aim.tab.tell(before, deadline).await
}
