//! Explicit changes of mind: "we moved from jest to vitest", "scrap the pnpm thing", "the limit is 100
//! now". Words of change tell what ends and what is new; without any, nothing is decided here.
//!
//! ```text
//! scrap puppeteer, ticket pdfs come out of typst      ends: puppeteer
//! the fare service is on 9310 now                     new: fare service, 9310
//! ```
//!
//! An older statement gives way if it names what ends, or if it gives another value of the same kind
//! to the same subject. Statements about different areas (environments, languages, paths) leave each
//! other alone, and so does a change in one area leave the general rule.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::fold::fold_char;
use crate::memory::lang::forms::WordStemmer;
use crate::memory::lang::tokenizer::WordSort;

/// Least share of the words of an ended clause that an older statement must have.
const ENDED_SHARE: f32 = 0.5;
/// Least share of an older statement's subject that a new value must name.
const SUBJECT_SHARE: f32 = 0.5;

/// Words of change, from `lang/change.toml`.
struct ChangeWords {
    end: Vec<CuePhrase>,
    now: Vec<CuePhrase>,
    keep: Vec<CuePhrase>,
    compare: HashSet<&'static str>,
    moves: HashSet<&'static str>,
    from: HashSet<&'static str>,
    to: HashSet<&'static str>,
    place: HashSet<&'static str>,
    within: HashSet<&'static str>,
    subordinate: HashSet<&'static str>,
    light: HashSet<&'static str>,
    area: HashMap<&'static str, &'static str>,
    same: HashMap<&'static str, &'static str>,
    /// Words of `area` and `same` in scripts without spaces.
    unspaced: Vec<(&'static str, &'static str)>,
}

/// A phrase that tells something about its clause.
struct CuePhrase {
    words: Vec<&'static str>,
    /// True if it counts only at the end of a clause.
    is_last: bool,
}

static WORDS: LazyLock<ChangeWords> = LazyLock::new(|| {
    let lists = include_str!("../../lang/change.toml");
    let list = |name: &str| -> Vec<&'static str> {
        let opening = format!("\n{name} = \"");
        let from = lists.find(&opening).map_or(lists.len(), |at| at + opening.len());
        let words = lists[from..].trim_start_matches('"').split('"').next().unwrap_or_default();
        words.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()
    };
    let cues = |name: &str| -> Vec<CuePhrase> {
        let phrase = |text: &'static str| {
            let (text, is_last) = text.strip_suffix(" $").map_or((text, false), |it| (it, true));
            CuePhrase { words: text.split(' ').collect(), is_last }
        };
        list(name).into_iter().map(phrase).collect()
    };
    let names = |name: &str| -> HashMap<&'static str, &'static str> {
        let pairs = list(name).into_iter().filter_map(|group| group.split_once('='));
        pairs.flat_map(|(all, one)| all.split(' ').map(move |it| (it, one))).collect()
    };
    let (area, same) = (names("area"), names("same"));
    let unspaced = area.iter().chain(&same).filter(|(word, _)| word.chars().any(is_unspaced));
    ChangeWords {
        end: cues("end"),
        now: cues("now"),
        keep: cues("keep"),
        compare: list("compare").into_iter().collect(),
        moves: list("move").into_iter().collect(),
        from: list("from").into_iter().collect(),
        to: list("to").into_iter().collect(),
        place: list("place").into_iter().collect(),
        within: list("within").into_iter().collect(),
        subordinate: list("subordinate").into_iter().collect(),
        light: list("light").into_iter().collect(),
        unspaced: unspaced.map(|(word, one)| (*word, *one)).collect(),
        area,
        same,
    }
});

/// A statement, taken apart for the comparison.
#[derive(Debug, Default)]
struct ChangeReading {
    /// Words of the clauses that end something.
    ended: Vec<Vec<String>>,
    /// True if something is said to be different now.
    is_new: bool,
    /// True if it says that something stays, or holds besides.
    keeps: bool,
    /// Words that tell what it is about.
    subject: Vec<String>,
    /// Values, by their kind.
    values: Vec<(String, String)>,
    /// Areas in which alone it holds.
    areas: Vec<String>,
    /// Areas that clauses without words of change name.
    areas_aside: Vec<String>,
    /// True if an area is a path.
    has_path_area: bool,
}

/// True if `newer` says in words of change that `older` no longer holds.
pub(crate) fn ends_by_change(newer: &str, older: &str) -> bool {
    let new = ChangeReading::of(newer);
    if !new.says_change() {
        return false;
    }
    new.ends(&ChangeReading::of(older))
}

/// True if a statement has words of change.
pub(crate) fn says_change(statement: &str) -> bool {
    ChangeReading::of(statement).says_change()
}

/// True if two statements give the same values.
pub(crate) fn has_same_values(one: &str, other: &str) -> bool {
    let values = |text: &str| {
        let mut values = ChangeReading::of(text).values;
        values.sort_unstable();
        values
    };
    values(one) == values(other)
}

/// Words of a text, folded, with other names of one thing unified.
pub(crate) fn unified_words(text: &str) -> Vec<String> {
    let unify = |it: ChangeToken<'_>| {
        let one = WORDS.same.get(it.folded.as_str()).map(|one| (*one).to_owned());
        one.unwrap_or(it.folded)
    };
    split_tokens(text).into_iter().map(unify).collect()
}

/// Words that tell what a text is about, without words of change.
pub fn telling_words(text: &str) -> Vec<String> {
    let reading = ChangeReading::of(text);
    let values = reading.values.into_iter().map(|(_, value)| value);
    let ended = reading.ended.into_iter().flatten();
    let areas = reading.areas.into_iter().chain(reading.areas_aside);
    reading.subject.into_iter().chain(values).chain(ended).chain(areas).collect()
}

impl ChangeReading {
    fn of(statement: &str) -> Self {
        let mut reading = Self::default();
        for clause in clauses(statement) {
            reading.add_clause(&clause);
        }
        if reading.areas.is_empty() {
            reading.areas = std::mem::take(&mut reading.areas_aside);
        }
        reading
    }

    fn says_change(&self) -> bool {
        self.is_new || !self.ended.is_empty()
    }

    fn add_clause(&mut self, clause: &str) {
        let tokens = split_tokens(clause);
        let words: Vec<&str> = tokens.iter().map(|it| it.folded.as_str()).collect();
        let joined: String = words.concat();
        let finds = |cues: &[CuePhrase]| -> Option<(usize, usize)> {
            cues.iter()
                .filter_map(|cue| cue.find(&words, &joined))
                .max_by_key(|(_, length)| *length)
        };
        // "before you stop" ends nothing.
        let is_main = |(at, _): &(usize, usize)| {
            let before = &words[..(*at).min(words.len())];
            !before.iter().any(|word| WORDS.subordinate.contains(word))
        };
        let (end, now) = (finds(&WORDS.end).filter(is_main), finds(&WORDS.now));
        self.keeps |= finds(&WORDS.keep).is_some();
        self.is_new |= now.is_some();
        let is_cue = |at: usize| {
            [end, now]
                .into_iter()
                .flatten()
                .any(|(from, length)| (from..from + length).contains(&at))
        };
        let moved = moved_from(&words);
        let places = words.iter().any(|word| WORDS.place.contains(word));
        let is_within = |at: usize| at > 0 && WORDS.within.contains(words[at - 1]);
        let (mut ended, mut areas) = (Vec::new(), Vec::new());
        for (at, token) in tokens.iter().enumerate() {
            if is_cue(at) || WORDS.light.contains(token.folded.as_str()) {
                continue;
            }
            let pair = words.get(at + 1).map(|next| format!("{}-{next}", token.folded));
            let one = pair.and_then(|pair| WORDS.same.get(pair.as_str()));
            let one = one.or_else(|| WORDS.same.get(token.folded.as_str())).copied();
            let plain = one.map_or_else(|| stem(&token.folded), str::to_owned);
            // What stands before "instead of X" is new, and what stands behind "X instead" too.
            let is_ended = match (end, &moved) {
                (_, Some(range)) => range.contains(&at),
                (Some((from, _)), None) if is_comparing(&words, from) => at > from,
                (end, None) => end.is_some(),
            };
            if is_ended {
                ended.push(plain.clone());
            }
            if let Some(area) = area_of(token, (at == 1 || !places) && is_within(at)) {
                self.has_path_area |= token.is_path();
                areas.push(area);
                continue;
            }
            match value_kind(token, &plain) {
                _ if is_ended => {}
                Some(kind) => self.values.push((kind, plain)),
                None => self.subject.push(plain),
            }
        }
        for (word, one) in WORDS.unspaced.iter().filter(|(word, _)| clause.contains(word)) {
            let list = match end {
                _ if WORDS.area.contains_key(word) => &mut areas,
                Some(_) => &mut ended,
                None => &mut self.subject,
            };
            list.push((*one).to_owned());
        }
        // A reason may name another area: "on Windows 5000 is taken, it is 5080 now".
        if end.is_some() || now.is_some() {
            self.areas.extend(areas);
        } else {
            self.areas_aside.extend(areas);
        }
        if !ended.is_empty() {
            self.ended.push(ended);
        }
    }

    /// True if `older` no longer holds after this.
    fn ends(&self, older: &Self) -> bool {
        let everything = || older.subject.iter().chain(older.values.iter().map(|(_, it)| it));
        // A change in other areas, or in one of several, leaves the rule.
        if !self.areas.iter().all(|it| older.areas.contains(it)) {
            return false;
        }
        let is_wider = self.areas.len() < older.areas.len();
        let is_named = |word: &String| everything().any(|it| is_same_word(it, word));
        for ended in &self.ended {
            let named = ended.iter().filter(|word| is_named(word)).count();
            #[expect(clippy::cast_precision_loss, reason = "a clause has few words")]
            let share = named as f32 / ended.len() as f32;
            if named > 0 && share >= ENDED_SHARE && !(is_wider && older.has_path_area) {
                return true;
            }
        }
        if !self.is_new || self.keeps || (is_wider && older.has_path_area) {
            return false;
        }
        let shared = older
            .subject
            .iter()
            .filter(|it| self.subject.iter().any(|mine| is_same_word(it, mine)));
        let shared = shared.count();
        #[expect(clippy::cast_precision_loss, reason = "a statement has few words")]
        let is_subject = shared as f32 >= SUBJECT_SHARE * older.subject.len() as f32;
        let differs = self.values.iter().any(|(kind, mine)| {
            let mut theirs = older.values.iter().filter(|(other, _)| other == kind).peekable();
            theirs.peek().is_some() && theirs.all(|(_, it)| it != mine)
        });
        let is_family = self.values.iter().any(|(kind, mine)| {
            kind.starts_with("family ")
                && older.values.iter().any(|(other, it)| other == kind && it != mine)
                && !older.values.iter().any(|(_, it)| it == mine)
        });
        (differs && is_subject && shared > 0 && !(is_wider && shared < 2))
            || (is_family && (is_subject || self.subject.is_empty()) && !is_wider)
            || (shared >= 2 && shared == older.subject.len() && !is_wider)
    }
}

impl CuePhrase {
    /// Finds the phrase among the words of a clause: its place and length.
    fn find(&self, words: &[&str], joined: &str) -> Option<(usize, usize)> {
        if self.words.iter().any(|word| word.chars().any(|c| is_unspaced(c) || is_hangul(c))) {
            return joined.contains(&self.words.concat()).then_some((words.len(), 1));
        }
        let length = self.words.len();
        let at = words.windows(length).position(|window| window == self.words)?;
        (!self.is_last || at + length == words.len()).then_some((at, length))
    }
}

/// True if the words at `at` compare: only what is behind them ends.
fn is_comparing(words: &[&str], at: usize) -> bool {
    let own = &words[at.min(words.len())..(at + 3).min(words.len())];
    // "was replaced by" ends what is before it.
    own.iter().any(|word| WORDS.compare.contains(word)) && own.get(1) != Some(&"by")
}

/// Range of the words between "from" and "to" in a move.
fn moved_from(words: &[&str]) -> Option<Range<usize>> {
    let from = words.iter().position(|word| WORDS.from.contains(word))?;
    let to = from + words[from..].iter().position(|word| WORDS.to.contains(word))?;
    words.iter().any(|word| WORDS.moves.contains(word)).then_some(from + 1..to)
}

/// A word of a clause.
struct ChangeToken<'t> {
    text: &'t str,
    folded: String,
}

impl ChangeToken<'_> {
    fn is_path(&self) -> bool {
        self.text.contains(['/', '\\']) && self.text.chars().any(char::is_alphabetic)
    }
}

/// Splits a text into clauses: at punctuation that is followed by a space, and before "and", "but".
fn clauses(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_end = matches!(c, '，' | '。' | '、' | '！' | '；' | '\n')
            || (matches!(c, ',' | ';' | ':' | '!' | '?' | '.' | '(' | ')')
                && chars.peek().is_none_or(|next| next.is_whitespace() || *next == c));
        if is_end {
            all.push(String::new());
        } else {
            all.last_mut().expect("there is a clause").push(c);
        }
    }
    all.retain(|clause| !clause.trim().is_empty());
    all
}

fn split_tokens(clause: &str) -> Vec<ChangeToken<'_>> {
    let mut tokens = Vec::new();
    for raw in clause.split_whitespace() {
        let bare = raw.trim_matches(|c: char| "\"'`“”‘’«»?!,;()[]".contains(c));
        // Where the script changes, a word ends: `herokuはやめて`, `80%야`.
        let mut from = 0;
        let mut last: Option<bool> = None;
        for (at, c) in bare.char_indices() {
            let is_foreign = is_unspaced(c) || is_hangul(c);
            if last.is_some_and(|last| last != is_foreign) {
                push_token(&mut tokens, &bare[from..at]);
                from = at;
            }
            last = Some(is_foreign);
        }
        push_token(&mut tokens, &bare[from..]);
    }
    tokens
}

fn push_token<'t>(tokens: &mut Vec<ChangeToken<'t>>, text: &'t str) {
    let text = text.trim_matches(['%', '.', ',']).trim_end_matches("()");
    let mut folded = String::new();
    for c in text.chars().filter(|c| !matches!(c, '\'' | '’')) {
        fold_char(c, |c| folded.push(c));
    }
    if !folded.is_empty() {
        tokens.push(ChangeToken { text, folded });
    }
}

/// Area that a word names. A path is one behind "in", unless something is put there.
fn area_of(token: &ChangeToken<'_>, is_within: bool) -> Option<String> {
    let area = WORDS.area.get(token.folded.as_str()).map(|area| (*area).to_owned());
    area.or_else(|| {
        (token.is_path() && is_within && !token.text.starts_with('/')).then(|| token.folded.clone())
    })
}

/// Kind of a value: statements that give different values of one kind to a subject differ.
fn value_kind(token: &ChangeToken<'_>, plain: &str) -> Option<String> {
    if let Some(family) =
        FAMILIES.iter().find(|family| family.has_value(plain) || family.has_value(&token.folded))
    {
        return Some(format!("family {}", family.name));
    }
    let digits = token.folded.trim_start_matches('v');
    if digits.starts_with(|c: char| c.is_ascii_digit()) || plain.bytes().all(|b| b.is_ascii_digit())
    {
        return Some("number".to_owned());
    }
    token.is_path().then(|| "path".to_owned())
}

fn stem(word: &str) -> String {
    WordStemmer::default()
        .stem(word, WordSort::Plain)
        .map_or_else(|| word.to_owned(), Cow::into_owned)
}

/// True if two words are forms of one: equal, or one begins with the other, and is not much longer.
pub fn is_same_word(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let least = if short.chars().all(is_hangul) { 2 } else { 5 };
    let common = short.chars().zip(long.chars()).take_while(|(a, b)| a == b).count();
    common == short.chars().count() && common >= least && common * 5 >= long.chars().count() * 3
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}
