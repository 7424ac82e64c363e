//! Lessons: the tokens of a prompt with their labels.

use std::ops::Range;

use recoup_core::memory::capture::tagger;
use recoup_core::memory::capture::tagger::concept_table::ConceptTable;
use recoup_core::memory::capture::tagger::tokens::PromptTokens;

use super::LabelledPrompt;

/// The tokens of a prompt, and what the network should say of them.
pub(crate) struct PromptLesson {
    pub(crate) tokens: PromptTokens,
    pub(crate) spans: Vec<SpanLabel>,
    /// Something is kept, asked again, something is taken back.
    pub(crate) prompt: [bool; 3],
}

/// A marked span of tokens.
pub(crate) struct SpanLabel {
    pub(crate) tokens: Range<usize>,
    pub(crate) kind: usize,
    pub(crate) flags: [bool; 3],
}

impl PromptLesson {
    pub(crate) fn of(prompt: &LabelledPrompt, concepts: &ConceptTable<'_>) -> Self {
        let tokens = tagger::read_tokens(&prompt.text, concepts);
        let spans = prompt.marks.iter().filter_map(|mark| {
            let touches = |at: &usize| {
                let span = &tokens.tokens[*at].span;
                span.start < mark.span.end && span.end > mark.span.start
            };
            let from = (0..tokens.tokens.len()).find(touches)?;
            let to = (from..tokens.tokens.len()).take_while(|at| touches(at)).last()? + 1;
            Some(SpanLabel { tokens: from..to, kind: mark.kind, flags: mark.flags })
        });
        let spans = spans.collect();
        Self { spans, prompt: [prompt.is_kept(), prompt.re_ask, prompt.is_retraction()], tokens }
    }
}
