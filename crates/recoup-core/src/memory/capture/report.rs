//! Reports and sayings: "the app always crashes", "he never uses tabs", "never say never". They
//! have the words of a rule, but ask for nothing.

use crate::memory::capture::complaint::JAPANESE_RULES;
use crate::memory::lang::phrase::starts_with_phrase;
use crate::memory::lang::plain_clauses;
use crate::memory::lang::word_lists::is_one_of;

const ALWAYS: &str =
    " always constantly immer standig dauernd andauernd toujours constamment siempre sempre ";
const NEVER: &str = " never nie niemals jamais nunca jamas mai ";

/// Verbs for going wrong.
const FAILS: &str = " crashes crash fails fail hangs hang freezes freeze breaks dies stalls segfaults panics \
leaks flickers deadlocks crashing failing hanging breaking \
sturzt sturzen crasht crashen hangt hangen bricht brechen schlagt schlagen versagt scheitert scheitern friert \
spinnt spinnen klemmt kaputt fehl \
plante plantent echoue echouent bloque bloquent crashe crashent casse cassent ferme fige freeze rame \
falla fallan cae caen cierra cuelga cuelgan rompe revienta peta crashea bloquea congela \
falha falham cai caem quebra quebram trava travam fecha crasha \
fallisce falliscono crashano blocca bloccano cade cadono chiude pianta ";

/// Verbs for working: with "never" they report a failure.
const WORKS: &str = " works work pass passes responds respond funktioniert funktionieren klappt klappen reagiert \
marche marchent fonctionne fonctionnent demarre repond funciona funcionan funcionam arranca responde carrega \
inicia funziona funzionano risponde parte ";

/// Words of commands and obligations: with these nothing is reported.
const RULES: &str = " must should shall please need needs let make ensure want unless you we i \
muss mussen soll sollen sollte sollten darf durfen bitte wir ich doit doivent faut nous debe deben hay nosotros \
deve devem bisogna devono noi ";
/// Words that begin a condition.
const IFS: &str = " if when whenever wenn falls sobald si quand lorsque cuando quando se ";

/// Pronouns for others.
const OTHERS: &str =
    " he she they er sie ils elles elle ella ellos ellas ele ela eles elas lui loro ";

const CHINESE_ADVERBS: &[&str] =
    &["总是", "老是", "一直", "从来不", "从不", "从来没", "每次都", "經常", "经常", "總是"];
const CHINESE_FAILS: &[&str] = &[
    "崩溃",
    "崩潰",
    "失败",
    "失敗",
    "报错",
    "卡死",
    "卡住",
    "挂掉",
    "挂了",
    "出错",
    "闪退",
    "不起作用",
    "起作用",
    "不工作",
    "没反应",
    "打不开",
    "超时",
    "断开",
    "不生效",
    "生效",
    "不显示",
];
const CHINESE_RULES: &[&str] =
    &["如果", "要", "必须", "务必", "应", "请", "别", "时候", "记得", "我们"];

const JAPANESE_ADVERBS: &[&str] = &["いつも", "毎回", "常に", "必ず", "絶対", "一度も", "決して"];
const JAPANESE_FAILS: &[&str] = &[
    "落ちる",
    "落ちます",
    "落ちてる",
    "落ちている",
    "クラッシュ",
    "失敗する",
    "失敗します",
    "失敗して",
    "固まる",
    "固まり",
    "壊れる",
    "壊れ",
    "エラーになる",
    "エラーが出",
    "エラーになり",
    "止まる",
    "止まります",
    "動かない",
    "動きません",
    "開かない",
    "表示されない",
    "効かない",
];

/// Sayings, in plain words.
const SAYINGS: &[&str] = &[
    "never give up",
    "never say never",
    "never gonna",
    "never been better",
    "never better",
    "never look back",
    "never a dull moment",
    "always a pleasure",
    "always look on",
    "always on the move",
    "always be closing",
    "better late than never",
    "now or never",
    "its now or never",
    "never change a running",
    "never stop learning",
    "immer mit der ruhe",
    "immer langsam",
    "immer schon langsam",
    "immer der reihe nach",
    "immer wieder gern",
    "immer wieder gerne",
    "sag niemals nie",
    "sag nie nie",
    "man lernt nie aus",
    "nie aufgeben",
    "niemals aufgeben",
    "jamais deux sans trois",
    "ne jamais dire jamais",
    "il ne faut jamais dire",
    "on ne sait jamais",
    "mieux vaut tard",
    "toujours plus haut",
    "nunca digas nunca",
    "nunca se sabe",
    "nunca te rindas",
    "mas vale tarde",
    "nunca es tarde",
    "nunca diga nunca",
    "nunca desista",
    "antes tarde",
    "nunca e tarde",
    "mai dire mai",
    "non si sa mai",
    "meglio tardi",
    "non mollare mai",
    "non e mai troppo tardi",
];
const RUN_SAYINGS: &[&str] =
    &["永不放弃", "永不言弃", "活到老", "諦めないで", "諦めるな", "千里之行"];

/// Beginnings of questions, with or without a question mark.
const WHY: &[&str] = &[
    "why",
    "how come",
    "warum",
    "wieso",
    "weshalb",
    "pourquoi",
    "por que",
    "perche",
    "come mai",
    "how often do",
];
const RUN_WHY: &[&str] =
    &["为什么", "为何", "为啥", "你为什么", "なぜ", "なんで", "どうして", "爲什麼", "為什麼"];

/// True if a sentence reports something, and asks for nothing.
pub(super) fn is_report(sentence: &str) -> bool {
    let clauses = plain_clauses::split_clauses(sentence);
    let Some(first) = clauses.first() else { return false };
    let words = first.words();
    // "He always uses tabs."
    let is_of_others = matches!(&words[..], [first, rest @ ..] if is_one_of(first, OTHERS) && {
        let early = &rest[..rest.len().min(4)];
        early.iter().any(|word| is_one_of(word, ALWAYS) || is_one_of(word, NEVER))
            && !early.iter().any(|word| is_one_of(word, RULES))
    });
    // The same in Chinese and Japanese.
    let has = |list: &[&str]| list.iter().any(|it| sentence.contains(it));
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric());
    let commands = JAPANESE_RULES.iter().any(|it| end.ends_with(it));
    goes_wrong(&words)
        || is_of_others
        || (has(CHINESE_ADVERBS) && has(CHINESE_FAILS) && !has(CHINESE_RULES))
        || (has(JAPANESE_ADVERBS) && has(JAPANESE_FAILS) && !commands)
        || SAYINGS.iter().any(|it| starts_with_phrase(it, &words))
        || RUN_SAYINGS.iter().any(|it| sentence.contains(it))
        || (clauses.len() == 1
            && (WHY.iter().any(|why| starts_with_phrase(why, &words))
                || RUN_WHY.iter().any(|why| sentence.starts_with(why))))
}

/// True for a subject and what it always does wrong or never does right.
fn goes_wrong(words: &[&str]) -> bool {
    let has = |list: &str| words.iter().any(|word| is_one_of(word, list));
    let Some(first) = words.first() else { return false };
    let begins_with_rule = is_one_of(first, ALWAYS) || is_one_of(first, NEVER);
    // The first word may be a verb that commands: "fail always". "Funktioniert nie" is none.
    let commands = is_one_of(first, FAILS) || is_one_of(first, WORKS) || is_one_of(first, IFS);
    // "Never works" ends the sentence: "the API never responds with 500" describes it.
    let says_no_more = || {
        let is_said = |word: &&str| is_one_of(word, WORKS) || is_one_of(word, NEVER);
        let behind = words.iter().rposition(is_said).map_or(words, |at| &words[at + 1..]);
        let is_place = |word: &str| is_one_of(word, " on in at auf im sur dans en em no na su ");
        behind.len() <= 1 || (behind.len() == 2 && is_place(behind[0]))
    };
    // The adverb stands near the verb, unlike in "the job never reads what fails".
    let places = |lists: [&str; 2]| -> Vec<usize> {
        let is_in = |word: &str| lists.iter().any(|list| is_one_of(word, list));
        words.iter().enumerate().filter(|(_, word)| is_in(word)).map(|(at, _)| at).collect()
    };
    let (adverbs, verbs) = (places([ALWAYS, NEVER]), places([FAILS, WORKS]));
    !begins_with_rule
        && !commands
        && !has(RULES)
        && ((has(FAILS) && (has(ALWAYS) || has(NEVER)))
            || (has(WORKS) && has(NEVER) && says_no_more()))
        && adverbs.iter().any(|adverb| verbs.iter().any(|verb| adverb.abs_diff(*verb) <= 2))
}
