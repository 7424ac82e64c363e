//! Exclusions that no weight can overrule: questions, reports of what others said, requests for the
//! moment, and text below a request to do something with it.

use super::announced;
use super::features::TokenizedPrompt;
use super::one_off;
use super::outline::PromptOutline;
use super::passing;
use super::quoted;
use super::report;
use super::tokens::SentenceToken;

/// Tags behind a comma that make no question: "use tabs, ok?"
const TAGS: &[&str] = &[
    "ok",
    "okay",
    "please",
    "pls",
    "plz",
    "right",
    "yeah",
    "got it",
    "alright",
    "deal",
    "understood",
    "thanks",
    "sí",
    "vale",
    "klar",
    "verstanden",
    "d'accord",
    "entendido",
    "capito",
    "certo",
    "tá",
    "beleza",
    "va bene",
];

/// True if the sentence at `at` is not to be kept, whatever its score.
pub(super) fn is_excluded(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let (unit, own) = (&outline.units[at], &read.tokens[at]);
    is_question(&unit.text)
        || report::is_report(&unit.text)
        || quoted::is_quoted_or_specification(outline, read, at)
        || (!announced::is_item_to_keep(outline, read, at)
            && one_off::is_one_off_request(&unit.text, own))
        || passing::is_temporary(&unit.text)
        || own.iter().any(|token| token.class == "@QUOTE")
        || unit.header.is_some_and(|header| is_about_a_text(&read.tokens[header]))
}

pub(super) fn is_question(text: &str) -> bool {
    let text = text.trim_end_matches([' ', ')', '"', '!']);
    let Some(asked) = text.strip_suffix(['?', '？']) else { return false };
    let lower = asked.trim_end_matches(['?', '!', ' ', '？']).to_lowercase();
    let tag = TAGS.iter().find_map(|tag| lower.strip_suffix(tag));
    !tag.is_some_and(|before| before.ends_with([' ', ',']) && before.trim().contains(' '))
}

/// True for "summarize this:", "the error is:": the text below is somebody else's, unless rules or
/// facts are announced: "from now on:", "our conventions:", "a few things:".
fn is_about_a_text(header: &[SentenceToken]) -> bool {
    let has = |concepts: &[&str]| concepts.iter().any(|it| header.iter().any(|token| token.is(it)));
    let announced = has(&[
        "NOWON",
        "LATER",
        "ASARULE",
        "REMEMBER",
        "ALWAYS",
        "NEVER",
        "PREFER",
        "UNIVERSAL",
        "INREPO",
        "WANT",
        "NO",
        "STOP",
    ]) || header.iter().any(|token| ANNOUNCES.contains(&token.word.as_str()));
    !announced
        || has(&["SAYS", "SOURCE", "WHAT", "HOW", "CANYOU", "WAS"])
        || header.iter().any(|token| token.class == "?")
}

/// Words in the header of a list of things to know.
const ANNOUNCES: &[&str] = &[
    "few",
    "couple",
    "things",
    "notes",
    "preferences",
    "style",
    "know",
    "facts",
    "context",
    "basics",
    "setup",
    "conventions",
    "regeln",
    "hinweise",
    "règles",
    "reglas",
    "regras",
    "regole",
    "points",
    "remarks",
    "background",
    "info",
];
