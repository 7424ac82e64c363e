//! Compares what was read with what a person would have kept.

use recoup_core::memory::capture::{ClassifiedStatement, PromptClassification};

use super::Prompt;

/// What is wrong with a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Something was kept that is nothing to remember.
    Kept,
    /// What is to be remembered was not seen.
    Missed,
    /// It was taken for another kind.
    Kind(String),
    /// What it is about is not in the statement.
    Lost(String),
    /// The statement says the opposite.
    Inverted,
    /// It holds elsewhere, or only here.
    Scope,
    /// A secret was kept.
    Secret,
}

/// What a prompt was taken for.
pub(crate) fn label(reading: &PromptClassification) -> &'static str {
    match reading.sayings.first() {
        Some(saying) => saying.kind.as_str(),
        None if reading.re_ask => "re-ask",
        None => "none",
    }
}

/// Everything that is wrong.
pub(crate) fn faults(prompt: &Prompt, reading: &PromptClassification) -> Vec<Fault> {
    let found = label(reading);
    let mut faults = Vec::new();
    if !reading.sayings.is_empty() && prompt.why == "secret" {
        faults.push(Fault::Secret);
    }
    if !prompt.is_memory() {
        if !reading.sayings.is_empty() {
            faults.push(Fault::Kept);
        } else if found != prompt.label {
            faults.push(Fault::Kind(found.to_owned()));
        }
        return faults;
    }
    if reading.sayings.is_empty() {
        return vec![Fault::Missed];
    }
    if found != prompt.label {
        faults.push(Fault::Kind(found.to_owned()));
    }
    let whole =
        reading.sayings.iter().map(|it| it.text.to_lowercase()).collect::<Vec<_>>().join("\n");
    let lost = prompt.must.iter().find(|it| !whole.contains(&it.to_lowercase()));
    faults.extend(lost.map(|it| Fault::Lost(it.clone())));
    if is_inverted(prompt, &reading.sayings) {
        faults.push(Fault::Inverted);
    }
    if reading.sayings.iter().any(|it| it.universal) != (prompt.scope == "universal") {
        faults.push(Fault::Scope);
    }
    faults
}

/// Signs that a text denies or forbids something, in all eight languages.
const DENIALS: &[&str] = &[
    "don't",
    "dont",
    "do not",
    "not",
    "never",
    "no",
    "stop",
    "avoid",
    "without",
    "doesn't",
    "doesnt",
    "isn't",
    "isnt",
    "aren't",
    "won't",
    "can't",
    "cannot",
    "cant",
    "shouldn't",
    "mustn't",
    "nothing",
    "none",
    "skip",
    "ban",
    "banned",
    "forbidden",
    "quit",
    "neither",
    "nor",
    "hate",
    "rather than",
    "instead",
    "off limits",
    "off-limits",
    "hands off",
    "nicht",
    "kein",
    "keine",
    "keinen",
    "keiner",
    "nie",
    "niemals",
    "ohne",
    "vermeide",
    "nichts",
    "statt",
    "nix",
    "ne",
    "pas",
    "jamais",
    "aucun",
    "aucune",
    "sans",
    "évite",
    "arrête",
    "plus",
    "rien",
    "ni",
    "interdit",
    "nunca",
    "jamás",
    "sin",
    "evita",
    "deja",
    "dejá",
    "nada",
    "ningún",
    "prohibido",
    "não",
    "nao",
    "sem",
    "evite",
    "pare",
    "para de",
    "jamais",
    "nenhum",
    "nem",
    "non",
    "mai",
    "senza",
    "smetti",
    "basta",
    "evitare",
    "niente",
    "nessun",
    "vietato",
    "n't",
];
const DENIALS_ASIAN: &[&str] = &[
    "ない",
    "ません",
    "禁止",
    "やめ",
    "避け",
    "ず",
    "な。",
    "不",
    "别",
    "勿",
    "禁",
    "没",
    "无",
    "非",
    "ではなく",
    "じゃなく",
    "ぬ",
];

/// Whether a text denies or forbids something.
pub(crate) fn denies(text: &str) -> bool {
    let lower = text.to_lowercase().replace('’', "'");
    let padded: String = lower
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' || c == '-' { c } else { ' ' })
        .collect();
    let padded = format!(" {padded} ");
    DENIALS.iter().any(|it| padded.contains(&format!(" {it} ")))
        || padded.contains("n't ")
        || lower.contains("n'") && padded.contains(" pas ")
        || DENIALS_ASIAN.iter().any(|it| lower.contains(it))
}

/// A denial that was lost; or one that stands where neither the person who labelled the
/// prompt nor the words that were typed have any.
fn is_inverted(prompt: &Prompt, sayings: &[ClassifiedStatement]) -> bool {
    let about = |saying: &&ClassifiedStatement| {
        prompt.must.iter().any(|it| saying.text.to_lowercase().contains(&it.to_lowercase()))
    };
    let own: Vec<&ClassifiedStatement> = sayings.iter().filter(about).collect();
    if own.is_empty() {
        return false;
    }
    let denied = own.iter().any(|it| denies(&it.text));
    if prompt.negated {
        !denied
    } else {
        denied && own.iter().all(|it| denies(&it.text) && !denies(&it.quote))
    }
}
