//! Domain `Input`: trusted input.

use super::Nothing;
use super::macros::{commands, events, known, objects, words};

words! {
    /// A kind of key event.
    KeyEventType {
        /// Pressed, and its text typed.
        KeyDown = "keyDown",
        /// Released.
        KeyUp = "keyUp",
        /// Pressed, without text.
        RawKeyDown = "rawKeyDown",
        /// Text alone.
        Char = "char",
    }
    /// A kind of mouse event.
    MouseEventType {
        /// A button goes down.
        MousePressed = "mousePressed",
        /// A button goes up.
        MouseReleased = "mouseReleased",
        /// The pointer moves.
        MouseMoved = "mouseMoved",
        /// The wheel turns.
        MouseWheel = "mouseWheel",
    }
    /// A mouse button.
    MouseButton {
        /// None.
        None = "none",
        /// The first.
        Left = "left",
        /// The wheel.
        Middle = "middle",
        /// The second.
        Right = "right",
    }
    /// A step of a drag.
    DragEventType {
        /// Over a target for the first time.
        DragEnter = "dragEnter",
        /// Moves over it.
        DragOver = "dragOver",
        /// Let go.
        Drop = "drop",
        /// Given up.
        DragCancel = "dragCancel",
    }
}

objects! {
    /// An item that is dragged.
    DragDataItem {
        /// Its type.
        mime_type: String,
        /// Its data.
        data: String,
        ;
        /// For links.
        title: String,
        /// For markup.
        #[serde(rename = "baseURL")]
        base_u_r_l: String,
    }
    /// What is dragged.
    DragData {
        /// The items.
        items: Vec<DragDataItem>,
        /// Bits: 1 copy, 2 link, 16 move.
        drag_operations_mask: i64,
        ;
        /// Names of dragged files.
        files: Vec<String>,
    }
}

commands! {
    /// A key.
    "Input.dispatchKeyEvent" DispatchKeyEvent {
        /// Its kind.
        r#type: KeyEventType,
        ;
        /// Bits: 1 Alt, 2 Control, 4 Meta, 8 Shift.
        modifiers: u32,
        /// What is typed.
        text: String,
        /// What would be typed without modifiers.
        unmodified_text: String,
        /// `KeyboardEvent.code`.
        code: String,
        /// `KeyboardEvent.key`.
        key: String,
        /// `KeyboardEvent.keyCode`.
        windows_virtual_key_code: u32,
        /// Whether it repeats.
        auto_repeat: bool,
        /// Whether it is of the number pad.
        is_keypad: bool,
        /// `KeyboardEvent.location`.
        location: u32,
        /// Editing commands that the key stands for, such as `selectAll`.
        commands: Vec<String>,
    } -> Nothing;
    /// Text that does not come from keys, as from an input method.
    "Input.insertText" InsertText {
        /// The text.
        text: String,
    } -> Nothing;
    /// The mouse.
    "Input.dispatchMouseEvent" DispatchMouseEvent {
        /// Its kind.
        r#type: MouseEventType,
        /// CSS pixels from the left edge of the main frame's viewport.
        x: f64,
        /// CSS pixels from its top edge.
        y: f64,
        ;
        /// Bits: 1 Alt, 2 Control, 4 Meta, 8 Shift.
        modifiers: u32,
        /// The button.
        button: MouseButton,
        /// Bits of the buttons that are down: 1 left, 2 right, 4 middle.
        buttons: u32,
        /// How often it was clicked in a row.
        click_count: u32,
        /// Wheel, to the right.
        delta_x: f64,
        /// Wheel, downwards.
        delta_y: f64,
    } -> Nothing;
    /// Reports drags instead of carrying them out.
    "Input.setInterceptDrags" SetInterceptDrags {
        /// On or off.
        enabled: bool,
    } -> Nothing;
    /// A step of a drag.
    "Input.dispatchDragEvent" DispatchDragEvent {
        /// The step.
        r#type: DragEventType,
        /// CSS pixels from the left edge of the main frame's viewport.
        x: f64,
        /// CSS pixels from its top edge.
        y: f64,
        /// What is dragged.
        data: DragData,
        ;
        /// Bits: 1 Alt, 2 Control, 4 Meta, 8 Shift.
        modifiers: u32,
    } -> Nothing;
}

events! {
    /// A drag was started while drags are intercepted.
    "Input.dragIntercepted" DragIntercepted {
        /// What is dragged.
        data: DragData,
    }
}

known!();
