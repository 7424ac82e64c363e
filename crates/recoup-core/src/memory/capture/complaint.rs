//! Complaints about the agent: "you never run the tests", "du pushst immer auf main". They describe
//! what is wrong, so kept as rules they would say the opposite of what is wanted.
//!
//! Recognized by their form: the second person, a bare verb and "always" or "never". A sentence
//! about what you should, must or may do is a rule, and so is one about what you do from now on.

use crate::memory::capture::features::TokenizedPrompt;
use crate::memory::capture::outline::PromptOutline;
use crate::memory::capture::tokens;
use crate::memory::capture::tokens::SentenceToken;
use crate::memory::lang::phrase::starts_with_phrase;
use crate::memory::lang::plain_clauses;
use crate::memory::lang::word_lists::is_one_of;

/// Words that may stand before a complaint.
const LEADS: &str = " no nope nah ok okay but and so ugh hey well wait argh man dude again also because \
seriously honestly stop it aber und nein also weil mais non et pero y porque mas e ma pero che dai boh ";

/// Concepts of something lasting: then it is no complaint.
const LASTING: &[&str] = &["NOWON", "LATER", "UNIVERSAL", "MUST", "SHOULD"];

/// Verbs of praise and modals, which make no complaint.
const PRAISE: &str = "!disappoint|disappoints|fail|cease|do|get|know|amaze|impress|deliver|nail|should|must|need|have|want|may|can|ought";

const MODALS: &str = " sollst solltest musst musstest darfst durftest kannst konntest brauchst mochtest willst \
dois devrais devez devriez peux pourrais pouvez pourriez faut doit \
debes deberias tienes puedes podrias has deve deveria tem precisa pode poderia devi dovresti puoi potresti ";

const GERMAN: &str = " nie niemals immer standig dauernd andauernd ";
const FRENCH: &str = " jamais toujours constamment ";
const ROMANCE: &str = " nunca siempre jamas sempre mai ";

/// Spanish verbs in the second person, whose imperative has another form.
const SPANISH: &str = " usas utilizas escribes pones haces olvidas ejecutas subes anades agregas cambias \
borras corres creas dejas metes rompes ignoras mandas empujas llamas mezclas respondes contestas preguntas \
inventas repites instalas commiteas pusheas formateas documentas comentas actualizas sigues lees miras revisas \
tocas modificas eliminas copias pides dices vas vuelves generas compilas lanzas abres cierras envias nombras \
importas exportas declaras defines cometes fallas confirmas despliegas publicas duplicas refactorizas ";

/// Italian verbs in the second person, whose imperative ends in another vowel.
const ITALIAN: &str = " usi dimentichi lasci ignori cambi cancelli mandi pushi committi aggiorni formatti \
crei lanci copi modifichi elimini installi provi testi documenti commenti controlli sbagli carichi ";

/// Endings of infinitives. "Non scrivi mai" is a complaint; "non scrivere mai" and "non usarli mai"
/// are rules.
const ITALIAN_INFINITIVES: &[&str] = &["rli", "rci", "rti", "rmi", "rsi", "rvi", "rgli"];

const CHINESE: &[&str] = &[
    "总是",
    "总",
    "老是",
    "老",
    "一直",
    "从来不",
    "从来没",
    "从不",
    "永远不",
    "又",
    "每次都",
    "都不",
    "總是",
];
const CHINESE_RULES: &[&str] = &[
    "应该",
    "应当",
    "必须",
    "务必",
    "要",
    "别",
    "以后",
    "今后",
    "从现在",
    "不能",
    "不得",
    "可以",
    "请",
    "应",
];

const JAPANESE_YOU: &[&str] =
    &["あなたは", "君は", "きみは", "お前は", "おまえは", "あなたって", "君って"];
const JAPANESE: &[&str] = &["いつも", "毎回", "決して", "全然", "絶対", "ばかり"];
/// Endings of Japanese commands.
pub(super) const JAPANESE_RULES: &[&str] = &[
    "て",
    "で",
    "ください",
    "下さい",
    "こと",
    "べき",
    "ように",
    "とする",
    "ましょう",
    "なさい",
    "ほしい",
    "欲しい",
];

/// True if a prompt has a complaint among its sentences.
pub(super) fn has_complaint(outline: &PromptOutline, read: &TokenizedPrompt) -> bool {
    let may_be = |own: &[SentenceToken]| {
        own.iter().any(|token| ["ALWAYS", "NEVER", "YOUKEEP"].iter().any(|it| token.is(it)))
    };
    let mut sentences = outline.units.iter().zip(&read.tokens);
    sentences.any(|(unit, own)| {
        let may_be = may_be(own) || JAPANESE.iter().any(|it| unit.text.contains(it));
        may_be && is_complaint(&unit.text)
    })
}

/// True if a sentence begins with a complaint.
pub(super) fn is_complaint(sentence: &str) -> bool {
    let clauses = plain_clauses::split_clauses(sentence);
    // "No, you never …": short clauses lead up to it.
    let skipped =
        clauses.iter().take_while(|it| it.words.iter().all(|word| is_one_of(word, LEADS))).count();
    let Some(clause) = clauses.get(skipped) else { return false };
    let words = clause.words();
    let leads = words.iter().take_while(|word| is_one_of(word, LEADS)).count();
    let words = &words[leads..];
    let adverb = "never|always|constantly|continually|forever";
    let english = format!("you|u|ya just|really|simply|literally|still? {adverb} ever? {PRAISE}");
    let is_bare = |verb: &str| verb.ends_with('t') && !is_one_of(verb, MODALS);
    // "Du schreibst nie Tests", "nie schreibst du Tests".
    let in_german = match words {
        ["du", verb, rest @ ..] => is_bare(verb) && has(rest, GERMAN),
        [adverb, verb, "du", ..] => is_one_of(adverb, GERMAN) && is_bare(verb),
        _ => false,
    };
    let says_so = starts_with_phrase(&english, words)
        || in_german
        || matches!(words, ["tu" | "t" | "vous" | "tes", rest @ ..]
            if has(rest, FRENCH) && !has(rest, MODALS))
        || in_romance(words)
        || in_unspaced_script(sentence);
    if !says_so {
        return false;
    }
    let end = clauses.get(skipped + 1).map_or(sentence.len(), |next| next.from);
    let said = tokens::tokenize(&sentence[clause.from..end]);
    // "…, ok?" is said of rules.
    let asks_for_consent = sentence.trim_end().ends_with(['?', '？'])
        && !crate::memory::capture::exclusion::is_question(sentence);
    !said.iter().any(|token| LASTING.iter().any(|it| token.is(it))) && !asks_for_consent
}

fn has(words: &[&str], list: &str) -> bool {
    words.iter().any(|word| is_one_of(word, list))
}

/// Spanish, Portuguese and Italian.
fn in_romance(words: &[&str]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let names_you = matches!(*first, "tu" | "vos" | "voce" | "vc" | "usted");
    let rest = if names_you { rest } else { words };
    if !has(rest, ROMANCE) || has(rest, MODALS) {
        return false;
    }
    let early = &rest[..rest.len().min(3)];
    names_you
        || early.iter().any(|word| is_one_of(word, SPANISH) || is_one_of(word, ITALIAN))
        || matches!(early, ["non", verb, "mai"] if verb.ends_with('i')
            && !ITALIAN_INFINITIVES.iter().any(|end| verb.ends_with(end)))
}

/// Chinese and Japanese.
fn in_unspaced_script(sentence: &str) -> bool {
    let has = |list: &[&str], text: &str| list.iter().any(|it| text.contains(it));
    let start = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    let behind_you = start.strip_prefix(['你', '您']);
    behind_you.is_some_and(|rest| has(CHINESE, rest) && !has(CHINESE_RULES, rest))
        || (JAPANESE_YOU.iter().any(|you| sentence.starts_with(you))
            && has(JAPANESE, sentence)
            && !JAPANESE_RULES.iter().any(|it| end.ends_with(it)))
}
