//! Sentence forms that say by themselves that something is to last: "from now on …", "stop adding
//! …", "always put …", unless tied to this moment or to somebody else.

use super::tokens::SentenceToken;
use crate::memory::refuse::phrase::is_one_of;
use crate::memory::topic;

/// Classes of words that may stand before the sentence proper.
const LEADS: &[&str] = &[
    "NO", "YOU", "SHOULD", "MUST", "OK", "PLEASE", "ALSO", "BUT", "ACTUALLY", "REMEMBER", "NICE",
    "SORRY", "TOLDYOU", "so", "just", "ugh", "and", ",", "!", ".", "-", ":",
];

/// Concepts that tie a sentence to this moment, to others, or to doubt.
const TIES: &[&str] = &[
    "?", "SAYS", "SOURCE", "IF", "FORNOW", "UNSURE", "WAS", "WHAT", "HOW", "WHY", "AUXQ", "CANYOU",
    "LETS", "@QUOTE",
];

/// How clearly the form of a sentence says that it lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastingSign {
    /// No sign.
    None,
    /// Supports the model's score.
    Likely,
    /// Decides together with a fair score.
    Clear,
    /// Explicit: "remember: …", "use pnpm, not npm".
    Asked,
}

/// Returns the sign in the form of a sentence.
pub(super) fn lasting_sign(own: &[SentenceToken]) -> LastingSign {
    let has = |concept: &str| own.iter().any(|token| token.is(concept) || token.class == concept);
    let leads =
        |token: &SentenceToken| LEADS.contains(&token.class.as_str()) || token.word == "ugh";
    let rest = &own[own.iter().position(|token| !leads(token)).unwrap_or(0)..];
    let asked =
        || remembers(own) || chooses(rest) || rules_out(rest) || is_banned(rest) || allows(rest);
    let announces = own.last().is_some_and(|token| token.class == ":");
    if !announces && !TIES.iter().any(|it| *it != "LETS" && has(it)) && asked() {
        return LastingSign::Asked;
    }
    if own.len() < 3 || TIES.iter().any(|it| has(it)) {
        return LastingSign::None;
    }
    let here = ["HERE", "INREPO", "ONLY", "INSTEAD", "ALWAYS"].iter().any(|it| has(it));
    if from_now_on(own, rest) && !has("THIS") {
        LastingSign::Clear
    } else if from_now_on(own, rest)
        || stops(rest)
        || (we_use(rest) && here)
        || ((is_rule(rest) || is_choice(rest)) && !points_at_hand(rest))
    {
        LastingSign::Likely
    } else {
        LastingSign::None
    }
}

/// True if the rule itself, not a remark behind a dot, is about something at hand.
fn points_at_hand(rest: &[SentenceToken]) -> bool {
    let mut rule = rest.iter().take_while(|token| token.class != ".");
    rule.any(|token| token.is("THIS") || token.is("HERE"))
}

/// True if "from now on" stands at the beginning or the end; in between it may be quoted.
fn from_now_on(own: &[SentenceToken], rest: &[SentenceToken]) -> bool {
    let is_now = |token: &SentenceToken| token.is("NOWON");
    rest.iter().take(2).any(is_now) || own.iter().rev().take(2).any(is_now)
}

/// True for "stop adding docstrings".
fn stops(rest: &[SentenceToken]) -> bool {
    let [stop, what, object, ..] = rest else { return false };
    let acts = what.word.ends_with("ing")
        || matches!(what.word.as_str(), "de" | "di" | "d'ajouter" | "d'utiliser" | "with");
    stop.is("STOP") && acts && !object.is("THIS")
}

/// True for "we use tabs here", "in this repo we use …".
fn we_use(rest: &[SentenceToken]) -> bool {
    rest.iter().take(3).any(|token| token.is("WEUSE"))
}

/// True for "use pnpm, not npm".
fn is_choice(rest: &[SentenceToken]) -> bool {
    let other = |token: &SentenceToken| token.is("INSTEAD") || token.word == "not";
    rest.len() <= 9 && rest[0].is("USE") && rest.iter().skip(2).any(other)
}

/// True for "always put", "we never use", "don't ever".
fn is_rule(rest: &[SentenceToken]) -> bool {
    let rest = if rest.first().is_some_and(|it| it.word == "we") { &rest[1..] } else { rest };
    let [first, verb, ..] = rest else { return false };
    let acts = ["USE", "PUTV", "DOV", "ONEOFFV", "STICK", "PREFER"].iter().any(|it| verb.is(it));
    let strong = first.is("ALWAYS") || (first.is("NEVER") && first.word != "nie");
    (strong && acts) || (first.is("DONT") && verb.word == "ever")
}

/// True for "remember: …", "add a rule: …". "Remember that" may also go on with "bug": there the
/// weights decide.
fn remembers(own: &[SentenceToken]) -> bool {
    let own = &own[own
        .iter()
        .take_while(|it| matches!(it.class.as_str(), "PLEASE" | "OK" | "ALSO" | ","))
        .count()..];
    let [first, next, rest @ ..] = own else { return false };
    let keeps = |words: &str| is_one_of(&first.word.replace(' ', "_"), words);
    let says_what = next.class == ":" || matches!(next.word.as_str(), "dass" | "que" | "che");
    let adds = matches!(own, [add, _, rule, colon, _, _, ..]
        if add.word == "add" && is_one_of(&rule.word, " rule note reminder ") && colon.class == ":");
    adds || (rest.len() >= 2
        && ((says_what
            && keeps(
                " remember keep_in_mind bear_in_mind never_forget don't_forget merk_dir merke_dir retiens souviens-toi \
            rappelle-toi n'oublie_pas recuerda acuérdate no_olvides lembre-se lembre lembra ricorda ricordati ",
            ))
            || (keeps(" 记住 请记住 覚えておいて 別忘了 别忘了 ") && next.class != "?")))
}

/// Topics on which a project has one choice: to name it is to choose it.
const CHOICES: &[&str] = &[
    "package-manager",
    "indentation",
    "quotes",
    "semicolon",
    "exports",
    "python-packages",
    "naming-case",
    "test-framework-js",
    "test-framework-python",
    "formatter-js",
    "linter-js",
];

/// True for "use pnpm", "use pnpm not npm", "let's use tabs": something of which there is one.
fn chooses(rest: &[SentenceToken]) -> bool {
    let [first, what, ..] = rest else { return false };
    let is_tied = |token: &SentenceToken| {
        ["THIS", "FORNOW", "ONEOFFV", "HOW"].iter().any(|it| token.is(it)) && token.word != "then"
    };
    let names = || {
        let text: Vec<&str> =
            rest.iter().filter(|it| it.class != ",").map(|it| it.word.as_str()).collect();
        topic::derive_topic(&text.join(" "))
    };
    rest.len() <= 7
        && matches!(
            first.word.as_str(),
            "use" | "we use" | "we switched to" | "we moved to" | "we migrated to"
        )
        && !what.is("ALLOF")
        && !rest.iter().any(is_tied)
        && names().is_some_and(|it| CHOICES.contains(&it.as_str()))
}

/// True for "avoid lodash", "let's not use lodash", "nie wieder lodash".
fn rules_out(rest: &[SentenceToken]) -> bool {
    let named = |token: &SentenceToken| {
        token.concepts.is_empty() && token.word.chars().any(char::is_alphanumeric)
    };
    let avoids = |word: &str| {
        matches!(
            word,
            "avoid"
                | "vermeide"
                | "évite"
                | "évitez"
                | "evita"
                | "evite"
                | "避免"
                | "nie wieder"
                | "nunca mais"
                | "mai più"
                | "nunca más"
        )
    };
    match rest {
        [verb, what] => avoids(&verb.word) && named(what),
        [lets, not, verb, what] => {
            lets.is("LETS") && not.word == "not" && verb.is("USE") && named(what)
        }
        [what, of, verb] => {
            named(what) && matches!(of.word.as_str(), "は" | "を") && verb.word == "使わないで"
        }
        _ => false,
    }
}

/// True for "lodash is banned here", "default exports are not allowed".
fn is_banned(rest: &[SentenceToken]) -> bool {
    let here = |token: &SentenceToken| token.is("HERE") || token.is("INREPO");
    rest.len() <= 9
        && rest.windows(2).skip(1).any(|pair| {
            let banned = matches!(pair[1].word.as_str(), "banned" | "forbidden" | "prohibited" | "off-limits" | "verboten" | "interdit" | "prohibido" | "proibido" | "vietato")
                || (pair[0].word.ends_with("not") || pair[0].word.ends_with("n't")) && pair[1].word == "allowed";
            (pair[0].is("IS") || pair[0].is("DONT")) && banned
        })
        && rest.iter().any(here)
        && !rest[0].is("THIS")
        // "Access is forbidden" is the answer of a server.
        && !rest.iter().take(2).any(|it| is_one_of(&it.word, " access request requests user users "))
}

/// True for "pushing to main is fine now", which was ruled out before.
fn allows(rest: &[SentenceToken]) -> bool {
    let [first, .., fine, now] = rest else { return false };
    let again = now.word == "now" || now.word == "again" || now.is("NOWON");
    rest.len() >= 5
        && first.class == "@ING"
        && !rest.iter().any(|it| it.is("THIS"))
        && again
        && matches!(fine.word.as_str(), "fine" | "ok" | "okay" | "allowed" | "permitted")
        && rest[rest.len() - 3].is("IS")
}
