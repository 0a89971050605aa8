//! Domain `IO`: streams of bytes.

use super::macros::{commands, known, objects};
use super::{Nothing, StreamHandle};

objects! {
    /// The answer to [`Read`].
    Piece {
        /// The bytes.
        data: String,
        /// Whether this is the end.
        eof: bool,
        ;
        /// Whether `data` is base64.
        base64_encoded: bool,
    }
}

commands! {
    /// The next bytes of a stream.
    "IO.read" Read {
        /// The stream.
        handle: StreamHandle,
        ;
        /// The most bytes to read.
        size: u32,
    } -> Piece;
    /// Lets go of a stream.
    "IO.close" Close {
        /// The stream.
        handle: StreamHandle,
    } -> Nothing;
}

const EVENTS: &[(&str, &[&str])] = &[];

known!();
