//! Formats the changes in a file, and nothing else of it: settings hold keys, addresses and prompts,
//! and what is shown ends up in logs and bug reports. The values of environment variables and headers
//! are hidden, too: they may be credentials.

use std::collections::HashSet;
use std::ops::Range;

use recoup_core::secrets;
use similar::{DiffOp, DiffTag, TextDiff};

use crate::install::{FileChange, mask_private_values};

/// Larger changes, in words, are not shown: comparing them would take long.
const MAX_WORDS: usize = 20_000;

/// Bytes around a change that are scanned for secrets. Some settings have tens of megabytes.
const CONTEXT_BYTES: usize = 1 << 16;

/// Formats a change like `diff -U0`, but of an existing line only the words that change; the rest
/// becomes an ellipsis.
pub(super) fn format_change(change: &FileChange, shown: &str) -> String {
    let name = |bytes: &Option<Vec<u8>>| match bytes {
        Some(_) => shown.to_owned(),
        None => "/dev/null".to_owned(),
    };
    let head = format!("--- {}\n+++ {}\n", name(&change.before), name(&change.after));
    let [before, after] = [&change.before, &change.after]
        .map(|bytes| String::from_utf8_lossy(bytes.as_deref().unwrap_or_default()));
    head + &diff_texts(&before, &after)
}

fn diff_texts(before: &str, after: &str) -> String {
    let [before, after] = [before, after].map(mask_private_values);
    let (old, new) = changed_ranges(&before, &after);
    // Both ranges start at the same offset.
    let line = before[..old.start].matches('\n').count();
    let [before, after] = [&before[old], &after[new]].map(secrets::redact);
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let diff = TextDiff::from_slices(&old, &new);
    let changed = diff.ops().iter().filter(|op| op.tag() != DiffTag::Equal);
    let hunk = |op: &DiffOp| {
        let (gone, come) = (old[op.old_range()].concat(), new[op.new_range()].concat());
        let (gone, come) = match op.tag() {
            DiffTag::Replace => diff_words(&gone, &come),
            _ => (gone, come),
        };
        let [left, right] = [op.old_range(), op.new_range()].map(|lines| {
            let at = lines.start + line;
            // `LINE,COUNT`, and the line alone for one.
            match lines.len() {
                0 => format!("{at},0"),
                1 => (at + 1).to_string(),
                count => format!("{},{count}", at + 1),
            }
        });
        let (gone, come) = (prefix_lines('-', &gone), prefix_lines('+', &come));
        format!("@@ -{left} +{right} @@\n{gone}{come}")
    };
    changed.map(hunk).collect()
}

/// Range of each text that differs, with context: whole lines, unless these are very long.
fn changed_ranges(before: &str, after: &str) -> (Range<usize>, Range<usize>) {
    let (old, new) = (before.as_bytes(), after.as_bytes());
    let (alike, ends) = common_ends(old, new);
    let is_newline = |byte: &u8| *byte == b'\n';
    // From the first line that begins within the context, or else from a character boundary.
    let from = match alike.saturating_sub(CONTEXT_BYTES) {
        0 => 0,
        at => {
            let line = old[at - 1..alike].iter().position(is_newline);
            line.map_or_else(|| before.floor_char_boundary(at), |line| at + line)
        }
    };
    // To the last line that ends within it. What follows `end` is the same in both texts.
    let (end, most) = (old.len() - ends, ends.min(CONTEXT_BYTES));
    let rest = if most == ends {
        most
    } else {
        let line = old[end..end + most].iter().rposition(is_newline);
        line.map_or_else(|| before.ceil_char_boundary(end + most) - end, |line| line + 1)
    };
    (from..end + rest, from..new.len() - ends + rest)
}

/// Lengths of the beginning and of the end that both have in common.
fn common_ends<T: PartialEq>(old: &[T], new: &[T]) -> (usize, usize) {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let most = old.len().min(new.len()) - start;
    let ends = old.iter().rev().zip(new.iter().rev()).take(most);
    (start, ends.take_while(|(old, new)| old == new).count())
}

fn prefix_lines(sign: char, text: &str) -> String {
    let line = |line: &str| format!("{sign}{}\n", line.trim_end_matches(['\r', '\n']));
    text.split_inclusive('\n').map(line).collect()
}

/// Removed and added words of changed lines.
fn diff_words(before: &str, after: &str) -> (String, String) {
    let (old, new) = (split_tokens(before), split_tokens(after));
    let (alike, ends) = common_ends(&old, &new);
    let (head, tail) = (old[..alike].concat(), old[old.len() - ends..].concat());
    let (old, new) = (&old[alike..old.len() - ends], &new[alike..new.len() - ends]);
    let (mut gone, mut come) = (String::new(), String::new());
    if old.len().max(new.len()) > MAX_WORDS {
        let size = |words: &[&str]| format!("({} characters)", words.concat().chars().count());
        (gone, come) = (size(old), size(new));
    } else {
        let [in_old, in_new] = [old, new]
            .map(|words| words.iter().filter_map(|word| quoted_text(word)).collect::<HashSet<_>>());
        for op in TextDiff::from_slices(old, new).ops() {
            let (left, right) = (op.old_range(), op.new_range());
            if op.tag() == DiffTag::Equal {
                gone += &elide_unchanged(&old[left].concat());
                come += &elide_unchanged(&new[right].concat());
            } else {
                gone += &join_unmoved(old, left, &in_new);
                come += &join_unmoved(new, right, &in_old);
            }
        }
    }
    let framed = |text: String| {
        if text.is_empty() {
            text
        } else {
            [elide_unchanged(&head), text, elide_unchanged(&tail)].concat()
        }
    };
    (framed(gone), framed(come))
}

/// Joins changed words, but hides quoted texts that occur on the other side, too: these only moved.
fn join_unmoved(words: &[&str], range: Range<usize>, other: &HashSet<&str>) -> String {
    let is_name = |at: usize| {
        let behind = words[at + 1..].iter().find(|word| !word.trim().is_empty());
        behind.is_some_and(|word| *word == ":" || *word == "=")
    };
    let is_moved =
        |at: usize| quoted_text(words[at]).is_some_and(|text| other.contains(text)) && !is_name(at);
    range.map(|at| if is_moved(at) { "\"…\"" } else { words[at] }).collect()
}

/// Text between quotes; none for other words.
fn quoted_text(word: &str) -> Option<&str> {
    let quote = word.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    word[1..].strip_suffix(quote)
}

/// Replaces unchanged text by an ellipsis, unless it is only brackets and blanks. A final newline
/// stays.
fn elide_unchanged(text: &str) -> String {
    if !text.contains(char::is_alphanumeric) {
        return text.to_owned();
    }
    let end = if text.ends_with('\n') { "\n" } else { "" };
    format!("…{end}")
}

/// Splits text into quoted strings, words and single characters.
fn split_tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // To the closing quote; only the first if the line ends before that.
            '"' | '\'' => {
                let mut escaped = false;
                let mut line = rest.char_indices().skip(1).take_while(|(_, c)| *c != '\n');
                let closing = line.find(|(_, c)| {
                    let closes = *c == first && !escaped;
                    escaped = *c == '\\' && !escaped && first == '"';
                    closes
                });
                closing.map_or(1, |(at, _)| at + 1)
            }
            c if is_word_char(c) => rest.find(|c| !is_word_char(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, more) = rest.split_at(length);
        found.push(word);
        rest = more;
    }
    found
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_line_that_was_there_only_what_is_new_is_shown() {
        let before = r#"{"mail":"a@b.c","history":["my secret plan"],"last":1}"#;
        let after = r#"{"mail":"a@b.c","history":["my secret plan"],"last":1,"mcpServers":{"recoup":{"command":"/r"}}}"#;
        assert_eq!(
            diff_texts(before, after),
            "@@ -1 +1 @@\n+…,\"mcpServers\":{\"recoup\":{\"command\":\"/r\"}}}\n"
        );
    }

    #[test]
    fn between_two_changes_nothing_is_shown() {
        let before = r#"{"a":"old","token":"Zx81","b":2}"#;
        let after = r#"{"a":"new","token":"Zx81","b":3}"#;
        assert_eq!(diff_texts(before, after), "@@ -1 +1 @@\n-…\"old\"…2}\n+…\"new\"…3}\n");
    }

    #[test]
    fn a_neighbour_of_what_goes_is_not_shown() {
        let own = r#"{"type":"command","command":"TOKEN=Zx81kQ recoup hook"}"#;
        let peer = r#"{"type":"command","command":"npx claude-mem hook","env":{"AUTH":"Yq92"}}"#;
        let list = |hooks: &[&str]| format!("{{\"Stop\":[{{\"hooks\":[{}]}}]}}", hooks.join(","));
        let shown = diff_texts(&list(&[peer, own]), &list(&[own]));
        assert!(shown.contains("npx claude-mem hook"), "{shown}");
        assert!(!shown.contains("Zx81kQ") && !shown.contains("Yq92"), "{shown}");
    }

    #[test]
    fn lines_around_it_are_not_shown() {
        let before = "{\n  \"a\": 1,\n  \"args\": [\"--token\", \"abc\"]\n}\n";
        let after = "{\n  \"a\": 1,\n  \"args\": [\"--token\", \"abc\"],\n  \"hooks\": {}\n}\n";
        assert_eq!(diff_texts(before, after), "@@ -3 +3,2 @@\n+…,\n+  \"hooks\": {}\n");
    }

    #[test]
    fn far_into_a_large_text_line_numbers_and_lines_are_whole() {
        for (line, lines) in [("é \"a\": 1,\n", 30_000), ("ééé", 200_000)] {
            let much = line.repeat(lines);
            let number = much.matches('\n').count() + 1;
            let (before, after) = (format!("{much}x\n{much}"), format!("{much}x, y\n{much}"));
            let expected = format!("@@ -{number} +{number} @@\n+…, y\n");
            assert_eq!(diff_texts(&before, &after), expected);
        }
    }

    #[test]
    fn a_secret_around_a_change_is_known() {
        let key = ["-----BEGIN RSA PRIVATE KEY-----\n", "MIIEowIBAAKCAQEA\n"].concat();
        let key = key + &"Zq7vXw2Lr9Tk4Ns6Bf8Hd1Jm3Pc5Gy0W\n".repeat(40);
        let (before, end) = (format!("{key}AAAA\n"), "-----END RSA PRIVATE KEY-----\n");
        let shown = diff_texts(&format!("{before}{end}"), &format!("{before}BBBB\n{end}"));
        assert!(!shown.contains("BBBB"), "{shown}");
    }

    #[test]
    fn what_says_nothing_stays_readable() {
        assert_eq!(
            diff_texts("{}\n", "{\n  \"hooks\": {}\n}\n"),
            "@@ -1 +1,3 @@\n+{\n+  \"hooks\": {}\n+}\n"
        );
        assert_eq!(diff_texts("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
    }
}
