//! Signs that a statement holds beyond the current task: "always", "from now on", "we use", "in this
//! repo", a correction. A statement without one may be meant for this moment only. Some sentences say
//! by their form alone that they are to last: "from now on …", "stop adding …", "always put …", unless
//! tied to this moment or to somebody else.

use crate::memory::capture::announced;
use crate::memory::capture::features::TokenizedPrompt;
use crate::memory::capture::outline::PromptOutline;
use crate::memory::capture::tokens::SentenceToken;
use crate::memory::lang::families::is_value_of;
use crate::memory::lang::word_lists::is_one_of;

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
    let asked = || remembers(own) || chooses(rest) || rules_out(rest) || is_banned_or_allowed(rest);
    let announces = own.last().is_some_and(|token| token.class == ":");
    if !announces && !TIES.iter().any(|it| *it != "LETS" && has(it)) && asked() {
        return LastingSign::Asked;
    }
    if own.len() < 3 || TIES.iter().any(|it| has(it)) {
        return LastingSign::None;
    }
    // "Stop adding docstrings".
    let stops = || {
        let [stop, what, object, ..] = rest else { return false };
        let acts = what.word.ends_with("ing")
            || matches!(what.word.as_str(), "de" | "di" | "d'ajouter" | "d'utiliser" | "with");
        stop.is("STOP") && acts && !object.is("THIS")
    };
    // "Use pnpm, not npm".
    let is_choice = || {
        let other = |token: &SentenceToken| token.is("INSTEAD") || token.word == "not";
        rest.len() <= 9 && rest[0].is("USE") && rest.iter().skip(2).any(other)
    };
    // The rule itself, not a remark behind a dot, is about something at hand.
    let points_at_hand = || {
        let mut rule = rest.iter().take_while(|token| token.class != ".");
        rule.any(|token| token.is("THIS") || token.is("HERE"))
    };
    let here = ["HERE", "INREPO", "ONLY", "INSTEAD", "ALWAYS"].iter().any(|it| has(it));
    if from_now_on(own, rest) && !has("THIS") {
        LastingSign::Clear
    } else if from_now_on(own, rest)
        || stops()
        || (rest.iter().take(3).any(|token| token.is("WEUSE")) && here)
        || ((is_rule(rest) || is_choice()) && !points_at_hand())
    {
        LastingSign::Likely
    } else {
        LastingSign::None
    }
}

/// True if "from now on" stands at the beginning or the end; in between it may be quoted.
fn from_now_on(own: &[SentenceToken], rest: &[SentenceToken]) -> bool {
    let is_now = |token: &SentenceToken| token.is("NOWON");
    rest.iter().take(2).any(is_now) || own.iter().rev().take(2).any(is_now)
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
    let names_choice = |token: &SentenceToken| {
        let mut words = token.word.split(' ');
        words.any(|word| CHOICES.iter().any(|family| is_value_of(word, family)))
    };
    rest.len() <= 7
        && matches!(
            first.word.as_str(),
            "use" | "we use" | "we switched to" | "we moved to" | "we migrated to"
        )
        && !what.is("ALLOF")
        && !rest.iter().any(is_tied)
        && rest.iter().any(names_choice)
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

/// True for "lodash is banned here", "default exports are not allowed", and for "pushing to main is
/// fine now", which was ruled out before.
fn is_banned_or_allowed(rest: &[SentenceToken]) -> bool {
    let is_allowed = matches!(rest, [first, .., is, fine, now]
        if rest.len() >= 5
            && first.class == "@ING"
            && !rest.iter().any(|it| it.is("THIS"))
            && (now.word == "now" || now.word == "again" || now.is("NOWON"))
            && matches!(fine.word.as_str(), "fine" | "ok" | "okay" | "allowed" | "permitted")
            && is.is("IS"));
    if is_allowed {
        return true;
    }
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

/// Concepts that are a sign anywhere in a sentence.
const SIGNS: &[&str] = &[
    "ALWAYS",
    "NEVER",
    "NOWON",
    "WEUSE",
    "INREPO",
    "UNIVERSAL",
    "EVERYWHERE",
    "TOLDYOU",
    "YOUKEEP",
];
/// Concepts that are a sign unless the sentence is about something at hand: "I prefer a map here".
const SIGNS_IF_GENERAL: &[&str] = &["LATER", "ASARULE", "PREFER", "OUR"];
/// Words for something at hand that also refer to what was just said: "keep that in mind".
const REFERRING: &str = " that it that's it's es ";
/// Concepts that correct what was done before, where a sentence begins with them.
const CORRECTS: &[&str] = &["NO", "STOP", "TOLDYOU", "ACTUALLY"];
/// Concepts that tie a sentence to this moment, whatever else it says.
const TIES_TO_NOW: &[&str] = &["FORNOW", "?"];

/// "Not" and "but" between two things, of which the second is meant.
const NOT: &str = " not nicht kein keine pas non não ";
const BUT: &str = " but sondern mais sino ma bensì mas ";
/// "Not … but" in one word.
const NOT_BUT: &str = " ではなく じゃなくて じゃなく 而不是 而非 ";

/// Most words of a remark about the sentence before it: "that's how we do it here".
const LONGEST_REMARK: usize = 8;

/// True if the sentence at `at`, or a neighbour or header, says that it is to last.
pub(super) fn has_lasting_sign(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let own = &read.tokens[at];
    let form = lasting_sign(own);
    if form == LastingSign::Asked || announced::is_announced(outline, read, at) {
        return true;
    }
    if has(own, TIES_TO_NOW) {
        return false;
    }
    let before = at.checked_sub(1).map(|at| &read.tokens[at]);
    let behind = read.tokens.get(at + 1);
    // "That's our process", "always": about the sentence before it.
    let is_remark = |own: &[SentenceToken]| {
        own.len() <= 2
            || (own.len() <= LONGEST_REMARK && own.first().is_some_and(|first| first.is("THIS")))
    };
    // "Tabs, not spaces", "not jest but vitest".
    let is_not = |token: &SentenceToken| is_one_of(&token.word, NOT);
    let mut behind_not = own.iter().skip_while(|token| !is_not(token));
    let opposes = own.windows(2).any(|pair| pair[0].class == "," && is_not(&pair[1]))
        || matches!(&own[..], [_, not, _] if is_not(not))
        || (!is_at_hand(own)
            && (behind_not.any(|token| is_one_of(&token.word, BUT))
                || own.iter().any(|token| is_one_of(&token.word, NOT_BUT))));
    form != LastingSign::None
        || lasts(own)
        || corrects(own)
        || opposes
        || (own.first().is_some_and(|first| first.is("ALLOF")) && has(own, &["MUST"]))
        || read.is_universal()
        || before.is_some_and(|it| it.len() <= 3 && corrects(it))
        || behind.is_some_and(|it| is_remark(it) && (has(it, SIGNS) || has(it, SIGNS_IF_GENERAL)))
}

fn has(own: &[SentenceToken], concepts: &[&str]) -> bool {
    own.iter().any(|token| concepts.iter().any(|it| token.is(it) || token.class == *it))
}

/// True for "I prefer a map here", "use that in this file".
fn is_at_hand(own: &[SentenceToken]) -> bool {
    let points = |token: &SentenceToken| token.is("THIS") && !is_one_of(&token.word, REFERRING);
    own.iter().any(|token| token.is("HERE") || points(token))
}

/// True if a concept says that it lasts. "It never ends" is a complaint, and no rule.
fn lasts(own: &[SentenceToken]) -> bool {
    let complains = own.first().is_some_and(|first| first.is("THIS"));
    (has(own, SIGNS) && !complains) || (has(own, SIGNS_IF_GENERAL) && !is_at_hand(own))
}

/// True for "no, put tests in `__tests__/`", "non, mets-les là", "actually it's tabs".
fn corrects(own: &[SentenceToken]) -> bool {
    let denies = matches!(own, [no, comma, ..] if is_one_of(&no.word, NOT) && comma.class == ",");
    denies || own.first().is_some_and(|first| CORRECTS.iter().any(|it| first.is(it)))
}
