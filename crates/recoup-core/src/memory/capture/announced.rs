//! Announced lists: "remember the following:", "from now on:", "our conventions:". Each item below
//! a request to remember counts as a statement.

use crate::memory::capture::features::TokenizedPrompt;
use crate::memory::capture::outline::PromptOutline;
use crate::memory::capture::tokens::SentenceToken;
use crate::memory::capture::{MAYBE, SURE};
use crate::memory::lang::word_lists::is_one_of;

/// Words that ask to keep all that follows, at the beginning of a line.
const KEEPS: &[&str] = &[
    "remember",
    "keep in mind",
    "bear in mind",
    "make a note",
    "take note",
    "don't forget",
    "dont forget",
    "never forget",
    "merk dir",
    "merke dir",
    "denk daran",
    "denk dran",
    "vergiss nicht",
    "souviens-toi",
    "rappelle-toi",
    "n'oublie pas",
    "retiens",
    "note bien",
    "recuerda",
    "acuérdate",
    "ten en cuenta",
    "no olvides",
    "lembre-se",
    "lembra",
    "lembre",
    "não esqueça",
    "ricorda",
    "ricordati",
    "tieni presente",
    "non dimenticare",
    "覚えておいて",
    "覚えて",
    "记住",
    "请记住",
    "別忘了",
    "别忘了",
];
/// Classes of words that may stand before that.
const LEADS: &[&str] =
    &["PLEASE", "OK", "ALSO", "BUT", "NICE", "THANKS", "ACTUALLY", ",", ".", "!", "-", "so"];
/// Most words of a header like "from now on:"; a longer line says more.
const LONGEST_TITLE: usize = 8;
/// Concepts that announce rules, but may announce something else as well.
const RULES: &[&str] = &["ASARULE", "INREPO", "PREFER", "ALWAYS", "NEVER"];
/// Concepts that ask for something else: "implement these rules:", "which of these …:".
const ASKS: &[&str] = &[
    "CANYOU", "WHAT", "HOW", "WHY", "AUXQ", "SAYS", "SOURCE", "WAS", "IF", "FORNOW", "ONEOFFV",
    "LETS", "SORRY", "FORGOT",
];

/// Effect of a header on the items below it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListHeader {
    Nothing,
    /// Rules: an item that may be one is one.
    Rules,
    /// All items are to be kept.
    Keeps,
}

/// True if a sentence is to be kept because of the header above it.
pub(super) fn is_item_to_keep(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    header_above(outline, read, at) == ListHeader::Keeps
}

/// True if rules, or things to remember, are announced above a sentence.
pub(super) fn is_announced(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    header_above(outline, read, at) != ListHeader::Nothing
}

/// Score of a sentence, raised by the header above it.
pub(super) fn score_below_header(
    outline: &PromptOutline,
    read: &TokenizedPrompt,
    at: usize,
    alone: f32,
) -> f32 {
    match header_above(outline, read, at) {
        ListHeader::Keeps => alone.max(SURE),
        ListHeader::Rules if alone >= MAYBE => alone.max(SURE),
        _ => alone,
    }
}

fn header_above(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> ListHeader {
    let unit = &outline.units[at];
    let Some(header) = unit.header else { return ListHeader::Nothing };
    // Only the list, or the lines right below: what comes after those is something else.
    let block = |it: &crate::memory::capture::outline::PromptSentence| {
        it.is_item || it.paragraph == outline.units[header].paragraph
    };
    if unit.text.ends_with([':', '：']) || !outline.units[header + 1..=at].iter().all(block) {
        return ListHeader::Nothing;
    }
    let above = &read.tokens[header];
    let has = |concepts: &[&str]| concepts.iter().any(|it| above.iter().any(|token| token.is(it)));
    // "Please remember the following:", "from now on:".
    let first = above.iter().find(|token| !LEADS.contains(&token.class.as_str()));
    let asks_to_keep = first.is_some_and(|token| KEEPS.contains(&token.word.as_str()))
        || (above.len() <= LONGEST_TITLE && has(&["NOWON", "UNIVERSAL"]));
    if has(ASKS) || above.iter().any(|token| token.class == "?") {
        ListHeader::Nothing
    } else if asks_to_keep || is_title(above) {
        ListHeader::Keeps
    } else if has(RULES) {
        ListHeader::Rules
    } else {
        ListHeader::Nothing
    }
}

/// "Rules:", "our conventions for this repo:", and nothing else.
fn is_title(header: &[SentenceToken]) -> bool {
    let around = |token: &SentenceToken| {
        ["ASARULE", "OUR", "INREPO", "HERE", "ALSO", "WE"].iter().any(|it| token.is(it))
            || is_one_of(
                &token.word,
                " : my the for of some a few project team coding code style conventions preferences basic new more \
                regeln projekt règles projet reglas proyecto regras projeto regole progetto unsere meine nos mes mis ",
            )
    };
    let names = |token: &SentenceToken| {
        token.is("ASARULE")
            || is_one_of(
                &token.word,
                " conventions preferences regeln règles reglas regras regole ",
            )
    };
    header.iter().all(around) && header.iter().any(names)
}
