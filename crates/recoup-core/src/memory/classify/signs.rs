//! Forms that say by themselves that something is to last: "from now on …", "stop adding
//! …", "always put …", where nothing ties them to this moment or to somebody else.

use super::tokens::Token;

/// Behind these a sentence begins.
const LEADS: &[&str] = &[
    "NO", "YOU", "SHOULD", "MUST", "OK", "PLEASE", "ALSO", "BUT", "ACTUALLY", "REMEMBER", "NICE",
    "SORRY", "TOLDYOU", "so", "just", "ugh", "and", ",", "!", ".", "-", ":",
];

/// What ties a sentence to this moment, to others, or to doubt.
const TIES: &[&str] = &[
    "?", "SAYS", "SOURCE", "IF", "FORNOW", "UNSURE", "WAS", "WHAT", "HOW", "WHY", "AUXQ", "CANYOU",
    "LETS", "@QUOTE",
];

/// How clearly the form of a sentence says that it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// It says nothing about that.
    None,
    /// It helps.
    Likely,
    /// It decides.
    Clear,
}

/// What the form of a sentence says.
pub(super) fn of(own: &[Token]) -> Sign {
    let has = |concept: &str| own.iter().any(|token| token.is(concept) || token.class == concept);
    if own.len() < 3 || TIES.iter().any(|it| has(it)) {
        return Sign::None;
    }
    let leads = |token: &Token| LEADS.contains(&token.class.as_str()) || token.word == "ugh";
    let rest = &own[own.iter().position(|token| !leads(token)).unwrap_or(0)..];
    let here = ["HERE", "INREPO", "ONLY", "INSTEAD", "ALWAYS"].iter().any(|it| has(it));
    if from_now_on(own, rest) && !has("THIS") {
        Sign::Clear
    } else if from_now_on(own, rest)
        || stops(rest)
        || (we_use(rest) && here)
        || ((is_rule(rest) || is_choice(rest)) && !has("THIS") && !has("HERE"))
    {
        Sign::Likely
    } else {
        Sign::None
    }
}

/// At the beginning or at the end; in between it may be what somebody is to be told.
fn from_now_on(own: &[Token], rest: &[Token]) -> bool {
    let is_now = |token: &Token| token.is("NOWON");
    rest.iter().take(2).any(is_now) || own.iter().rev().take(2).any(is_now)
}

/// "Stop adding docstrings"
fn stops(rest: &[Token]) -> bool {
    let [stop, what, object, ..] = rest else { return false };
    let acts = what.word.ends_with("ing")
        || matches!(what.word.as_str(), "de" | "di" | "d'ajouter" | "d'utiliser" | "with");
    stop.is("STOP") && acts && !object.is("THIS")
}

/// "We use tabs here", "in this repo we use …"
fn we_use(rest: &[Token]) -> bool {
    rest.iter().take(3).any(|token| token.is("WEUSE"))
}

/// "Use pnpm, not npm"
fn is_choice(rest: &[Token]) -> bool {
    let other = |token: &Token| token.is("INSTEAD") || token.word == "not";
    rest.len() <= 9 && rest[0].is("USE") && rest.iter().skip(2).any(other)
}

/// "Always put", "never use", "don't ever".
fn is_rule(rest: &[Token]) -> bool {
    let [first, verb, ..] = rest else { return false };
    let acts = ["USE", "PUTV", "DOV", "ONEOFFV", "STICK", "PREFER"].iter().any(|it| verb.is(it));
    let strong = first.is("ALWAYS") || (first.is("NEVER") && first.word != "nie");
    (strong && acts) || (first.is("DONT") && verb.word == "ever")
}
