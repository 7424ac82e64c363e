//! Opt-outs: requests not to remember something, as in "don't remember this: …" or "off the record,
//! …". The request and all that follows it count as private, like text in `<private>` tags. If
//! nothing follows, the request is about the text before it.

use crate::memory::guard::phrase::{matches_choice, starts_with_phrase};
use crate::memory::lang::plain_clauses;
use crate::memory::lang::plain_clauses::PlainClause;

/// Opt-out phrases, as in `refuse::phrase`, in plain letters. Verbs for keep, store and note are
/// also said of code: they count only with "this" behind them, and nothing behind that.
const PHRASES: &[&str] = &[
    "please? dont|never remember|memorize|memorise this|that|these|those|any|anything",
    "please? do not remember|memorize|memorise this|that|it|these|those|any|anything",
    "please? dont remember|memorize|memorise it|what|the following|i",
    "please? dont store|save|keep|record|note|retain this|that please? $",
    "please? do not store|save|keep|record|note|retain this|that please? $",
    "please? dont store|save|keep|record|note|retain|put this|that|it|anything in|to your? memory|notes",
    "please? do not store|save|keep|record|note|retain|put this|that|it|anything in|to your? memory|notes",
    "please? dont store|save|keep|record|note|retain any of this|that",
    "please? do not store|save|keep|record|note|retain any of this|that",
    "please? dont store|save|keep|record|note the following $",
    "please? do not store|save|keep|record|note the following $",
    "please? dont|never write|note|jot this|that|any of? this|that? down",
    "please? dont take|make a? notes|note of|on|about this|that",
    "dont remember $",
    "do not remember $",
    "this|that is not to|for be? remembered|memory",
    "this|that isnt to|for be? remembered|memory",
    "this|that should|must not be remembered|stored|recorded $",
    "this|that shouldnt|mustnt be remembered|stored|recorded $",
    "this|that stays between us",
    "keep this|that|it between us|ourselves|you",
    "keep this|that|it to yourself",
    "strictly? off the record",
    "not for the record",
    "just|strictly? between us $",
    "just|strictly? between you and me $",
    "this|that is strictly? confidential",
    "in confidence $",
    // German
    "bitte? merk|merke dir das|dies|es|folgendes|nichts bitte? nicht",
    "bitte? merk|merke dir bitte? nicht",
    "bitte? merk|merke dir nichts",
    "bitte? das|dies|folgendes bitte? nicht merken|speichern|behalten|notieren|aufschreiben $",
    "bitte? nicht merken",
    "bitte nicht speichern|behalten|notieren|aufschreiben $",
    "bitte? speicher|speichere|notier|notiere|behalt|behalte das|dies|es|folgendes bitte? nicht $",
    "du sollst|solltest|darfst dir? das|dies|es|folgendes dir? nicht merken|speichern|behalten|notieren $",
    "nur? unter uns $",
    "das bleibt unter uns",
    "im vertrauen $",
    "das ist streng? vertraulich",
    // French
    "ne retiens|retenez|memorise|memorisez pas ca|cela|ceci|ce|que",
    "ne enregistre|garde|note|stocke|sauvegarde|conserve pas ca|cela|ceci $",
    "nenregistre|nenregistrez pas ca|cela|ceci|ce|que",
    "ne le|la retiens|memorise|enregistre|garde|note|stocke pas $",
    "ne lenregistre pas $",
    "a? ne pas retenir|memoriser|enregistrer ca|cela|ceci? $",
    "juste? entre nous $",
    "ca|cela reste entre nous",
    "cest confidentiel",
    // Spanish
    "por? favor? no recuerdes|memorices esto|eso|lo|que|nada",
    "por? favor? no guardes|registres|anotes|apuntes|almacenes esto|eso $",
    "por? favor? no guardes|registres|anotes|apuntes|almacenes lo siguiente $",
    "por? favor? no lo recuerdes|guardes|memorices|registres|anotes|apuntes $",
    "entre nosotros $",
    "entre tu y yo $",
    "esto queda entre nosotros",
    "extraoficialmente $",
    "esto es confidencial",
    // Portuguese
    "por? favor? nao lembre|lembres|memorize|decore isso|isto|disso|que|nada",
    "por? favor? nao guarde|salve|registre|anote|armazene|grave isso|isto $",
    "por? favor? nao guarde|salve|registre|anote|armazene|grave o seguinte $",
    "ca? entre nos $",
    "isso fica entre nos",
    "em off $",
    "isso|isto e confidencial",
    // Italian
    "per? favore? non ricordare|memorizzare questo|cio|che|quanto|quello",
    "per? favore? non salvare|registrare|annotare|conservare questo|cio $",
    "per? favore? non salvare|registrare|annotare|conservare|ricordare quanto segue $",
    "per? favore? non ricordarlo|memorizzarlo|salvarlo|registrarlo|annotarlo",
    "resti|rimanga tra noi",
    "tra noi due? $",
    "questo e confidenziale",
];

/// Opt-out phrases in scripts without spaces. Verbs that are also said of code need "this" before
/// them, or nothing behind them.
const RUNS: &[&str] = &[
    "不要记住",
    "别记住",
    "不用记住",
    "请勿记住",
    "不要記住",
    "別記住",
    "不要记下",
    "别记下",
    "别外传",
    "私下说",
    "不要把这",
    "别把这",
    "覚えないで",
    "記憶しないで",
    "覚えなくて",
    "ここだけの話",
    "オフレコ",
];
const RUNS_OF_THIS: &[(&str, &[&str])] = &[
    ("这", &["不要保存", "别保存", "不用保存", "不要记录", "别记录", "不要记", "别记"]),
    ("以下", &["不要保存", "别保存", "不要记录", "别记录", "保存しないで", "記録しないで"]),
    ("これ", &["保存しないで", "記録しないで", "メモしないで"]),
    ("それ", &["保存しないで", "記録しないで", "メモしないで"]),
];
const RUNS_ALONE: &[&str] =
    &["不要保存", "别保存", "不要记录", "别记录", "保存しないで", "記録しないで", "メモしないで"];

/// Bytes that are searched at either end of a longer text: what lies between was pasted.
const EDGE: usize = 6_000;

/// Returns the text without an opt-out and what it covers; may be empty.
pub(crate) fn without_opted_out(text: &str) -> &str {
    if text.len() <= 2 * EDGE {
        return cut_at_opt_out(text, text);
    }
    let kept = cut_at_opt_out(text, &text[..text.floor_char_boundary(EDGE)]);
    if kept.len() < text.len() {
        return kept;
    }
    cut_at_opt_out(text, &text[text.floor_char_boundary(text.len() - EDGE)..])
}

/// Returns `text` up to the opt-out in `part` of it.
fn cut_at_opt_out<'a>(text: &'a str, part: &str) -> &'a str {
    let clauses = plain_clauses::split_clauses(part);
    let opts_out = |clause: &PlainClause| {
        let words = clause.words();
        let is_phrase =
            |rest: &[&str]| PHRASES.iter().any(|phrase| starts_with_phrase(phrase, rest));
        let joined = words.concat();
        let has = |part: &&str| joined.contains(*part);
        let is_alone =
            |run: &&str| joined.trim_start_matches('请').trim_end_matches("ください") == *run;
        without_leads(&words).any(is_phrase)
            || (has_unspaced_script(&joined)
                && (RUNS.iter().any(has)
                    || RUNS_OF_THIS.iter().any(|(this, verbs)| has(this) && verbs.iter().any(has))
                    || RUNS_ALONE.iter().any(is_alone)))
    };
    let Some(at) = clauses.iter().position(opts_out) else { return text };
    let said = &clauses[at];
    let follows = |it: &PlainClause| {
        it.words.len() > 1 || it.words.iter().any(|word| has_unspaced_script(word))
    };
    let is_followed =
        clauses[at + 1..].iter().any(follows) || said.words.len() > LONGEST || is_head(text, part);
    if !said.begins || !is_followed {
        return "";
    }
    let before = if is_head(text, part) { 0 } else { text.len() - part.len() };
    text[..before + said.from].trim_end()
}

/// Most words of a bare opt-out; a longer clause has its subject in it: "don't remember that we …".
const LONGEST: usize = 6;

fn is_head(text: &str, part: &str) -> bool {
    part.len() < text.len() && text.starts_with(part)
}

/// True if a whole prompt is an opt-out and nothing else: then it is about what was said before.
pub(crate) fn is_bare_opt_out(words: &[&str]) -> bool {
    let is_phrase = |rest: &[&str]| {
        let ending = rest.iter().rev().take_while(|word| matches_choice(ENDINGS, word)).count();
        let bare = |phrase: &&&str| starts_with_phrase(phrase.trim_end_matches(" $"), rest);
        PHRASES.iter().filter(bare).any(|phrase| {
            let whole = format!("{} $", phrase.trim_end_matches(" $"));
            (0..=ending).any(|cut| starts_with_phrase(&whole, &rest[..rest.len() - cut]))
        })
    };
    let text = words.concat();
    let is_alone = |run: &&str| {
        let around = text.split_once(run);
        around.is_some_and(|(before, behind)| {
            before.chars().chain(behind.chars()).all(|c| RUN_PARTICLES.contains(c))
        })
    };
    without_leads(words).any(is_phrase) || RUNS.iter().chain(RUNS_ALONE).any(is_alone)
}

/// Words that may stand before a phrase.
const LEADS: &str = "and|but|so|ok|okay|hey|btw|also|no|oh|oops|sorry|wait|actually|please|hmm|und|\
                     aber|nein|bitte|mais|non|pardon|pero|perdon|mas|ma|scusa";

/// Words that may stand behind a whole opt-out: "don't remember any _of that please_".
const ENDINGS: &str = "please|thanks|of|this|that|it|i|just|said|bitte|danke|merci|gracias|grazie";

/// Particles in Chinese and Japanese that may stand on either side.
const RUN_PARTICLES: &str = "请請这這那个個些它们吧了哦これそのをはもねくださいよ";

/// Returns the rest of a clause for each number of leads removed: the first word of a phrase may be
/// a lead, too.
pub(crate) fn without_leads<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let leads = words.iter().take_while(|word| matches_choice(LEADS, word)).count();
    (0..=leads).map(|count| &words[count..])
}

fn has_unspaced_script(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}'))
}
