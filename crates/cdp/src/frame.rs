//! NUL-terminated JSON messages, as `--remote-debugging-pipe` frames them.

use std::borrow::Cow;
use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The largest message that is accepted: a screenshot of a tall page is some tens of megabytes.
const LARGEST_MESSAGE: usize = 256 * 1024 * 1024;
/// How much is asked of the pipe at once.
const READ_SIZE: usize = 256 * 1024;
/// A buffer that held a huge message is given back once it is done with.
const KEPT_CAPACITY: usize = 4 * 1024 * 1024;

/// Splits a byte stream into messages.
pub(crate) struct FrameReader<R> {
    reader: R,
    buffer: Vec<u8>,
    /// Bytes at the front of `buffer` that belong to the message handed out last.
    consumed: usize,
    /// Bytes of `buffer` already searched for the end of a message.
    searched: usize,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::with_capacity(READ_SIZE), consumed: 0, searched: 0 }
    }

    /// The next message without its terminator, or `None` at the end of the stream.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Cow<'_, [u8]>>> {
        if self.consumed > 0 {
            self.buffer.drain(..self.consumed);
            self.consumed = 0;
            self.searched = 0;
            if self.buffer.capacity() > KEPT_CAPACITY && self.buffer.len() < READ_SIZE {
                self.buffer.shrink_to(READ_SIZE);
            }
        }
        loop {
            if let Some(position) = memchr::memchr(0, &self.buffer[self.searched..]) {
                let end = self.searched + position;
                self.consumed = end + 1;
                return Ok(Some(replace_lone_surrogates(&self.buffer[..end])));
            }
            self.searched = self.buffer.len();
            if self.searched > LARGEST_MESSAGE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "message is over 256 MiB"));
            }
            self.buffer.reserve(READ_SIZE);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        }
    }
}

/// Replaces `\uXXXX` escapes of surrogates that stand alone by `\ufffd`.
///
/// JavaScript strings may hold halves of surrogate pairs and the browser passes them on, but no
/// Rust string can hold them: without this, a page could break every answer that quotes it.
fn replace_lone_surrogates(message: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired: Option<Vec<u8>> = None;
    let mut position = 0;
    while let Some(offset) = memchr::memchr(b'\\', &message[position..]) {
        let at = position + offset;
        match surrogate(message, at) {
            Some(Half::High) if surrogate(message, at + 6) == Some(Half::Low) => position = at + 12,
            Some(_) => {
                let repaired = repaired.get_or_insert_with(|| message.to_vec());
                repaired[at + 2..at + 6].copy_from_slice(b"fffd");
                position = at + 6;
            }
            None => position = (at + 2).min(message.len()),
        }
    }
    repaired.map_or(Cow::Borrowed(message), Cow::Owned)
}

#[derive(PartialEq)]
enum Half {
    High,
    Low,
}

/// Which half of a pair the escape at `at` stands for, if it is one.
fn surrogate(message: &[u8], at: usize) -> Option<Half> {
    let escape = message.get(at..at + 6)?;
    if !escape.starts_with(b"\\u") || !matches!(escape[2], b'd' | b'D') {
        return None;
    }
    match escape[3].to_ascii_lowercase() {
        b'8' | b'9' | b'a' | b'b' => Some(Half::High),
        b'c'..=b'f' => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut reader = FrameReader::new(bytes);
        let mut messages = Vec::new();
        while let Some(message) = reader.next().await.unwrap() {
            messages.push(message.into_owned());
        }
        messages
    }

    #[tokio::test]
    async fn messages_are_split_at_nul_and_a_torn_last_one_is_dropped() {
        assert_eq!(messages(b"{}\0{\"a\":1}\0{\"torn").await, [b"{}".to_vec(), b"{\"a\":1}".to_vec()]);
    }

    #[test]
    fn lone_surrogates_become_replacement_characters_and_pairs_stay() {
        for (given, expected) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\\ud83d""#, r#""\\ud83d""#),
            (r#""\uDBFFx\n""#, r#""\ufffdx\n""#),
            (r#""\ud83"#, r#""\ud83"#),
        ] {
            assert_eq!(replace_lone_surrogates(given.as_bytes()), expected.as_bytes(), "{given}");
        }
    }
}
