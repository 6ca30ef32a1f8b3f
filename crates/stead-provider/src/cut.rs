//! Cuts long texts of providers, in a way that the search for secrets copes with.
//!
//! A part of a secret is not found. **Invariants:** a message is searched before it is cut; a log whose middle a provider does not have
//! is cut between lines, so that the long lines of a secret are whole, and is searched for them.

/// Most lines and bytes of the end of a message that are shown.
const SHOWN_LINES: usize = 20;
const SHOWN_BYTES: usize = 8 << 10;

const MARK: (&str, &str) = ("[stead left out ", " bytes]");

/// Returns a log of which only the beginning and the end were kept. Both are cut between lines: a line that was not kept whole is
/// left out, however long it is. A line tells the number of bytes that are missing.
pub fn cut_log(first: &[u8], last: &[u8], total: u64) -> String {
    let (first, last) = (whole_lines_of_beginning(first), whole_lines_of_end(last));
    let missing = total.saturating_sub((first.len() + last.len()) as u64);
    format!("{}{}\n{}", String::from_utf8_lossy(first), mark(missing), String::from_utf8_lossy(last))
}

/// Returns the end of a log from its first whole line on.
pub fn whole_lines_of_end(last: &[u8]) -> &[u8] {
    let end_of_line = last.iter().position(|byte| is_line_end(*byte));
    end_of_line.map_or(&[], |at| &last[at + 1..])
}

fn whole_lines_of_beginning(first: &[u8]) -> &[u8] {
    let end_of_line = first.iter().rposition(|byte| is_line_end(*byte));
    end_of_line.map_or(&[], |at| &first[..=at])
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns true if a part of the text was left out, so that it may contain a part of a secret.
pub(crate) fn is_cut(text: &str) -> bool {
    text.contains(MARK.0)
}

/// Returns the part of a message that is kept and shown: its first line and its end. Only a message that was searched for secrets is
/// cut, because no search finds a part of one.
pub(crate) fn shortened(message: String) -> String {
    let (head, rest) = message.split_once('\n').unwrap_or((&message, ""));
    let kept = last_lines(rest);
    if head.len() <= SHOWN_BYTES && kept.len() == rest.len() {
        return message;
    }
    let head_end = head.floor_char_boundary(SHOWN_BYTES);
    let missing = message.len() - usize::from(!rest.is_empty()) - head_end - kept.len();
    let head = &head[..head_end];
    format!("{head}\n{}{}{kept}", mark(missing as u64), if kept.is_empty() { "" } else { "\n" })
}

/// Returns the last lines of a text. Of a very long line, the end.
fn last_lines(text: &str) -> &str {
    let ends = text.trim_end().rmatch_indices('\n').nth(SHOWN_LINES - 1);
    let lines = ends.map_or(text, |(at, _)| &text[at + 1..]);
    &lines[lines.ceil_char_boundary(lines.len().saturating_sub(SHOWN_BYTES))..]
}

fn mark(bytes: u64) -> String {
    format!("{}{bytes}{}", MARK.0, MARK.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_message_keeps_its_first_line_and_its_last_twenty() {
        let lines = |from: u32| (from..=30).map(|line| format!("\nline {line}")).collect::<String>();
        let short = format!("failed:{}", lines(11));
        assert_eq!(shortened(short.clone()), short);
        assert_eq!(
            shortened(format!("failed:{}", lines(1))),
            format!("failed:\n[stead left out 71 bytes]{}", lines(11))
        );
        let long = shortened(format!("failed:\n{}", "é".repeat(100_000)));
        assert!(
            long.starts_with("failed:\n[stead left out 191808 bytes]\né") && long.len() < SHOWN_BYTES + 64
        );
        let wide = shortened("é".repeat(100_000));
        assert!(wide.ends_with("é\n[stead left out 191808 bytes]") && is_cut(&wide));
    }

    #[test]
    fn log_is_cut_between_lines_and_says_so() {
        let log = cut_log(b"one\ntwo\nthr", b"ix\nseven\n", 40);
        assert_eq!(log, "one\ntwo\n[stead left out 26 bytes]\nseven\n");
        assert!(is_cut(&log) && !is_cut("one\ntwo\n"));
        assert_eq!(cut_log(b"one long line", b" that never ends", 4000), "[stead left out 4000 bytes]\n");
    }
}
