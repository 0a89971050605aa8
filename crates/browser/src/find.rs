//! Finding elements by what a person knows of them.

use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use serde::{Deserialize, Serialize};

use crate::page::asking::{self, Listening};
use crate::page::{Element, inside, marks};
use crate::tab::FrameState;
use crate::world::{Reply, WorldError};
use crate::{Deadline, Error, Ref, Tab};

/// How long the page script may look, in each frame: whoever asks wants an element that is there to be found.
const WALK_MS: u64 = 2_000;

/// What to find: everything that is given must hold. Words match any part, without regard to case.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FindOptions {
    /// Visible text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// ARIA role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Accessible name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The label of a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The placeholder of a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The value of `data-testid` or its like, exactly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test_id: Option<String>,
    /// The most matches.
    pub limit: usize,
}

impl FindOptions {
    fn is_empty(&self) -> bool {
        let words = [&self.text, &self.role, &self.name, &self.label, &self.placeholder, &self.test_id];
        words.into_iter().all(|words| words.as_deref().unwrap_or_default().trim().is_empty())
    }
}

/// An element that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Its ref.
    pub reference: Ref,
    /// Its outline line, in which strings of the page are quoted and escaped.
    pub line: String,
    /// What tells it from others like it, such as `in row "Ada"`; escaped like the line.
    pub context: String,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The URL of the page.
    pub url: String,
    /// Its title, raw text of the page.
    pub title: String,
    /// The matches, in reading order within each frame.
    pub matches: Vec<Match>,
    /// How many more there are, at least.
    pub more: u64,
}

impl Tab {
    /// Finds elements in the page and the frames in it.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] when nothing is asked for; otherwise as [`Tab::outline`].
    pub async fn find(&self, options: &FindOptions, deadline: Deadline) -> Result<Found, Error> {
        if options.is_empty() {
            return Err(Error::InvalidArgument(
                "say what to find: a text, role, name, label, placeholder or test id".to_owned(),
            ));
        }
        self.enter(deadline).await?;
        let main = self.state().borrow().main_frame().clone();
        let answers = search(self, main, options.clone(), None, 0, deadline);
        let answers = deadline.bound("the search", answers).await?.map_err(|error| error.about_page(deadline))?;
        let mut found = Found { url: String::new(), title: String::new(), matches: Vec::new(), more: 0 };
        let mut refs = self.refs().lock().await;
        for (frame, answer) in answers {
            found.more += answer.more;
            for one in answer.matches {
                if found.matches.len() >= options.limit {
                    found.more += 1;
                    continue;
                }
                let element = Element { frame: frame.id.clone(), document: frame.document.clone(), id: one.id };
                found.matches.push(Match {
                    reference: refs.name(&element),
                    line: marks::with_refs(&one.line, &mut refs, &frame.id, &frame.document),
                    context: marks::with_refs(&one.context, &mut refs, &frame.id, &frame.document),
                });
            }
        }
        drop(refs);
        (found.url, found.title) = self.entry(deadline.with_grace()).await?;
        Ok(found)
    }
}

#[derive(Debug, Deserialize)]
struct Answer {
    matches: Vec<AnswerMatch>,
    more: u64,
    /// Owners of frames that a person sees.
    frames: Vec<u32>,
}

#[derive(Debug, Deserialize)]
struct AnswerMatch {
    id: u32,
    line: String,
    context: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(flatten)]
    options: &'a FindOptions,
    budget_ms: u64,
}

/// Looks in a frame and then in those that it shows.
fn search(
    tab: &Tab,
    frame: FrameState,
    options: FindOptions,
    listening: Option<Listening>,
    level: usize,
    deadline: Deadline,
) -> BoxFuture<'_, Result<Vec<(FrameState, Answer)>, WorldError>> {
    async move {
        let listening = match listening {
            Some(listening) => listening,
            None => asking::listening(tab, &frame, deadline).await,
        };
        let call = ("find", &Request { options: &options, budget_ms: WALK_MS });
        let reply = asking::read(tab, &frame, call, Some(&listening), inside::FRAME_LIMIT, deadline).await?;
        let Reply { answer, frames, .. }: Reply<Answer> = reply;
        let inner = inside::readings(tab, &answer.frames, &frames, level, deadline, |child, _, patience| {
            let listening = (child.session.id() == frame.session.id()).then(|| Arc::clone(&listening));
            search(tab, child, options.clone(), listening, level + 1, patience)
        });
        let mut inner = inner.await;
        let owners = answer.frames.clone();
        let mut found = vec![(frame, answer)];
        for owner in owners {
            if let Some(Ok(answers)) = inner.remove(&owner) {
                found.extend(answers);
            }
        }
        Ok(found)
    }
    .boxed()
}
