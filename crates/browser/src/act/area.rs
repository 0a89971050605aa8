//! Where an element is on the page.

use bathy_cdp::protocol::page::Rectangle;

use super::Target;
use super::place::Surroundings;
use super::target::Aim;
use crate::{Deadline, Error, Tab};

impl Tab {
    /// The box of an element in CSS pixels of the page's viewport, once it is scrolled into view.
    pub(crate) async fn area(&self, target: &Target, deadline: Deadline) -> Result<Rectangle, Error> {
        let aim = Aim::take(self, target, deadline).await?;
        let ready = aim.prepare("scroll", deadline).await?;
        let surroundings = Surroundings::of(&aim, deadline).await?;
        let centre = surroundings.place(ready.rect.centre(), deadline).await?.on_page();
        let (width, height) = (ready.rect.width, ready.rect.height);
        Ok(Rectangle { x: centre.x - width / 2.0, y: centre.y - height / 2.0, width, height })
    }
}
