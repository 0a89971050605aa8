use std::collections::VecDeque;

const LINES: usize = 30;
const LINE_BYTES: usize = 400;

/// The last lines of what a program wrote, bounded and safe to print.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    lines: VecDeque<String>,
    open: Vec<u8>,
    cut: bool,
}

impl Tail {
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line();
            } else if self.open.len() < LINE_BYTES {
                self.open.push(byte);
            } else {
                self.cut = true;
            }
        }
    }

    pub(crate) fn into_lines(mut self) -> Vec<String> {
        self.end_line();
        self.lines.into()
    }

    fn end_line(&mut self) {
        let mut line = escaped(&String::from_utf8_lossy(&self.open));
        if std::mem::take(&mut self.cut) {
            line.push('…');
        }
        self.open.clear();
        if line.is_empty() {
            return;
        }
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }
}

/// Pages can make Chromium log what they like; nothing of it may steer a terminal or pose as a line of ours.
fn escaped(line: &str) -> String {
    let mut result = String::with_capacity(line.len());
    for letter in line.trim_end().chars() {
        match letter {
            '"' | '\'' | '\\' => result.push(letter),
            _ => result.extend(letter.escape_debug()),
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_stay() {
        let mut tail = Tail::default();
        for number in 0..1000 {
            tail.push(format!("line {number}\n").as_bytes());
        }
        let lines = tail.into_lines();
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines.last().map(String::as_str), Some("line 999"));
    }

    #[test]
    fn a_line_without_end_takes_bounded_room() {
        let mut tail = Tail::default();
        for _ in 0..1000 {
            tail.push(&[b'a'; 1000]);
        }
        assert_eq!(tail.into_lines(), [format!("{}…", "a".repeat(LINE_BYTES))]);
    }

    #[test]
    fn control_and_bidirectional_letters_are_spelled_out() {
        let mut tail = Tail::default();
        tail.push("\u{1b}[2J \u{202e}it's \"fine\"\r\n".as_bytes());
        assert_eq!(tail.into_lines(), ["\\u{1b}[2J \\u{202e}it's \"fine\""]);
    }
}
