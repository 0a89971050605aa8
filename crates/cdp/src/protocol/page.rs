//! Domain `Page`: navigation, frames, dialogs, pictures.

use super::macros::{commands, events, known, objects, words};
use super::runtime::ExecutionContextId;
use super::{FrameId, LoaderId, Nothing, ScriptIdentifier, StreamHandle};

objects! {
    /// A frame and its document.
    Frame {
        /// The frame.
        id: FrameId,
        /// The load of its document.
        loader_id: LoaderId,
        /// Its URL without the fragment.
        url: String,
        /// The origin of its document.
        security_origin: String,
        /// The document's type.
        mime_type: String,
        ;
        /// The frame that holds it.
        parent_id: FrameId,
        /// The frame's name.
        name: String,
        /// The fragment, with its `#`.
        url_fragment: String,
        /// What could not be loaded, where this shows an error page.
        unreachable_url: String,
    }
    /// A frame and what it holds.
    FrameTree {
        /// The frame.
        frame: Frame,
        ;
        /// The frames in it, in order.
        child_frames: Vec<FrameTree>,
    }
    /// The answer to [`GetFrameTree`].
    FrameTreeAnswer {
        /// The tree of this session's frames.
        frame_tree: FrameTree,
    }
    /// The answer to [`Navigate`].
    Navigated {
        /// The frame.
        frame_id: FrameId,
        ;
        /// The load that was started; absent for a same-document navigation.
        loader_id: LoaderId,
        /// Why it failed.
        error_text: String,
        /// Whether it became a download.
        is_download: bool,
    }
    /// An entry of the session history.
    NavigationEntry {
        /// For [`NavigateToHistoryEntry`].
        id: i64,
        /// Its URL.
        url: String,
        /// Its title.
        title: String,
    }
    /// The answer to [`GetNavigationHistory`].
    NavigationHistory {
        /// Which entry is shown.
        current_index: usize,
        /// All entries.
        entries: Vec<NavigationEntry>,
    }
    /// A region of the page in CSS pixels.
    Viewport {
        /// Left edge.
        x: f64,
        /// Top edge.
        y: f64,
        /// Width.
        width: f64,
        /// Height.
        height: f64,
        /// Scale of the picture.
        scale: f64,
    }
    /// The answer to [`CaptureScreenshot`].
    Screenshot {
        /// The picture in base64.
        data: String,
    }
    /// The answer to [`PrintToPdf`].
    PrintedPdf {
        /// The document in base64; empty when a stream was asked for.
        data: String,
        ;
        /// The stream.
        stream: StreamHandle,
    }
    /// What of the layout is visible.
    LayoutViewport {
        /// Horizontal scroll offset in CSS pixels.
        page_x: f64,
        /// Vertical scroll offset in CSS pixels.
        page_y: f64,
        /// Width in CSS pixels.
        client_width: f64,
        /// Height in CSS pixels.
        client_height: f64,
    }
    /// A size and position in CSS pixels.
    Rectangle {
        /// Left edge.
        x: f64,
        /// Top edge.
        y: f64,
        /// Width.
        width: f64,
        /// Height.
        height: f64,
    }
    /// The answer to [`GetLayoutMetrics`].
    LayoutMetrics {
        /// What is shown.
        css_layout_viewport: LayoutViewport,
        /// The whole page.
        css_content_size: Rectangle,
    }
    /// The answer to [`CreateIsolatedWorld`].
    IsolatedWorld {
        /// The world's execution context.
        execution_context_id: ExecutionContextId,
    }
    /// The answer to [`AddScriptToEvaluateOnNewDocument`].
    AddedScript {
        /// For its removal.
        identifier: ScriptIdentifier,
    }
}

words! {
    /// A kind of JavaScript dialog.
    DialogType {
        /// `alert()`.
        Alert = "alert",
        /// `confirm()`.
        Confirm = "confirm",
        /// `prompt()`.
        Prompt = "prompt",
        /// A page asks to stay.
        BeforeUnload = "beforeunload",
    }
    /// A picture format.
    ScreenshotFormat {
        /// PNG.
        Png = "png",
        /// JPEG.
        Jpeg = "jpeg",
        /// WebP.
        Webp = "webp",
    }
}

commands! {
    /// Asks for this domain's events.
    "Page.enable" Enable {} -> Nothing;
    /// Asks for `Page.lifecycleEvent`.
    "Page.setLifecycleEventsEnabled" SetLifecycleEventsEnabled {
        /// On or off.
        enabled: bool,
    } -> Nothing;
    /// The frames of this session.
    "Page.getFrameTree" GetFrameTree {} -> FrameTreeAnswer;
    /// Starts to load a document.
    "Page.navigate" Navigate {
        /// Where to.
        url: String,
        ;
        /// The frame to load it in; the main one when absent.
        frame_id: FrameId,
    } -> Navigated;
    /// Loads the document anew.
    "Page.reload" Reload {
        ;
        /// Whether caches are passed over.
        ignore_cache: bool,
    } -> Nothing;
    /// Ends all loading.
    "Page.stopLoading" StopLoading {} -> Nothing;
    /// The session history.
    "Page.getNavigationHistory" GetNavigationHistory {} -> NavigationHistory;
    /// Forgets the session history but for the entry that is shown.
    "Page.resetNavigationHistory" ResetNavigationHistory {} -> Nothing;
    /// Moves in the session history.
    "Page.navigateToHistoryEntry" NavigateToHistoryEntry {
        /// From [`NavigationEntry`].
        entry_id: i64,
    } -> Nothing;
    /// Closes the page, with `beforeunload`.
    "Page.close" Close {} -> Nothing;
    /// Gives the page the focus.
    "Page.bringToFront" BringToFront {} -> Nothing;
    /// Answers a dialog.
    "Page.handleJavaScriptDialog" HandleJavaScriptDialog {
        /// Accept or dismiss.
        accept: bool,
        ;
        /// The text for a prompt.
        prompt_text: String,
    } -> Nothing;
    /// Takes a picture.
    "Page.captureScreenshot" CaptureScreenshot {
        ;
        /// PNG when absent.
        format: ScreenshotFormat,
        /// Quality in 0..=100, not for PNG.
        quality: u32,
        /// The region to take.
        clip: Viewport,
        /// Whether the region may lie outside of what is visible.
        capture_beyond_viewport: bool,
        /// Whether speed matters more than size.
        optimize_for_speed: bool,
    } -> Screenshot;
    /// Prints to PDF.
    "Page.printToPDF" PrintToPdf {
        ;
        /// Whether backgrounds are printed.
        print_background: bool,
        /// Whether a tagged document is made.
        #[serde(rename = "generateTaggedPDF")]
        generate_tagged_p_d_f: bool,
        /// `ReturnAsBase64` or `ReturnAsStream`.
        transfer_mode: String,
    } -> PrintedPdf;
    /// Sizes of the page.
    "Page.getLayoutMetrics" GetLayoutMetrics {} -> LayoutMetrics;
    /// Makes a world of script that shares only the document with the page.
    "Page.createIsolatedWorld" CreateIsolatedWorld {
        /// The frame.
        frame_id: FrameId,
        ;
        /// The world's name; the same name gives the same world.
        world_name: String,
        /// Whether it may reach documents of other origins.
        grant_univeral_access: bool,
    } -> IsolatedWorld;
    /// Evaluates a script in every new document before its own.
    "Page.addScriptToEvaluateOnNewDocument" AddScriptToEvaluateOnNewDocument {
        /// The script.
        source: String,
        ;
        /// The isolated world to run in; the page's own when absent.
        world_name: String,
        /// Whether to run in documents that exist already.
        run_immediately: bool,
    } -> AddedScript;
    /// Reports file choosers instead of opening them.
    "Page.setInterceptFileChooserDialog" SetInterceptFileChooserDialog {
        /// On or off.
        enabled: bool,
    } -> Nothing;
    /// Lets a wedged page's scripts be ended.
    "Page.crash" Crash {} -> Nothing;
}

events! {
    /// A frame was added.
    "Page.frameAttached" FrameAttached {
        /// The frame.
        frame_id: FrameId,
        /// The frame that holds it.
        parent_frame_id: FrameId,
    }
    /// A frame shows a new document.
    "Page.frameNavigated" FrameNavigated {
        /// The frame.
        frame: Frame,
    }
    /// A frame's address changed without a new document.
    "Page.navigatedWithinDocument" NavigatedWithinDocument {
        /// The frame.
        frame_id: FrameId,
        /// Its new URL.
        url: String,
    }
    /// A frame was removed, or moved to another process (`reason` is `swap`).
    "Page.frameDetached" FrameDetached {
        /// The frame.
        frame_id: FrameId,
        /// `remove` or `swap`.
        reason: String,
    }
    /// A frame begins to load.
    "Page.frameStartedLoading" FrameStartedLoading {
        /// The frame.
        frame_id: FrameId,
    }
    /// A frame has stopped to load.
    "Page.frameStoppedLoading" FrameStoppedLoading {
        /// The frame.
        frame_id: FrameId,
    }
    /// A navigation was started.
    "Page.frameStartedNavigating" FrameStartedNavigating {
        /// The frame.
        frame_id: FrameId,
        /// Where to.
        url: String,
        /// The load.
        loader_id: LoaderId,
        /// `reload`, `sameDocument`, `differentDocument`, …
        navigation_type: String,
    }
    /// A page asked for a navigation.
    "Page.frameRequestedNavigation" FrameRequestedNavigation {
        /// The frame.
        frame_id: FrameId,
        /// Where to.
        url: String,
        /// Why: `anchorClick`, `formSubmissionGet`, `scriptInitiated`, …
        reason: String,
        /// Where it will open: `currentTab`, `newTab`, `newWindow`, `download`.
        disposition: String,
    }
    /// A step in the life of a document: `init`, `DOMContentLoaded`, `load`, `networkAlmostIdle`, `networkIdle`, …
    "Page.lifecycleEvent" LifecycleEvent {
        /// The frame.
        frame_id: FrameId,
        /// The load.
        loader_id: LoaderId,
        /// The step.
        name: String,
    }
    /// A dialog is open.
    "Page.javascriptDialogOpening" JavascriptDialogOpening {
        /// The URL of the frame that opened it.
        url: String,
        /// What it says.
        message: String,
        /// Its kind.
        r#type: DialogType,
        ;
        /// The text that a prompt proposes.
        default_prompt: String,
    }
    /// A dialog was closed.
    "Page.javascriptDialogClosed" JavascriptDialogClosed {
        /// Accepted or dismissed.
        result: bool,
    }
    /// A file chooser would open.
    "Page.fileChooserOpened" FileChooserOpened {
        /// The frame.
        frame_id: FrameId,
        /// `selectSingle` or `selectMultiple`.
        mode: String,
        ;
        /// The input.
        backend_node_id: i64,
    }
    /// A download begins in a frame. The event of the same name of the domain `Browser` goes to every client, whatever
    /// context it is about, and does not say which; this one goes to the page's.
    "Page.downloadWillBegin" DownloadWillBegin {
        /// The frame.
        frame_id: FrameId,
        /// The download.
        guid: String,
        /// Its URL.
        url: String,
        /// The name that the site proposes.
        suggested_filename: String,
    }
    /// A window is about to be opened by this page.
    "Page.windowOpen" WindowOpen {
        /// Where it starts.
        url: String,
        /// Whether a person's action caused it.
        user_gesture: bool,
    }
}

known!();
