//! Extraction of a statement from its sentence: openers and closers are left out, and nothing of
//! what it says. So its negation stays. Also the files to which a statement is limited.

use crate::memory::capture::openers::{AFTER_NO, CLOSERS, OPENERS, TURNED};
use crate::memory::capture::{complaint, tokens};
use crate::memory::lang::plain_clauses;

/// Longest statement; what is longer is a story.
const MOST_CHARS: usize = 400;
/// Characters that may stand behind an opener.
const BETWEEN: &[char] =
    &[' ', ',', ':', '.', '!', '-', '–', '—', '…', ';', '，', '、', '：', '！', '。', '\t'];

/// Returns the statement in a sentence; none if nothing is left of it.
pub(super) fn extract_statement(sentence: &str) -> Option<String> {
    let sentence = sentence.trim();
    if complaint::is_complaint(sentence) {
        // Only the request behind it counts: "you always use npm, we use pnpm here".
        let clauses = plain_clauses::split_clauses(sentence);
        let said = clauses.iter().position(|it| it.words.len() > 2)?;
        let rest = &sentence[clauses.get(said + 1)?.from..];
        let asks = tokens::tokenize(rest).iter().any(|token| ASKS.iter().any(|it| token.is(it)));
        let points_back = POINTS_BACK.contains(&first_word(rest).as_str());
        return if asks && !points_back { extract_statement(rest) } else { None };
    }
    let named = replace_pronoun(sentence);
    let said = named.as_deref().unwrap_or_else(|| skip_openers(sentence));
    // "I prefer early returns" becomes "prefer early returns".
    let rephrased = TURNED.iter().find_map(|(start, instead)| {
        let rest = strip(said, start).filter(|rest| rest.starts_with(' '))?;
        Some(format!("{instead}{rest}"))
    });
    let text = without_ever(strip_closers(rephrased.as_deref().unwrap_or(said)));
    // A symbol alone is no word; in code it is a name.
    let is_word = |it: &&str| {
        it.contains(char::is_alphanumeric) || (it.starts_with('`') && it.contains(|c| c != '`'))
    };
    let words = text.split_whitespace().filter(is_word).count();
    let chars = text.chars().count();
    let is_long_enough = words >= 2
        || text.chars().filter(|c| crate::memory::capture::concepts::is_cjk(*c)).count() >= 4;
    // "No use X" is an answer in English and a ban in Spanish: in an unclear language one of both
    // would be kept as its opposite.
    let is_ambiguous =
        strip(&text, "no ").is_some_and(|rest| first_word(rest) == "use") && !is_english(&text);
    let unclear = speaks_of_us(&text) || has_speech(&text) || is_ambiguous;
    if !is_long_enough || chars > MOST_CHARS || unclear {
        return None;
    }
    Some(if rephrased.is_some() { text } else { lowercase_first(&text) })
}

/// Concepts that ask for something.
const ASKS: &[&str] = &[
    "ALWAYS", "NEVER", "DONT", "STOP", "AVOID", "WEUSE", "USE", "STICK", "PUTV", "MUST", "SHOULD",
    "ONLY", "INSTEAD", "PREFER",
];

/// First words that refer to what was said before.
pub(super) const POINTS_BACK: &[&str] = &[
    "it", "that", "this", "which", "even", "not", "why", "and", "as", "like", "you", "because",
    "since", "they", "although", "though", "so", "what", "das", "es", "ça", "eso", "isso",
];

/// Skips openers up to the point of a sentence.
fn skip_openers(text: &str) -> &str {
    // A client's command: "/note always …".
    let is_name = |name: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_:".contains(c);
        !name.is_empty() && name.chars().all(fits)
    };
    let command = text.strip_prefix('/').and_then(|it| it.split_once(' '));
    let command = command.filter(|(name, _)| is_name(name));
    let mut rest = command.map_or(text, |(_, rest)| rest.trim_start());
    loop {
        rest = rest
            .trim_start_matches(BETWEEN)
            .trim_start_matches(['✅', '❌', '👉', '⚠', '🙏', '😅', '🙄', '\u{fe0f}', ' ']);
        let behind = without_no(rest).or_else(|| {
            OPENERS.iter().filter_map(|it| strip_opener(rest, it)).min_by_key(|it| it.len())
        });
        match behind.filter(|it| it.chars().any(char::is_alphanumeric)) {
            Some(behind) if !is_rephrasable(rest) => rest = behind,
            _ => break,
        }
    }
    later_clause(rest).map_or(rest, skip_openers)
}

/// Returns the text behind an opener, if it begins with that.
fn strip_opener<'a>(text: &'a str, opener: &str) -> Option<&'a str> {
    let rest = strip(text, opener)?;
    let next = rest.chars().next()?;
    let is_asian = opener.chars().next().is_some_and(crate::memory::capture::concepts::is_cjk);
    // "note: …" and "note that" open; "note taking is in notes/" does not.
    let must_stop = matches!(
        opener,
        "note"
            | "rule"
            | "important"
            | "reminder"
            | "man"
            | "god"
            | "sure"
            | "well"
            | "great"
            | "nice"
            | "perfect"
            | "cool"
            | "wrong"
            | "generally"
            | "everywhere"
            | "again"
            | "es"
            | "ma"
            | "et"
            | "mas"
            | "attention"
            | "achtung"
            | "wichtig"
            | "hinweis"
            | "general rule"
            | "hard rule"
            | "house rule"
            | "incorrect"
            | "one thing"
            | "now"
            | "note that"
            | "ok"
            | "okay"
            | "not like that"
            | "add a rule"
            | "add this rule"
            | "new rule"
            | "add a note"
            | "add a reminder"
            | "add to your memory"
            | "add to memory"
    );
    // "Make sure you always …" opens; "make sure the tests pass" is a statement.
    let ensures = matches!(opener, "make sure" | "make sure that");
    if ensures
        && !["always", "never", "you", "to", "no", "only"].contains(&first_word(rest).as_str())
    {
        return None;
    }
    let stops = BETWEEN.contains(&next)
        && (!must_stop
            || next != ' '
            || matches!(opener, "note that" | "ok" | "okay" | "again" | "well" | "man" | "sure"));
    (stops || is_asian).then_some(rest)
}

/// Removes a bare "no" that answers; "no abbreviations" keeps its own.
fn without_no(text: &str) -> Option<&str> {
    let (no, rest) = ["no", "non", "não", "nao", "nope", "nein"].iter().find_map(|it| {
        let rest = strip(text, it)?;
        (!rest.starts_with(char::is_alphanumeric)).then_some((*it, rest))
    })?;
    let next = rest.chars().next()?;
    if next != ' ' {
        return BETWEEN.contains(&next).then_some(rest);
    }
    // Without a comma these negate what follows: "não use", "non usare".
    if matches!(no, "non" | "não" | "nao") {
        return None;
    }
    let word = first_word(rest);
    let is_answer = AFTER_NO.contains(&word.as_str());
    // "no usamos": in Spanish it is the negation itself.
    let romance = ["usa", "usamos", "use", "si", "on", "qui", "nunca", "in", "it"]
        .contains(&word.as_str())
        && !is_english(text);
    (is_answer && !romance).then_some(rest)
}

fn first_word(text: &str) -> String {
    let letters = text.trim_start().chars();
    let word: String = letters.take_while(|c| !c.is_whitespace() && !BETWEEN.contains(c)).collect();
    word.to_lowercase()
}

fn is_english(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    [" the ", " we ", " it ", " this ", " is ", " and ", " for ", " not ", " with ", " instead "]
        .iter()
        .any(|it| lower.contains(it))
}

/// Returns the clause with the point behind a beginning about you or me.
fn later_clause(text: &str) -> Option<&str> {
    if is_rephrasable(text) || !speaks_of_us(text) {
        return None;
    }
    let marks = [
        ", so please ",
        " so please ",
        ", so ",
        ": ",
        ", ",
        " - ",
        " — ",
        " – ",
        "... ",
        "… ",
        " but ",
        " so ",
    ];
    let found =
        marks.iter().filter_map(|mark| text.find(mark).map(|at| (at, at + mark.len()))).min()?;
    let rest = text[found.1..].trim_start_matches(BETWEEN);
    // "…, don't write them": the pronoun refers to the clause before.
    let points_back = rest
        .split(|c: char| !c.is_alphanumeric())
        .any(|it| matches!(it, "them" | "it" | "those" | "these"));
    if points_back && rest.split_whitespace().count() < 7 {
        return strip(text, "i ");
    }
    (rest.split_whitespace().count() >= 2).then_some(rest)
}

fn speaks_of_us(text: &str) -> bool {
    let starts = [
        "i", "i'm", "im", "i've", "ive", "i'd", "i'll", "you", "you're", "youre", "you've", "your",
        "why", "u",
    ];
    starts.iter().any(|it| strip(text, it).is_some_and(|rest| rest.starts_with([' ', ','])))
}

fn is_rephrasable(text: &str) -> bool {
    TURNED.iter().any(|(start, _)| strip(text, start).is_some_and(|rest| rest.starts_with(' ')))
}

/// Replaces the pronoun in "you put the tests in test/, they belong in spec/".
fn replace_pronoun(sentence: &str) -> Option<String> {
    let (before, rest) = sentence.split_once(", ")?;
    let behind = ["they ", "it "].iter().find_map(|it| strip(rest, it))?;
    let mut words = before.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("you"));
    // Skips "you" and the verb.
    words.nth(1)?;
    let places = ["in", "into", "under", "at", "to", "on", "next", "inside"];
    let object: Vec<&str> = words.by_ref().take_while(|word| !places.contains(word)).collect();
    let is_named = (1..=4).contains(&object.len())
        && words.next().is_some()
        && !["it", "them", "this", "that", "these", "those"].contains(&object[0]);
    is_named.then(|| format!("{} {behind}", object.join(" ")))
}

/// Removes closers and final punctuation.
fn strip_closers(text: &str) -> &str {
    let mut rest = text;
    loop {
        rest = rest.trim_end_matches(|c: char| {
            !c.is_alphanumeric()
                && !matches!(
                    c,
                    '`' | ')'
                        | ']'
                        | '"'
                        | '\''
                        | '/'
                        | '*'
                        | '>'
                        | '}'
                        | '%'
                        | '+'
                        | '#'
                        | '”'
                        | '」'
                        | '$'
                        | '_'
                )
        });
        let cut = CLOSERS.iter().find_map(|it| {
            let at = rest.len().checked_sub(it.len())?;
            let tail = rest.get(at..)?;
            let stands_apart = rest[..at].ends_with([' ', ',', '，'])
                || (!it.is_ascii()
                    && rest[..at]
                        .chars()
                        .next_back()
                        .is_some_and(crate::memory::capture::concepts::is_cjk));
            (tail.to_lowercase() == *it
                && stands_apart
                && rest[..at].split_whitespace().count() >= 2)
                .then_some(&rest[..at])
        });
        match cut {
            Some(shorter) => rest = shorter,
            None => return rest,
        }
    }
}

/// Shortens "don't ever use var" to "don't use var".
fn without_ever(text: &str) -> String {
    let mut text = text.to_owned();
    for (long, short) in [
        ("n't ever ", "n't "),
        ("dont ever ", "dont "),
        ("do not ever ", "do not "),
        ("never ever ", "never "),
        ("Never ever ", "Never "),
    ] {
        if let Some(at) = text.find(long) {
            text.replace_range(at..at + long.len(), short);
        }
    }
    text
}

/// True if it quotes somebody else.
fn has_speech(text: &str) -> bool {
    text.char_indices().any(|(at, c)| {
        tokens::quoted_length(&text[at..], c).is_some_and(|length| {
            let begins = !matches!(c, '\'' | '‘')
                || text[..at].chars().next_back().is_none_or(char::is_whitespace);
            let inner = &text[at + c.len_utf8()..at + length];
            begins && tokens::is_speech(inner)
        })
    })
}

/// Lowercases the first word, unless its capital may be its own.
fn lowercase_first(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or("");
    let lower = first.to_lowercase();
    let is_plain =
        first.chars().skip(1).all(char::is_lowercase) && first.starts_with(char::is_uppercase);
    let (_, concepts) = crate::memory::capture::concepts::LEXICON
        .longest_phrase(&[lower.trim_end_matches([',', ':'])]);
    let is_small = crate::memory::capture::concepts::LEXICON.is_small(&lower);
    if is_plain && (!concepts.is_empty() || is_small) {
        format!("{lower}{}", &text[first.len()..])
    } else {
        text.to_owned()
    }
}

/// Strips a beginning, in any casing.
fn strip<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let mut rest = text.chars();
    for wanted in start.chars() {
        let found = rest.next()?;
        let found = if found == '’' { '\'' } else { found };
        if !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(rest.as_str())
}

/// Words before the files to which a statement is limited.
const INSIDE: &[&str] = &[
    "in", "inside", "under", "within", "for", "unter", "dans", "sous", "en", "em", "nella", "nei",
    "sotto",
];

/// Verbs that say where something is put: the path behind them is a place and not a limit.
const PLACES: &[&str] = &[
    "put", "place", "go", "goes", "live", "lives", "belong", "belongs", "keep", "store", "stay",
    "move", "add", "save", "write", "located", "found", "is", "are", "create",
];

/// Glob of the files to which a statement is limited: "in src/legacy/ never use …".
pub(super) fn path_glob(statement: &str) -> Option<String> {
    let words: Vec<&str> = statement.split_whitespace().collect();
    let at = words.iter().position(|word| INSIDE.contains(&word.to_lowercase().as_str()))?;
    let named = words.get(at + 1)?.trim_matches(['`', ',', ':', ';', '.']);
    let edge = at == 0 || at + 2 == words.len();
    let is_place = words[..at].iter().any(|word| PLACES.contains(&word.to_lowercase().as_str()));
    if !edge || is_place {
        return None;
    }
    glob_of(named)
}

/// Glob of the files that a path or a pattern names; none for a single file.
pub(super) fn glob_of(named: &str) -> Option<String> {
    let named = named.trim_matches(['`', ',', ':', ';']).trim_end_matches('.');
    if named.contains("://") || named.starts_with(['/', '~', '@']) {
        return None;
    }
    let plain = named.trim_start_matches("./");
    let safe = !plain.is_empty()
        && plain.chars().all(|c| c.is_alphanumeric() || "_-./*".contains(c))
        && !plain.contains("..");
    if !safe {
        return None;
    }
    if let Some(ending) = plain.strip_prefix("*.") {
        return Some(format!("**/*.{ending}"));
    }
    if plain.contains('*') {
        return Some(plain.to_owned());
    }
    let folder = plain.strip_suffix('/')?;
    Some(format!("{folder}/**"))
}
