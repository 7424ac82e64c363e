//! Texts in a prompt that nothing marks as foreign: a text to summarize, a passage from a file, and
//! the list items of a specification.

use super::features::TokenizedPrompt;
use super::outline::PromptOutline;
use super::tokens::SentenceToken;
use crate::memory::refuse::phrase::is_one_of;

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

/// True if the sentence at `at` is part of a text that somebody else wrote, or of a specification.
pub(super) fn is_quoted_or_specification(
    outline: &PromptOutline,
    read: &TokenizedPrompt,
    at: usize,
) -> bool {
    is_introduced(outline, read, at) || is_specified(outline, read, at)
}

/// True behind "summarise: …", "I found this in the wiki: …", up to the end of the paragraph.
fn is_introduced(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let paragraph = outline.units[at].paragraph;
    let mut before = (0..=at).rev().take_while(|it| outline.units[*it].paragraph == paragraph);
    before.any(|it| introduces(&read.tokens[it]))
}

fn introduces(own: &[SentenceToken]) -> bool {
    let Some(colon) = own.iter().position(|token| token.class == ":") else { return false };
    let (head, behind) = own.split_at(colon);
    behind.len() > 1 && (works_on_text(head) || cites_source(head))
}

fn works_on_text(head: &[SentenceToken]) -> bool {
    let first = head.iter().find(|token| !leads(token));
    first.is_some_and(|token| {
        is_one_of(&token.word, WORKS_ON) || RUN_WORKS_ON.iter().any(|it| token.word.starts_with(it))
    })
}

fn cites_source(head: &[SentenceToken]) -> bool {
    let came = head.iter().any(|token| token.word.split(' ').any(|word| is_one_of(word, CAME_BY)));
    let what = |token: &SentenceToken| {
        token.is("THIS")
            || token.is("SOURCE")
            || matches!(token.class.as_str(), "@FILE" | "@PATH" | "@URL")
    };
    came && head.iter().any(what)
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
