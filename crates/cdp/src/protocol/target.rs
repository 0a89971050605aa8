//! Domain `Target`: contexts, targets and the sessions attached to them.

use super::macros::{commands, events, known, objects};
use super::{BrowserContextId, FrameId, Nothing, SessionId, TargetId};

objects! {
    /// What the browser says of a target.
    TargetInfo {
        /// Its id.
        target_id: TargetId,
        /// `page`, `iframe`, `worker`, `service_worker`, …
        r#type: String,
        /// Its title, as the page gave it.
        title: String,
        /// Its URL.
        url: String,
        /// Whether a client is attached.
        attached: bool,
        ;
        /// The target whose script opened this one.
        opener_id: TargetId,
        /// The frame whose script opened this one.
        opener_frame_id: FrameId,
        /// The context that it lives in.
        browser_context_id: BrowserContextId,
    }
    /// Which types of targets to attach to.
    TargetFilterEntry {
        ;
        /// The type; all types when absent.
        r#type: String,
        /// Leave them out instead.
        exclude: bool,
    }
    /// The answer to [`CreateBrowserContext`].
    CreatedBrowserContext {
        /// The new context.
        browser_context_id: BrowserContextId,
    }
    /// The answer to [`CreateTarget`].
    CreatedTarget {
        /// The new page.
        target_id: TargetId,
    }
    /// The answer to [`AttachToTarget`].
    Attached {
        /// The new session.
        session_id: SessionId,
    }
    /// The answer to [`GetTargets`].
    Targets {
        /// All targets.
        target_infos: Vec<TargetInfo>,
    }
}

commands! {
    /// Makes an isolated context.
    "Target.createBrowserContext" CreateBrowserContext {
        ;
        /// Whether it goes when this client disconnects.
        dispose_on_detach: bool,
        /// The proxy of this context.
        proxy_server: String,
        /// What does not go through it.
        proxy_bypass_list: String,
    } -> CreatedBrowserContext;
    /// Removes a context and its pages, without `beforeunload`.
    "Target.disposeBrowserContext" DisposeBrowserContext {
        /// The context.
        browser_context_id: BrowserContextId,
    } -> Nothing;
    /// Opens a page.
    "Target.createTarget" CreateTarget {
        /// Where it starts.
        url: String,
        ;
        /// Width of the window in CSS pixels.
        width: u32,
        /// Height of the window in CSS pixels.
        height: u32,
        /// The context to open it in.
        browser_context_id: BrowserContextId,
        /// Whether it leaves the focus where it is.
        background: bool,
        /// Whether it gets a window of its own.
        new_window: bool,
    } -> CreatedTarget;
    /// Closes a page.
    "Target.closeTarget" CloseTarget {
        /// The page.
        target_id: TargetId,
    } -> Nothing;
    /// Gives a page the focus.
    "Target.activateTarget" ActivateTarget {
        /// The page.
        target_id: TargetId,
    } -> Nothing;
    /// Attaches to a target.
    "Target.attachToTarget" AttachToTarget {
        /// The target.
        target_id: TargetId,
        ;
        /// Flat mode; the only one used here.
        flatten: bool,
    } -> Attached;
    /// Makes another session with the browser itself, with events of its own.
    "Target.attachToBrowserTarget" AttachToBrowserTarget {} -> Attached;
    /// Ends a session.
    "Target.detachFromTarget" DetachFromTarget {
        ;
        /// The session.
        session_id: SessionId,
    } -> Nothing;
    /// Attaches to the targets related to this one as they come.
    "Target.setAutoAttach" SetAutoAttach {
        /// On or off.
        auto_attach: bool,
        /// Whether new targets wait for `Runtime.runIfWaitingForDebugger`.
        wait_for_debugger_on_start: bool,
        ;
        /// Flat mode; the only one used here.
        flatten: bool,
        /// Which types.
        filter: Vec<TargetFilterEntry>,
    } -> Nothing;
    /// Asks for `targetCreated`, `targetInfoChanged` and `targetDestroyed`.
    "Target.setDiscoverTargets" SetDiscoverTargets {
        /// On or off.
        discover: bool,
        ;
        /// Which types.
        filter: Vec<TargetFilterEntry>,
    } -> Nothing;
    /// Lists all targets.
    "Target.getTargets" GetTargets {} -> Targets;
}

events! {
    /// A session was made.
    "Target.attachedToTarget" AttachedToTarget {
        /// The session.
        session_id: SessionId,
        /// Its target.
        target_info: TargetInfo,
        /// Whether it waits for `Runtime.runIfWaitingForDebugger`.
        waiting_for_debugger: bool,
    }
    /// A session is gone.
    "Target.detachedFromTarget" DetachedFromTarget {
        /// The session.
        session_id: SessionId,
    }
    /// A target came to be.
    "Target.targetCreated" TargetCreated {
        /// The target.
        target_info: TargetInfo,
    }
    /// A target changed its URL or title.
    "Target.targetInfoChanged" TargetInfoChanged {
        /// The target.
        target_info: TargetInfo,
    }
    /// A target is gone.
    "Target.targetDestroyed" TargetDestroyed {
        /// The target.
        target_id: TargetId,
    }
    /// A target's process crashed.
    "Target.targetCrashed" TargetCrashed {
        /// The target.
        target_id: TargetId,
        /// How it ended.
        status: String,
        /// Its exit code.
        error_code: i64,
    }
}

known!();
