//! Exclusions that no weight can overrule: questions, reports of what others said, requests for the
//! moment, temporary or hypothetical statements ("use tabs in this file only", "pretend that we use
//! yarn"), and text that somebody else wrote: to be summarized, from a file, or a specification.

use crate::memory::capture::features::TokenizedPrompt;
use crate::memory::capture::outline::PromptOutline;
use crate::memory::capture::tokens::SentenceToken;
use crate::memory::capture::{announced, one_off, report};
use crate::memory::lang::word_lists::is_one_of;

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

/// True if the sentence at `at` is not to be kept, whatever its score.
pub(super) fn is_excluded(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let (unit, own) = (&outline.units[at], &read.tokens[at]);
    is_question(&unit.text)
        || report::is_report(&unit.text)
        || is_introduced(outline, read, at)
        || is_specified(outline, read, at)
        || (!announced::is_item_to_keep(outline, read, at)
            && one_off::is_one_off_request(&unit.text, own))
        || is_temporary(&unit.text)
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

/// Beginnings of sentences about something that is not so.
#[rustfmt::skip]
const SUPPOSED: &[&str] = &[
    "pretend", "suppose", "imagine", "let's say", "lets say", "let's pretend", "act as if",
    "assume for a moment", "assume for now", "what if", "say we", "stell dir vor", "tu so, als",
    "tu mal so", "angenommen", "nehmen wir an", "fais comme si", "imagine que", "imagina que",
    "supongamos", "finge que", "finja que", "suponha", "fai finta", "supponiamo", "immagina",
];

/// Words behind "this" for one place, or one time.
#[rustfmt::skip]
const ONE_PLACE: &[&str] = &[
    "file", "function", "method", "class", "component", "test", "module", "commit", "pr",
    "branch", "page", "script", "case", "time", "one", "task", "line", "change", "query", "call",
    "command", "snippet", "example", "block", "folder", "view", "screen", "ticket", "once",
];

/// Limits to one place or time in other languages.
#[rustfmt::skip]
const ONLY_HERE: &[&str] = &[
    "nur in dieser datei", "nur dieses mal", "nur diesmal", "nur für diesen", "nur für diese ",
    "nur in diesem", "seulement dans ce", "uniquement dans ce", "juste cette fois",
    "seulement pour ce", "solo en este", "solo por esta vez", "sólo en este", "solo para este",
    "só neste", "só nesta", "só desta vez", "somente neste", "solo in questo", "solo in questa",
    "solo per questa volta", "solo per questo",
];

/// True if a sentence holds only here and now.
fn is_temporary(sentence: &str) -> bool {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start = lower.trim_start_matches(|c: char| !c.is_alphanumeric());
    let start = ["ok ", "ok, ", "now ", "please ", "just ", "so ", "and "]
        .iter()
        .find_map(|lead| start.strip_prefix(lead))
        .unwrap_or(start);
    let begins = |words: &&str| {
        let rest = start.strip_prefix(*words);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    if SUPPOSED.iter().any(begins) || ONLY_HERE.iter().any(|words| lower.contains(words)) {
        return true;
    }
    // "In this file only", "only for this function", "just this once".
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|it| !it.is_empty())
        .collect();
    let limits = |word: &&str| matches!(*word, "only" | "just");
    words.iter().enumerate().any(|(at, word)| {
        if *word != "this" {
            return false;
        }
        let one =
            |skipped: usize| words.get(at + 1 + skipped).is_some_and(|it| ONE_PLACE.contains(it));
        let Some(skipped) = (0..2).find(|skipped| one(*skipped)) else { return false };
        // "only in this file", "just for this one test": two words before it at most.
        words[at.saturating_sub(2)..at].iter().any(limits)
            || words.get(at + 2 + skipped).is_some_and(limits)
    })
}

/// Verbs for what is done with a text.
const WORKS_ON: &str = " summarise summarize translate rephrase paraphrase proofread rewrite reword shorten \
transcribe condense tl;dr zusammenfassen übersetze übersetzen formuliere résume traduis reformule \
resume traduce resuma traduza riassumi traduci ";
const RUN_WORKS_ON: &[&str] = &["总结", "翻译", "要約", "翻訳"];
/// Verbs for how somebody came by a text.
const CAME_BY: &str = " found saw read received copied pasted gefunden gelesen trouvé lu encontré leí encontrei li trovato ";
/// Verbs for making something at once.
const MAKES: &str = " build create make write implement design develop scaffold generate code baue erstelle crée crea cria crie ";
const LEADS: &str = " please pls ok okay now can you could hey hi so and then bitte ";
const ONE: &str = " a an the me us new this some my our ein eine un une uno una um uma ";

/// True for verbs that ask for work on a text.
fn works_on_text(token: &SentenceToken) -> bool {
    is_one_of(&token.word, WORKS_ON) || RUN_WORKS_ON.iter().any(|it| token.word.starts_with(it))
}

/// True for a sentence of a text that is to be worked on, of a specification, or of a single order.
pub(super) fn is_foreign_text(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let asks = |header: usize| {
        read.tokens[header].iter().find(|token| !leads(token)).is_some_and(works_on_text)
    };
    let own = &read.tokens[at];
    let is_cited = own.iter().any(|token| token.class == "@QUOTE")
        && own.iter().any(|token| token.is("SAYS") || token.is("SOURCE"));
    is_cited
        || is_introduced(outline, read, at)
        || is_specified(outline, read, at)
        || outline.units[at].header.is_some_and(asks)
        || one_off::is_one_off_request(&outline.units[at].text, &read.tokens[at])
}

/// True behind "summarise: …", "I found this in the wiki: …", up to the end of the paragraph.
fn is_introduced(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let paragraph = outline.units[at].paragraph;
    let mut before = (0..=at).rev().take_while(|it| outline.units[*it].paragraph == paragraph);
    before.any(|it| {
        let own = &read.tokens[it];
        let Some(colon) = own.iter().position(|token| token.class == ":") else { return false };
        let (head, behind) = own.split_at(colon);
        let first = head.iter().find(|token| !leads(token));
        let came = |token: &SentenceToken| token.word.split(' ').any(|it| is_one_of(it, CAME_BY));
        let is_source = |token: &SentenceToken| {
            token.is("THIS")
                || token.is("SOURCE")
                || matches!(token.class.as_str(), "@FILE" | "@PATH" | "@URL")
        };
        let cites_source = || head.iter().any(came) && head.iter().any(is_source);
        behind.len() > 1 && (first.is_some_and(works_on_text) || cites_source())
    })
}

fn leads(token: &SentenceToken) -> bool {
    token.word.split(' ').all(|word| is_one_of(word, LEADS)) || token.class == ","
}

/// True for an item below "build me an app", which specifies the app.
fn is_specified(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    if !outline.units[at].is_item || outline.units[at].header.is_some() {
        return false;
    }
    let Some(above) = (0..at).rev().find(|it| !outline.units[*it].is_item) else { return false };
    let mut words = read.tokens[above].iter().filter(|token| !leads(token));
    let makes = words.next().is_some_and(|verb| is_one_of(&verb.word, MAKES));
    makes
        && words
            .next()
            .is_some_and(|what| is_one_of(&what.word, ONE) || what.is("THIS") || what.is("OUR"))
}
