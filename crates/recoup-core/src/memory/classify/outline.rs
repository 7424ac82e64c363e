//! Sentences of a prompt that a person wrote: without code, quotes, logs, machine-written and
//! pasted text.

use super::lines::{self, PromptLineKind};
use super::machine;
use super::sentences;

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
pub(super) fn head_and_tail(text: &str) -> (&str, &str) {
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

impl PromptOutline {
    /// Outlines a prompt that has nothing private in it.
    pub(super) fn of(text: &str) -> Self {
        // Before anything is cut: a tag may be closed far behind.
        let text = machine::without_machine_text(text);
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
                        header = header.filter(|_| self.covers_later_paragraphs(header));
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
                    for piece in sentences::split_sentences(line) {
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

    /// True if a header may be about all that follows.
    fn covers_later_paragraphs(&self, header: Option<(usize, bool)>) -> bool {
        header.is_some_and(|(at, _)| !self.units[at].is_item)
    }
}
