//! Normal form of a statement: equal for two that say the same in other words, and never equal for
//! two that differ in a number, a path, a name or an identifier.
//!
//! A statement is split into phrases: what is to be done, and when, where and with what. The order
//! of words within a phrase stays ("the client calls the server"); phrases are sorted if that can't
//! change what belongs to what:
//!
//! ```text
//! Always run `make lint` before you push.      run `make` `lint` | before push
//! before pushing, run `make lint`              run `make` `lint` | before push
//! ```

use crate::memory::lang::lexicon::{self, WordClasses};

/// A word of a statement.
struct MeaningWord {
    text: String,
    /// True if punctuation behind it ends its phrase.
    is_last: bool,
}

/// Returns the normal form of a statement; none if its words say too little to be compared.
pub(crate) fn normal_form(statement: &str) -> Option<String> {
    let phrases = phrases(&words(statement));
    let content: usize = phrases.iter().map(|phrase| phrase.words.len()).sum();
    if content == 0 {
        return None;
    }
    let mut written: Vec<String> = phrases.iter().map(MeaningPhrase::written).collect();
    // They may be sorted if all but one say how, or if there are two of which one is negated.
    let says_how = |it: &&MeaningPhrase| {
        it.head.as_deref().is_some_and(|it| is_in(WordClasses::PREPOSITION, it))
    };
    let done = phrases.len() - phrases.iter().filter(says_how).count();
    let denied = phrases.iter().filter(|phrase| phrase.is_denied).count();
    let plain = phrases.iter().all(|phrase| phrase.head.is_none());
    if done <= 1 || (phrases.len() == 2 && denied == 1 && plain) {
        written.sort();
    }
    Some(written.join("\n"))
}

/// A phrase of a statement, and the word that introduces it.
#[derive(Default, PartialEq, Eq)]
struct MeaningPhrase {
    head: Option<String>,
    is_denied: bool,
    words: Vec<String>,
}

impl MeaningPhrase {
    fn written(&self) -> String {
        let denied = if self.is_denied { "NOT " } else { "" };
        format!("{denied}{}:{}", self.head.as_deref().unwrap_or_default(), self.words.join(" "))
    }
}

/// Splits words into phrases. A head or a negation without words behind it still means something.
fn phrases(words: &[MeaningWord]) -> Vec<MeaningPhrase> {
    let (mut all, mut open) = (Vec::new(), MeaningPhrase::default());
    let mut end = |open: &mut MeaningPhrase| {
        let ended = std::mem::take(open);
        if ended != MeaningPhrase::default() {
            all.push(ended);
        }
    };
    for MeaningWord { text, is_last } in words {
        if is_negation(text) {
            // Each negation stays where it is: "don't … without …" is no double one.
            end(&mut open);
            open.is_denied = true;
        } else if is_in(WordClasses::PREPOSITION.or(WordClasses::JOINT), text) {
            end(&mut open);
            open.head = Some(text.clone());
        } else if !is_in(WordClasses::FILLER, text) {
            open.words.push(text.clone());
        }
        if *is_last {
            end(&mut open);
        }
    }
    end(&mut open);
    all
}

fn words(statement: &str) -> Vec<MeaningWord> {
    let text = statement.replace(['\u{2019}', '\u{2018}'], "'");
    let mut words: Vec<MeaningWord> = Vec::new();
    let (mut is_code, mut is_first) = (false, true);
    // Phrases are replaced by their normal form, except in code.
    let parts = text.split('`').enumerate();
    let parts =
        parts.map(|(at, part)| if at % 2 == 0 { joined_plain(part) } else { part.to_owned() });
    for raw in parts.collect::<Vec<_>>().join("`").split_whitespace() {
        let quoted = is_code || raw.contains('`');
        is_code ^= raw.matches('`').count() % 2 == 1;
        let bare = raw.trim_matches(|c: char| ",;:!?()[]\"'`".contains(c));
        let bare = bare.trim_end_matches('.').trim_matches('`');
        let is_last = !is_code && raw.ends_with([',', ';', ':', '.', '!', '?', ')']);
        if bare.is_empty() {
            words.iter_mut().last().into_iter().for_each(|word| word.is_last |= is_last);
            continue;
        }
        // A number, a path, an option or an identifier is compared as written.
        let is_name = bare.chars().any(|c| !c.is_alphabetic() && c != '\'')
            || bare.chars().skip(1).any(char::is_uppercase);
        let is_called = !is_first && bare.starts_with(char::is_uppercase);
        let text = match bare {
            _ if quoted || is_name => format!("`{bare}`"),
            _ if is_called => bare.to_lowercase(),
            _ => plain(bare),
        };
        words.push(MeaningWord { text, is_last });
        is_first = raw.ends_with(['.', '!', '?', ':']);
    }
    words
}

fn joined_plain(text: &str) -> String {
    let mut text = text.to_owned();
    let phrases = lexicon::SAME_PHRASES.split('\n').filter_map(|line| line.split_once('='));
    let pairs = phrases.flat_map(|(same, all)| all.split('|').map(move |written| (written, same)));
    for (written, same) in pairs {
        let mut from = 0;
        while let Some(at) = find(&text[from..], written).map(|at| from + at) {
            let end = at + written.len();
            let parted = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
            if parted(text[..at].chars().next_back()) && parted(text[end..].chars().next()) {
                text.replace_range(at..end, same);
            }
            from = at + same.len().min(text.len() - at);
            while !text.is_char_boundary(from) {
                from += 1;
            }
        }
    }
    text
}

/// Finds an ASCII text, ignoring case.
fn find(text: &str, written: &str) -> Option<usize> {
    let (text, written) = (text.as_bytes(), written.as_bytes());
    text.windows(written.len()).position(|part| part.eq_ignore_ascii_case(written))
}

fn plain(word: &str) -> String {
    let word = word.to_lowercase();
    let same = |word: &str| {
        let mut groups = lexicon::SAME_WORDS.split('\n').filter_map(|line| line.split_once(' '));
        groups.find(|(_, others)| others.split(' ').any(|it| it == word)).map(|it| it.0)
    };
    if let Some(same) = same(&word) {
        return same.to_owned();
    }
    let known = WordClasses::FILLER.or(WordClasses::PREPOSITION).or(WordClasses::JOINT);
    if is_in(known, &word) || is_negation(&word) {
        return word;
    }
    let one = match word.strip_suffix('s') {
        Some(one) if one.len() >= 3 && !one.ends_with(['s', 'u', 'i']) => one,
        _ => &word,
    };
    if let Some(same) = same(one) {
        return same.to_owned();
    }
    // Its stem: "push" for "pushing", "run" for "running"; nothing bolder.
    let is_vowel = |c: char| "aeiouy".contains(c);
    let Some(root) = one.strip_suffix("ing").filter(|it| it.len() >= 3 && it.contains(is_vowel))
    else {
        return one.strip_suffix('e').filter(|it| it.len() >= 3).unwrap_or(one).to_owned();
    };
    let mut back = root.chars().rev();
    match (back.next(), back.next()) {
        (Some(a), Some(b)) if a == b && !"lszaeiou".contains(a) => {
            root[..root.len() - 1].to_owned()
        }
        _ => root.to_owned(),
    }
}

/// True for a negation; "without" begins a phrase instead.
fn is_negation(word: &str) -> bool {
    is_in(WordClasses::NEGATION, word) && !is_in(WordClasses::PREPOSITION, word)
}

fn is_in(classes: WordClasses, word: &str) -> bool {
    lexicon::is_in(word, classes)
}
