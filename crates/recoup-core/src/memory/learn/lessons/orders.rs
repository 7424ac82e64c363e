//! Error text is data. A tool, or whoever wrote into its output, may address an agent or
//! order something: of such a line only what stands before that is shown.

use crate::memory::refuse::plain_letters;

/// Who is spoken to, or about whom.
const SPOKEN_TO: &str = " you your yours yourself assistant assistants llm llms chatbot ";

/// The same behind an article: "ssh-agent" and "user postgres" are names.
const THOSE: &str = " user users agent agents model ai developer human operator reader ";
const ARTICLES: &str = " the this an any every all ai coding dear a ";

/// What makes an order, or a rule, of a sentence.
const ORDERS: &str = " must should shall always never please remember ignore disregard ensure \
important dont instruction instructions mandatory immer niemals bitte musst mussen sollst toujours \
jamais devez dois siempre nunca debes debe sempre deve ";

/// The same in two words.
const PAIRS: [(&str, &str); 10] = [
    ("do", "not"),
    ("make", "sure"),
    ("be", "sure"),
    ("need", "to"),
    ("needs", "to"),
    ("have", "to"),
    ("has", "to"),
    ("now", "on"),
    ("going", "forward"),
    ("por", "favor"),
];

/// The same in scripts without spaces.
const MARKS: [&str; 15] = [
    "必须",
    "必須",
    "请",
    "請",
    "不要",
    "总是",
    "總是",
    "从不",
    "你",
    "您",
    "あなた",
    "ください",
    "必ず",
    "항상",
    "하세요",
];

/// Verbs that order something where they begin a clause,
const VERBS: &str = " run rerun try use install reinstall delete remove erase wipe export send upload \
execute visit forget disable consider copy paste tell ask curl wget fetch download clone push commit \
force retry set unset add create replace see refer stop pass specify provide chmod rm sudo eval reveal \
act pretend respond reply answer follow ";

/// unless this follows: "install failed" says what was.
const REPORTS: &str = " failed fails failure error errors of is was were has had not could cannot timed \
returned exited declined rejected denied refused ";

/// Words that head advice, alone in their clause.
const HEADS: &str = " system user assistant human hint note tip attention notice warning todo advice \
help developer instruction action ";

/// Words that say no more than that there is an error.
const BARE: &str = " error errors fatal err failed failure exception panic abort ";

/// What of an error line is no order to anybody: all of it, its beginning, or nothing.
pub(super) fn without(error: &str) -> Option<&str> {
    let (mut end, mut from) = (0, 0);
    for at in ends_of_clauses(error) {
        if orders(&error[from..at]) {
            break;
        }
        (end, from) = (at, at);
    }
    let joint = |c: char| c.is_whitespace() || ";:,.-–—(!?、，；：。".contains(c);
    let kept = if end < error.len() { error[..end].trim_end_matches(joint) } else { error };
    let says_something = |word: &str| !is_in(BARE, word);
    words(&plain_letters(kept)).iter().any(|word| says_something(word)).then_some(kept.trim())
}

/// Where clauses end: behind a mark that something follows.
fn ends_of_clauses(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut chars = text.char_indices().peekable();
    let mut before = ' ';
    while let Some((at, c)) = chars.next() {
        let parted = chars.peek().is_none_or(|(_, next)| next.is_whitespace());
        let ends_here = match c {
            ';' | '!' | '?' | '(' | '—' | '–' | '。' | '、' | '，' | '；' | '：' => true,
            '.' | ':' | ',' => parted,
            '-' | '|' | '>' => parted && before.is_whitespace(),
            _ => false,
        };
        if ends_here {
            ends.push(at + c.len_utf8());
        }
        before = c;
    }
    ends.push(text.len());
    ends
}

/// Whether a clause speaks to somebody, or orders something.
fn orders(clause: &str) -> bool {
    let plain = plain_letters(clause);
    let words = words(&plain);
    let next = |at: usize| words.get(at + 1).map_or("", String::as_str);
    let first = words.first().map_or("", String::as_str);
    MARKS.iter().any(|mark| plain.contains(mark))
        || plain.contains("</")
        || calls_for_attention(clause)
        || (words.len() == 1 && is_in(HEADS, first))
        || (is_in(VERBS, first) && words.len() > 1 && !is_in(REPORTS, next(0)))
        || words.iter().enumerate().any(|(at, word)| {
            is_in(SPOKEN_TO, word)
                || is_in(ORDERS, word)
                || (is_in(ARTICLES, word) && is_in(THOSE, next(at)))
                || PAIRS.contains(&(word.as_str(), next(at)))
        })
}

/// `SYSTEM:`, whatever stands before it.
fn calls_for_attention(clause: &str) -> bool {
    let last = clause.strip_suffix([':', '：']).and_then(|it| it.split_whitespace().next_back());
    last.is_some_and(|word| {
        let loud = !word.contains(char::is_lowercase);
        loud && words(&plain_letters(word)).last().is_some_and(|word| is_in(HEADS, word))
    })
}

/// Words of letters; "don't" is one.
fn words(plain: &str) -> Vec<String> {
    let whole = plain.replace('\'', "");
    let words = whole.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

fn is_in(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|it| it == word)
}
