//! Waiting for a page.

use std::time::{Duration, Instant};

use futures::future::join_all;
use serde::{Deserialize, Serialize};

use crate::act::unless_interrupted;
use crate::tab::FrameState;
use crate::world::{World, WorldError};
use crate::{Deadline, Error, Ref, Tab, WaitUntil};

/// How long the frames that exist are asked before it is looked at which frames exist.
const SLICE: Duration = Duration::from_secs(1);
/// How much longer than asked for a frame may take to answer.
const ANSWER_GRACE: Duration = Duration::from_millis(50);
/// The least time between two rounds of questions.
const SHORTEST_ROUND: Duration = Duration::from_millis(30);

/// What to wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitFor {
    /// Text is visible.
    Text(String),
    /// Text is no longer visible.
    TextGone(String),
    /// An element is attached and visible.
    Ref(Ref),
    /// The URL contains this, or matches it where it holds `*`.
    Url(String),
    /// The document has got so far.
    Load(WaitUntil),
    /// A span of time.
    Time(Duration),
}

/// The page once the wait is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waited {
    /// Its URL.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// How long it took.
    pub waited: Duration,
}

impl Tab {
    /// Waits, at most until the deadline.
    ///
    /// # Errors
    /// [`Error::TimedOut`] when it did not happen, [`Error::DialogOpen`], [`Error::RefStale`],
    /// [`Error::OffPolicy`], [`Error::PageGone`].
    pub async fn wait(&self, what: &WaitFor, deadline: Deadline) -> Result<Waited, Error> {
        let began = Instant::now();
        self.enter(deadline).await?;
        let waiting = self.wait_for(what, deadline);
        if matches!(what, WaitFor::Time(_)) {
            // This alone does not need the page.
            waiting.await?;
        } else {
            match unless_interrupted(self, waiting).await? {
                Some(waited) => waited?,
                None => return Err(self.interruption()),
            }
        }
        let waited = began.elapsed();
        let (url, title) = self.entry(deadline.with_grace()).await?;
        Ok(Waited { url, title, waited })
    }

    async fn wait_for(&self, what: &WaitFor, deadline: Deadline) -> Result<(), Error> {
        match what {
            WaitFor::Text(text) => {
                let condition = Condition { text: Some(text), ..Condition::default() };
                self.wait_in_frames("the text", &condition, deadline).await
            }
            WaitFor::TextGone(text) => self.wait_until_gone(text, deadline).await,
            WaitFor::Ref(reference) => self.wait_for_element(*reference, deadline).await,
            WaitFor::Url(pattern) => {
                self.until("the URL", deadline, |state| url_matches(pattern, &state.main_frame().url)).await
            }
            WaitFor::Load(until) => {
                let complete = self.loaded(*until, deadline).await?;
                match self.state().borrow().dialog.clone() {
                    Some(dialog) => Err(Error::DialogOpen(dialog)),
                    None if complete => Ok(()),
                    None => Err(deadline.error("the load")),
                }
            }
            WaitFor::Time(span) => deadline.bound("the time", tokio::time::sleep(*span)).await,
        }
    }

    /// Waits until one of the frames meets the condition.
    async fn wait_in_frames(
        &self,
        what: &'static str,
        condition: &Condition<'_>,
        deadline: Deadline,
    ) -> Result<(), Error> {
        loop {
            let met = self.ask_frames(condition, deadline).await?;
            if met.contains(&Some(true)) {
                return Ok(());
            }
            if deadline.has_passed() {
                return Err(deadline.error(what));
            }
        }
    }

    /// Waits until the text is in none of the frames. A frame that does not answer is not known to hold it.
    async fn wait_until_gone(&self, text: &str, deadline: Deadline) -> Result<(), Error> {
        let condition = Condition { text_gone: Some(text), ..Condition::default() };
        loop {
            let met = self.ask_frames(&condition, deadline).await?;
            if met.iter().all(|met| *met != Some(false)) {
                return Ok(());
            }
            if deadline.has_passed() {
                return Err(deadline.error("the text to go"));
            }
        }
    }

    async fn wait_for_element(&self, reference: Ref, deadline: Deadline) -> Result<(), Error> {
        let (frame, id) = self.locate(reference).await?;
        let world = World::of(&frame, deadline).await.map_err(|error| error.about_page(deadline))?;
        let condition =
            Condition { id: Some(id), timeout_ms: milliseconds(deadline.remaining()), ..Condition::default() };
        match world.call::<_, Met>("waitFor", &condition, deadline.with_grace()).await {
            Ok(Met { met: true }) => Ok(()),
            Ok(Met { met: false }) => Err(deadline.error("the element")),
            Err(WorldError::DocumentGone) => {
                Err(Error::RefStale { reference, reason: "its document is gone".to_owned() })
            }
            Err(WorldError::Script(error)) if error.code == "stale" => {
                Err(Error::RefStale { reference, reason: "its element is gone".to_owned() })
            }
            Err(error) => Err(error.about_page(deadline)),
        }
    }

    /// Asks every frame, for a slice of the time; none for a frame that went away or does not answer.
    async fn ask_frames(&self, condition: &Condition<'_>, deadline: Deadline) -> Result<Vec<Option<bool>>, Error> {
        self.ready(deadline).await?;
        let state = self.state();
        let frames: Vec<FrameState> = {
            let state = state.borrow();
            if let Some(dialog) = &state.dialog {
                return Err(Error::DialogOpen(dialog.clone()));
            }
            state.frames().into_iter().cloned().collect()
        };
        let slice = deadline.at_most(SLICE);
        let condition = Condition { timeout_ms: milliseconds(slice.remaining()), ..*condition };
        // The first frame that meets the condition ends the slice for all of them.
        let (done, mut first) = tokio::sync::watch::channel(false);
        let answers = frames.iter().map(|frame| {
            let done = done.clone();
            async move {
                let ask = async {
                    let world = World::of(frame, slice).await?;
                    world.call::<_, Met>("waitFor", &condition, slice.with_grace()).await
                };
                let met = ask.await.ok().map(|met| met.met);
                if met == Some(true) && condition.text_gone.is_none() {
                    done.send_replace(true);
                }
                met
            }
        });
        let began = Instant::now();
        let met = tokio::select! {
            met = join_all(answers) => met,
            Ok(_) = first.wait_for(|done| *done) => vec![Some(true)],
            () = tokio::time::sleep(slice.remaining() + ANSWER_GRACE) => vec![None],
        };
        // Frames that answer at once, since they are going away, must not make this a busy loop.
        if !met.contains(&Some(true)) && began.elapsed() < SHORTEST_ROUND {
            tokio::time::sleep(SHORTEST_ROUND.min(deadline.remaining())).await;
        }
        Ok(met)
    }
}

/// What the page script is to wait for.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Condition<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text_gone: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    timeout_ms: u64,
}

#[derive(Deserialize)]
struct Met {
    met: bool,
}

/// Whether a URL contains the pattern, or matches the whole of it where it holds `*`.
fn url_matches(pattern: &str, url: &str) -> bool {
    if !pattern.contains('*') {
        return url.contains(pattern);
    }
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| url.strip_prefix(first)) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::url_matches;

    #[test]
    fn a_url_pattern_is_a_part_or_a_whole_with_stars() {
        for (pattern, url, expected) in [
            ("/order", "http://shop.example/order?id=1", true),
            ("/orders", "http://shop.example/order", false),
            ("*/order", "http://shop.example/order", true),
            ("*/order", "http://shop.example/order/2", false),
            ("http://*/order/*", "http://shop.example/order/2", true),
            ("*a*a", "a", false),
        ] {
            assert_eq!(url_matches(pattern, url), expected, "{pattern} {url}");
        }
    }
}
