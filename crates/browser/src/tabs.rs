//! The tabs of a context, in order: kept as pages come and go, whoever opens or closes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bathy_cdp::Progress;
use bathy_cdp::protocol::{SessionId, TargetId};
use tokio::sync::{mpsc, oneshot, watch};

use crate::instance::PageEvent;
use crate::tab::Rules;
use crate::{Error, Tab};

/// A session's pages beyond this are closed as they open.
pub(crate) const TAB_LIMIT: usize = 50;

/// The tabs of a context, in order.
#[derive(Clone, Default)]
pub(crate) struct Tabs {
    pub(crate) list: Vec<Tab>,
    pub(crate) active: Option<TargetId>,
    /// How many tabs opened so far, those that are closed again included.
    pub(crate) opened: u64,
    /// How many were closed as they opened, since there were enough.
    pub(crate) refused: u64,
    /// How often the active tab went away without being told to.
    lost: u64,
    /// Tabs that were active before, the latest last.
    former: Vec<TargetId>,
    told: Arc<Told>,
}

/// How much of what happened by itself was told.
#[derive(Default)]
struct Told {
    opened: AtomicU64,
    refused: AtomicU64,
    lost: AtomicU64,
}

/// What became of a session's tabs without a call that asked for it, and was not told yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TabNews {
    /// Positions of tabs that pages opened, and whether the policy allows them.
    pub opened: Vec<(usize, bool)>,
    /// How many more pages wanted to open than there may be.
    pub refused: u64,
    /// Whether the active tab closed by itself.
    pub lost: bool,
    /// The position of the tab that is active now.
    pub active: Option<usize>,
}

impl Tabs {
    /// The tab that calls without an index go to.
    pub(crate) fn active(&self) -> Option<&Tab> {
        self.list.iter().find(|tab| self.is_active(tab))
    }

    pub(crate) fn is_active(&self, tab: &Tab) -> bool {
        self.active.as_ref() == Some(tab.target())
    }

    pub(crate) fn position(&self, target: &TargetId) -> Option<usize> {
        self.list.iter().position(|tab| tab.target() == target)
    }

    /// The tab at this position.
    pub(crate) fn at(&self, index: usize) -> Result<&Tab, Error> {
        self.list.get(index).ok_or(Error::NoSuchTab { index, count: self.list.len() })
    }

    /// The tabs with their positions that pages opened after the first `seen` of all.
    pub(crate) fn opened_by_pages(&self, seen: u64) -> impl Iterator<Item = (usize, &Tab)> {
        self.list.iter().enumerate().filter(move |(_, tab)| tab.number() > seen && !tab.is_ours())
    }

    /// From now on all of this counts as told.
    pub(crate) fn mark_openings_told(&self) {
        self.told.opened.fetch_max(self.opened, Ordering::AcqRel);
        self.told.refused.fetch_max(self.refused, Ordering::AcqRel);
    }

    /// What happened by itself since this was asked last.
    pub(crate) fn news(&self) -> TabNews {
        let seen = self.told.opened.fetch_max(self.opened, Ordering::AcqRel);
        let refused = self.told.refused.fetch_max(self.refused, Ordering::AcqRel);
        let lost = self.told.lost.fetch_max(self.lost, Ordering::AcqRel);
        TabNews {
            opened: self.opened_by_pages(seen).map(|(index, tab)| (index, tab.standing().is_ok())).collect(),
            refused: self.refused.saturating_sub(refused),
            lost: self.lost > lost,
            active: self.active.as_ref().and_then(|target| self.position(target)),
        }
    }

    fn activate(&mut self, target: TargetId) {
        if let Some(former) = self.active.replace(target) {
            self.former.push(former);
        }
        let active = self.active.clone();
        let open: Vec<TargetId> = self.list.iter().map(|tab| tab.target().clone()).collect();
        let mut later = Vec::new();
        // Each once, where it was active last.
        while let Some(former) = self.former.pop() {
            if Some(&former) != active.as_ref() && open.contains(&former) && !later.contains(&former) {
                later.push(former);
            }
        }
        later.reverse();
        self.former = later;
    }

    /// Takes a closed page off the list. Where it was active, the one that was active before it is so from now on,
    /// else its neighbour; none that is off policy.
    fn remove(&mut self, session: &SessionId) {
        let Some(position) = self.list.iter().position(|tab| tab.page().id() == Some(session)) else {
            return;
        };
        let tab = self.list.remove(position);
        if !self.is_active(&tab) {
            return;
        }
        if !tab.is_closing() {
            self.lost += 1;
        }
        let open = |target: &TargetId| self.list.iter().find(|tab| tab.target() == target);
        let (left, right) = self.list.split_at(position);
        let former = self.former.iter().rev().filter_map(open);
        let mut heirs = former.chain(left.iter().rev()).chain(right);
        let heir = heirs.find(|tab| tab.standing().is_ok()).map(|tab| tab.target().clone());
        self.active = None;
        if let Some(heir) = heir {
            self.activate(heir);
        }
    }
}

/// Says when the list has taken in what the browser told of its pages. A cheap handle.
#[derive(Clone)]
pub(crate) struct Roll {
    pub(crate) connection: Progress,
    pub(crate) events: mpsc::WeakUnboundedSender<PageEvent>,
}

impl Roll {
    /// Waits until all pages are on the list that the browser told of before the reply that the caller just had.
    pub(crate) async fn caught_up(&self) {
        self.connection.caught_up().await;
        let (reached, mark) = oneshot::channel();
        if let Some(events) = self.events.upgrade()
            && events.send(PageEvent::Mark(reached)).is_ok()
        {
            // The list may end meanwhile.
            let _ = mark.await;
        }
    }
}

/// Keeps the list of tabs as pages come and go. Pages that open by themselves join it and never become active.
pub(crate) async fn follow(
    mut events: mpsc::UnboundedReceiver<PageEvent>,
    mut activations: mpsc::UnboundedReceiver<TargetId>,
    tabs: watch::Sender<Tabs>,
    rules: Rules,
) {
    loop {
        tokio::select! {
            event = events.recv() => match event {
                Some(PageEvent::Attached { target, session, lane }) => {
                    tabs.send_modify(|tabs| {
                        let tab = Tab::attach(&target, tabs.opened + 1, session, lane, rules.clone());
                        if tabs.list.len() < TAB_LIMIT {
                            tabs.opened += 1;
                            tabs.list.push(tab);
                        } else {
                            // It is set up all the same: until it is gone its opener may make use of it, or wait for it.
                            tabs.refused += 1;
                            tab.close();
                        }
                    });
                }
                Some(PageEvent::Detached { session }) => tabs.send_modify(|tabs| tabs.remove(&session)),
                Some(PageEvent::Mark(reached)) => {
                    // Whoever asked may have gone.
                    let _ = reached.send(());
                }
                None => break,
            },
            target = activations.recv() => match target {
                Some(target) => tabs.send_modify(|tabs| {
                    // It may have been closed meanwhile.
                    if tabs.position(&target).is_some() {
                        tabs.activate(target);
                    }
                }),
                None => break,
            },
        }
    }
    // Each tab knows the list, so a list that is left behind would keep its tabs for ever.
    tabs.send_replace(Tabs::default());
}
