//! Key events that the browser trusts.

use bathy_cdp::Session;
use bathy_cdp::protocol::input::{DispatchKeyEvent, InsertText, KeyEventType};
use futures::future::join_all;

use super::before::Expects;
use super::delivery::{Delivery, deliver};
use super::keys::{Key, SHIFT_BIT, Stroke};
use super::target::Aim;
use super::{Acted, Modifiers, Target};
use crate::{Deadline, Error, Tab};

/// Key events that are on their way at once; the browser keeps their order.
const TYPED_AT_ONCE: usize = 16;

impl Tab {
    /// Presses a key, in an element or where the focus is.
    ///
    /// # Errors
    /// As [`Tab::click`]; [`Error::NotActionable`] where the element does not take the focus.
    pub async fn press(&self, key: &Key, target: Option<&Target>, deadline: Deadline) -> Result<Acted, Error> {
        self.enter(deadline).await?;
        let aim = match target {
            Some(target) => Some(Aim::take(self, target, deadline).await?),
            None => None,
        };
        let mut before = match &aim {
            Some(aim) => {
                let (before, _) = aim.approach("press", deadline).await?;
                aim.focus(deadline).await?;
                before
            }
            None => self.before(None, deadline).await,
        };
        if key.stroke.key == "Enter" && key.modifiers == Modifiers::default() {
            before.expects = Expects::Sending;
        }
        strike(self, key, deadline).await?;
        self.after(before, deadline).await
    }
}

/// Presses a key and lets it go, with its modifiers held.
pub(super) async fn strike(tab: &Tab, key: &Key, deadline: Deadline) -> Result<Delivery, Error> {
    let mut held = Held { page: tab.page().clone(), strokes: Vec::new() };
    let mut bits = 0;
    for (stroke, bit) in key.modifiers.held() {
        bits |= bit;
        if held.down(tab, &stroke, bits, deadline).await? == Delivery::Interrupted {
            return Ok(Delivery::Interrupted);
        }
    }
    let own = if key.stroke.shifted { bits | SHIFT_BIT } else { bits };
    if held.down(tab, &key.stroke, own, deadline).await? == Delivery::Interrupted {
        return Ok(Delivery::Interrupted);
    }
    while let Some(stroke) = held.strokes.pop() {
        if let Some((_, bit)) = key.modifiers.held().find(|(modifier, _)| *modifier == stroke) {
            bits &= !bit;
        }
        let up = event(KeyEventType::KeyUp, &stroke, bits);
        if deliver(tab, up, deadline).await? == Delivery::Interrupted {
            return Ok(Delivery::Interrupted);
        }
    }
    Ok(Delivery::Arrived)
}

/// Types text key by key, wherever the focus is. What no key types is put in as from an input method.
pub(super) async fn type_keys(tab: &Tab, text: &str, deadline: Deadline) -> Result<Delivery, Error> {
    let text = text.replace("\r\n", "\n");
    let characters: Vec<char> = text.chars().collect();
    for some in characters.chunks(TYPED_AT_ONCE) {
        let typed = join_all(some.iter().map(|character| type_character(tab, *character, deadline))).await;
        for delivery in typed {
            if delivery? == Delivery::Interrupted {
                return Ok(Delivery::Interrupted);
            }
        }
    }
    Ok(Delivery::Arrived)
}

async fn type_character(tab: &Tab, character: char, deadline: Deadline) -> Result<Delivery, Error> {
    let stroke = Stroke::typing(character);
    if stroke.code.is_empty() {
        return insert(tab, &stroke.key, deadline).await;
    }
    let bits = if stroke.shifted { SHIFT_BIT } else { 0 };
    let down = deliver(tab, event(KeyEventType::KeyDown, &stroke, bits), deadline);
    let up = deliver(tab, event(KeyEventType::KeyUp, &stroke, bits), deadline);
    let (down, up) = futures::join!(down, up);
    Ok(if down? == Delivery::Interrupted { Delivery::Interrupted } else { up? })
}

/// Puts in text as a whole, as from an input method or the clipboard.
pub(super) async fn insert(tab: &Tab, text: &str, deadline: Deadline) -> Result<Delivery, Error> {
    deliver(tab, InsertText { text: text.to_owned() }, deadline).await
}

/// Keys that are down. Dropped, it lets them go.
struct Held {
    page: Session,
    strokes: Vec<Stroke>,
}

impl Held {
    async fn down(&mut self, tab: &Tab, stroke: &Stroke, bits: u32, deadline: Deadline) -> Result<Delivery, Error> {
        self.strokes.push(stroke.clone());
        // A key that types nothing, or not with these modifiers, must not carry text.
        let types = stroke.text.is_some() && bits & !SHIFT_BIT == 0;
        let kind = if types { KeyEventType::KeyDown } else { KeyEventType::RawKeyDown };
        deliver(tab, event(kind, stroke, bits), deadline).await
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for stroke in self.strokes.iter().rev() {
            self.page.send(&event(KeyEventType::KeyUp, stroke, 0));
        }
    }
}

fn event(kind: KeyEventType, stroke: &Stroke, bits: u32) -> DispatchKeyEvent {
    let text = stroke.text.clone().filter(|_| kind == KeyEventType::KeyDown);
    DispatchKeyEvent {
        r#type: kind,
        modifiers: Some(bits),
        unmodified_text: text.clone(),
        text,
        code: Some(stroke.code.clone()),
        key: Some(stroke.key.clone()),
        windows_virtual_key_code: Some(stroke.key_code),
        location: Some(stroke.location),
        ..DispatchKeyEvent::default()
    }
}
