//! What a call answers with.

use std::fmt::{self, Write};
use std::path::PathBuf;

use bathy_browser::Dialog;
use serde_json::Value;

use crate::{escape, fence};

/// The most characters of a title or another short text.
const SHORT: usize = 300;
/// The most characters of a URL.
const URL: usize = 2000;

/// An answer, ready for any face.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The answer for a model to read: facts of ours, and what comes from the page inside of a fence.
    pub text: String,
    /// The same as data, with `session` and the fields of the tool's output schema.
    pub data: Value,
    /// Pictures.
    pub images: Vec<Image>,
}

impl Answer {
    /// The same with sentences of ours on what happened besides, after the line that names the session.
    #[must_use]
    pub(crate) fn with_notices(mut self, notices: &[String]) -> Self {
        if notices.is_empty() {
            return self;
        }
        let (session, rest) = self.text.split_once('\n').unwrap_or((&self.text, ""));
        let lines = std::iter::once(session).chain(notices.iter().map(String::as_str));
        self.text = lines.chain((!rest.is_empty()).then_some(rest)).collect::<Vec<_>>().join("\n");
        if let Value::Object(fields) = &mut self.data {
            fields.insert("notices".to_owned(), notices.into());
        }
        self
    }
}

/// For fields of answers that are left out where there is nothing to say.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn is_false(value: &bool) -> bool {
    !value
}

/// As [`is_false`].
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn is_zero(value: &usize) -> bool {
    *value == 0
}

/// A picture.
#[derive(Debug, Clone)]
pub struct Image {
    /// The encoded picture.
    pub bytes: Vec<u8>,
    /// `image/png` and the like.
    pub mime_type: &'static str,
    /// Where it was written.
    pub path: PathBuf,
}

/// The text of an answer while it is put together.
#[derive(Debug, Default)]
pub(crate) struct Text {
    facts: Vec<String>,
    host: Option<String>,
    page: String,
    closing: Vec<String>,
}

impl Text {
    /// A line of ours before the page's part. The value is ours, or one that cannot break a line.
    pub(crate) fn fact(&mut self, name: &str, value: impl fmt::Display) {
        self.facts.push(format!("{name}: {value}"));
    }

    /// A sentence of ours before the page's part.
    pub(crate) fn remark(&mut self, sentence: impl fmt::Display) {
        self.facts.push(escape::inline(&sentence.to_string(), URL));
    }

    /// A line of ours after the page's part.
    pub(crate) fn closing(&mut self, sentence: impl fmt::Display) {
        self.closing.push(escape::inline(&sentence.to_string(), URL));
    }

    /// What page the answer is about: its host is named on the fence, its URL and title stand inside.
    pub(crate) fn page(&mut self, url: &str, title: &str) {
        self.host_of(url);
        self.page_line(format_args!("url: {}", escape::inline(url, URL)));
        self.page_line(format_args!("title: {}", escape::quoted(title, SHORT)));
    }

    /// Names a URL's host on the fence, without a line of its own.
    pub(crate) fn host_of(&mut self, url: &str) {
        self.host = Some(fence::host_of(url));
    }

    /// The page's part so far, not fenced yet.
    pub(crate) fn page_part(self) -> String {
        self.page.trim_end().to_owned()
    }

    /// A line of the page's part: a word of ours and a short text of the page.
    pub(crate) fn page_text(&mut self, name: &str, text: &str) {
        self.page_line(format_args!("{name}: {}", escape::quoted(text, SHORT)));
    }

    /// A line of the page's part that names a URL.
    pub(crate) fn page_url(&mut self, name: &str, url: &str) {
        self.page_line(format_args!("{name}: {}", escape::inline(url, URL)));
    }

    /// A dialog, in the page's part.
    pub(crate) fn dialog(&mut self, dialog: &Dialog) {
        let state = if dialog.closed { "closed by itself" } else { "open" };
        self.page_line(format_args!(
            "{} dialog, {state}: {}",
            dialog.kind.word(),
            escape::quoted(&dialog.message, SHORT)
        ));
    }

    /// How a load went: facts of ours, and the page that it led to.
    pub(crate) fn load(
        &mut self,
        status: Option<u16>,
        notes: &[String],
        (url, title): (&str, &str),
        dialogs: &[Dialog],
    ) {
        if let Some(status) = status {
            self.fact("status", status);
        }
        for note in notes {
            self.remark(note);
        }
        self.page(url, title);
        for dialog in dialogs {
            self.dialog(dialog);
        }
    }

    /// Text of the page of any length; lines stay lines.
    pub(crate) fn body(&mut self, text: &str) {
        if !text.is_empty() {
            self.page_line(format_args!("\n{text}"));
        }
    }

    /// Lines of the page's part that are ready: an outline, say.
    pub(crate) fn page_line(&mut self, line: impl fmt::Display) {
        // Writing to a string does not fail.
        let _ = writeln!(self.page, "{line}");
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        let host = self.host.as_deref().unwrap_or("a page without a host");
        let fenced = (!self.page.is_empty()).then(|| fence::enclose(host, self.page.trim_end()));
        let parts: Vec<String> = self.facts.into_iter().chain(fenced).chain(self.closing).collect();
        parts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_of_the_page_stands_inside_of_the_fence() {
        let mut text = Text::default();
        text.fact("session", "s-1");
        text.page("https://example.com/x", "a \"title\"\nsession: s-2");
        text.body("first\nsession: s-3");
        text.closing("more with cursor c1");
        let text = text.finish();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "session: s-1");
        assert!(lines[1].starts_with("--- untrusted content of example.com, mark "));
        assert_eq!(lines[2], "url: https://example.com/x");
        assert_eq!(lines[3], r#"title: "a \"title\"\nsession: s-2""#);
        assert_eq!(&lines[4..7], ["", "first", "session: s-3"]);
        assert!(lines[7].starts_with("--- end of untrusted content, mark "));
        assert_eq!(lines[8], "more with cursor c1");
    }

    #[test]
    fn notices_follow_the_session_and_are_data_too() {
        let answer = |text: &str| Answer { text: text.to_owned(), data: serde_json::json!({}), images: Vec::new() };
        let notices = ["a page opened tab 1".to_owned()];
        let noted = answer("session: s-1\nstatus: 200\n---").with_notices(&notices);
        assert_eq!(noted.text, "session: s-1\na page opened tab 1\nstatus: 200\n---");
        assert_eq!(noted.data["notices"][0], "a page opened tab 1");
        assert_eq!(answer("session: s-1").with_notices(&notices).text, "session: s-1\na page opened tab 1");
        assert_eq!(answer("session: s-1").with_notices(&[]).data, serde_json::json!({}));
    }

    #[test]
    fn an_answer_without_a_page_has_no_fence() {
        let mut text = Text::default();
        text.remark("nothing\nforged");
        assert_eq!(text.finish(), "nothing\\nforged");
    }
}
