//! Sentences of a prompt that a person wrote: without code, quotes, logs, machine-written and pasted
//! text. A line of prose is split into its sentences, and so is a request that hangs on one by a
//! comma.

use std::borrow::Cow;

use crate::memory::capture::lines;
use crate::memory::capture::lines::PromptLineKind;
use crate::memory::guard::wrapped::without_wrapped;
use crate::secrets;

/// Longest prompt that is read whole; of longer ones only the beginning and the end are.
const WHOLE: usize = 12_000;
const BEGINNING: usize = 6_000;
const END: usize = 3_000;
/// Most sentences that are read.
const MOST_UNITS: usize = 80;

/// One sentence, or part of one, as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PromptSentence {
    /// Text of the sentence.
    pub(super) text: String,
    /// True for an item of a list.
    pub(super) is_item: bool,
    /// Index of the header above it, a sentence that ends in a colon.
    pub(super) header: Option<usize>,
    /// Number of the paragraph in which it stands.
    pub(super) paragraph: usize,
}

/// Sentences of a prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PromptOutline {
    /// Sentences in the order in which they were written.
    pub(super) units: Vec<PromptSentence>,
    /// True if something was left out.
    pub(super) pasted: bool,
}

/// The beginning and the end of a long text, cut at lines or words.
fn head_and_tail(text: &str) -> (&str, &str) {
    if text.len() <= WHOLE {
        return (text, "");
    }
    let mut head = BEGINNING;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - END;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    let head = &text[..head];
    let tail = &text[tail..];
    // A piece of a line is neither code nor prose.
    let head = head.rfind('\n').map_or("", |at| &head[..at]);
    let tail = tail.find('\n').map_or("", |at| &tail[at + 1..]);
    (head, tail)
}

/// Text of a prompt that the tagger reads: without machine text, and of a long one the beginning
/// and the end.
pub(super) fn readable_text(text: &str) -> String {
    let text = without_machine_text(text);
    let (head, tail) = head_and_tail(&text);
    if tail.is_empty() { head.to_owned() } else { [head, "\n\n", tail].concat() }
}

impl PromptOutline {
    /// Outlines a prompt that has nothing private in it.
    pub(super) fn of(text: &str) -> Self {
        // Before anything is cut: a tag may be closed far behind.
        let text = without_machine_text(text);
        let (head, tail) = head_and_tail(&text);
        let mut outline = Self::default();
        outline.add_text(head);
        if !tail.is_empty() {
            outline.pasted = true;
            outline.add_text(tail);
        }
        outline.units.truncate(MOST_UNITS);
        outline
    }

    fn add_text(&mut self, text: &str) {
        let read = lines::classify_lines(text);
        let mut paragraph = self.units.last().map_or(0, |unit| unit.paragraph + 1);
        let mut header: Option<(usize, bool)> = None;
        for (line, kind) in read {
            match kind {
                PromptLineKind::Blank => {
                    paragraph += 1;
                    // A header stays above later paragraphs after a blank line: something was
                    // pasted.
                    if let Some((_, followed)) = &mut header
                        && *followed
                    {
                        header = header.filter(|(at, _)| !self.units[*at].is_item);
                    }
                }
                PromptLineKind::Foreign => self.pasted = true,
                PromptLineKind::Code => {
                    self.pasted = true;
                    // The header announced this.
                    header = None;
                }
                PromptLineKind::Prose | PromptLineKind::Item => {
                    let is_item = kind == PromptLineKind::Item;
                    let above = header.map(|(at, _)| at);
                    for piece in split_sentences(line) {
                        self.units.push(PromptSentence {
                            text: piece,
                            is_item,
                            header: above,
                            paragraph,
                        });
                    }
                    if let Some((_, followed)) = &mut header {
                        *followed = true;
                    }
                    if line.trim_end().ends_with([':', '：']) && !self.units.is_empty() {
                        header = Some((self.units.len() - 1, false));
                    }
                }
            }
        }
    }
}

/// Abbreviations whose dot ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "z.b", "d.h", "u.a", "bzw", "usw", "p.ej", "ej", "p.ex", "ex",
    "es", "approx", "no", "nr", "fig", "resp", "incl", "ca", "dr", "mr", "ms", "st",
];

/// Beginnings of a request or a question behind a comma, a dash or "and".
const REQUESTS: &[&str] = &[
    "can you ",
    "could you ",
    "can u ",
    "would you ",
    "will you ",
    "please fix",
    "please redo",
    "please change",
    "please move",
    "please update",
    "please revert",
    "so please fix",
    "so fix ",
    "so can you",
    "so could you",
    "now can you",
    "now please",
    "now fix ",
    "now why ",
    "now how ",
    "now let",
    "now write ",
    "now add ",
    "now make ",
    "fix it",
    "fix that",
    "fix this",
    "redo it",
    "redo that",
    "redo this",
    "move it",
    "move them",
    "revert it",
    "revert that",
    "change it back",
    "undo that",
    "undo it",
    "try again",
    "do it again",
    "why did you",
    "why do you",
    "why are you",
    "how do i ",
    "how can i",
    "how do we",
    "what should",
    "is there ",
    "kannst du",
    "könntest du",
    "peux-tu",
    "tu peux ",
    "puedes ",
    "podrías ",
    "você pode",
    "pode ",
    "puoi ",
    "potresti ",
    "by the way ",
    "by the way, ",
    "btw ",
    "btw, ",
];

/// Returns the sentences of a line, trimmed; none is empty.
fn split_sentences(line: &str) -> Vec<String> {
    let line = without_list_mark(line);
    let mut pieces = Vec::new();
    let mut from = 0;
    let mut code = false;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '`' => code = !code && line[at + 1..].contains('`'),
            _ if code => {}
            '。' | '！' | '？' | '；' => {
                push_sentence(&mut pieces, &line[from..at + c.len_utf8()]);
                from = at + c.len_utf8();
            }
            '.' | '!' | '?' | '…' => {
                let ends =
                    chars.peek().is_none_or(|(_, next)| next.is_whitespace() || *next > '\u{2fff}');
                if ends && !(c == '.' && is_abbreviated(&line[from..at])) {
                    push_sentence(&mut pieces, &line[from..at + c.len_utf8()]);
                    from = at + c.len_utf8();
                }
            }
            // "…; it breaks CI": a reason is no part of the rule.
            ';' if ["it ", "it's ", "that ", "that's ", "this "]
                .iter()
                .any(|it| line[at + 1..].trim_start().starts_with(it)) =>
            {
                push_sentence(&mut pieces, &line[from..at]);
                from = at + 1;
            }
            ',' | '-' | '–' | '—' | '(' | '，' => {
                let behind = line[at + c.len_utf8()..].trim_start_matches(['-', '–', '—', ' ']);
                let apart = c != '-' || line[..at].ends_with(' ');
                if apart && at > from && begins_request(behind) {
                    push_sentence(&mut pieces, &line[from..at]);
                    from = line.len() - behind.len();
                }
            }
            ' ' => {
                let behind = &line[at + 1..];
                let joined = ["and ", "so ", "but ", "und ", "et ", "y ", "e "]
                    .iter()
                    .find_map(|it| behind.strip_prefix(it));
                if joined.is_some_and(begins_request) && at > from {
                    push_sentence(&mut pieces, &line[from..at]);
                    from = at + 1;
                }
            }
            _ => {}
        }
        while chars.peek().is_some_and(|(next, _)| *next < from) {
            chars.next();
        }
    }
    push_sentence(&mut pieces, &line[from..]);
    pieces
}

fn begins_request(text: &str) -> bool {
    REQUESTS
        .iter()
        .any(|it| text.get(..it.len()).is_some_and(|start| start.eq_ignore_ascii_case(it)))
}

fn push_sentence(pieces: &mut Vec<String>, piece: &str) {
    let piece = piece.trim().trim_end_matches([',', ';', '—', '–']).trim_end();
    if piece.chars().any(char::is_alphanumeric) {
        pieces.push(piece.to_owned());
    } else if let Some(last) = pieces.last_mut().filter(|_| piece.contains(['?', '？'])) {
        // "what ! ?" is a question.
        last.push('?');
    }
}

/// Returns a line without the mark of a list item or a title.
fn without_list_mark(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('#').trim_start();
    for mark in ["- [ ] ", "- [x] ", "- ", "* ", "• ", "– "] {
        if let Some(rest) = line.strip_prefix(mark) {
            return rest.trim_start();
        }
    }
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = (1..=2).contains(&digits).then(|| &line[digits..]);
    numbered
        .and_then(|rest| rest.strip_prefix(['.', ')']))
        .filter(|rest| rest.starts_with(' '))
        .map_or(line, str::trim_start)
}

fn is_abbreviated(before: &str) -> bool {
    let word = before.rsplit([' ', '(', ',']).next().unwrap_or("").to_lowercase();
    ABBREVIATIONS.contains(&word.as_str())
        || (word.len() == 1 && word.chars().all(char::is_alphabetic))
        || before.ends_with('.')
        || (!word.is_empty()
            && word.len() <= 2
            && word.bytes().all(|b| b.is_ascii_digit())
            && before.trim_start().len() == word.len())
}

/// Beginnings of notices that fill a line.
const NOTICES: &[&str] = &[
    "[request interrupted",
    "[pasted text",
    "[image",
    "[tool ",
    "[system",
    "caveat: the messages below",
    "this session is being continued",
    "api error",
    "stop hook",
    "human:",
    "assistant:",
    "<<autonomous",
];

/// Notices after which everything is a program's.
const TO_THE_END: &[&str] = &["this session is being continued", "caveat: the messages below"];

/// Returns the text without wrapped text and without notices.
fn without_machine_text(text: &str) -> Cow<'_, str> {
    let tagless = without_wrapped(text);
    let has_notice = |line: &str| NOTICES.iter().any(|notice| begins(line.trim_start(), notice));
    if !tagless.contains('[') && !tagless.lines().any(has_notice) {
        return tagless;
    }
    let mut kept = String::with_capacity(tagless.len());
    for line in tagless.split_inclusive('\n') {
        let plain = line.trim_start();
        if TO_THE_END.iter().any(|notice| begins(plain, notice)) {
            break;
        }
        if !NOTICES.iter().any(|notice| begins(plain, notice)) {
            kept.push_str(line);
            continue;
        }
        // Text behind a marker in brackets was typed by a person.
        if let Some(end) = plain.find(']').filter(|_| plain.starts_with('[')) {
            kept.push_str(&plain[end + 1..]);
        }
    }
    Cow::Owned(kept)
}

fn begins(line: &str, notice: &str) -> bool {
    line.get(..notice.len()).is_some_and(|start| start.eq_ignore_ascii_case(notice))
}

/// Returns the rule by which a prompt has a secret. Of a long prompt the beginning and the end are
/// searched: nothing else is ever kept.
pub(super) fn detect_secret(prompt: &str) -> Option<&'static str> {
    let (head, tail) = head_and_tail(prompt);
    [head, tail].into_iter().find_map(|part| secrets::detect_secret(part.as_bytes()))
}
