//! Indexed forms of a word: itself, its stem and its beginning. In the index they are words of three
//! kinds, so that each can be queried alone: `tests`, `~test`, and for long words `^migrat`.
//!
//! Stop words are indexed like others, and queried only if a query has nothing else.

use rust_stemmers::{Algorithm, Stemmer};

use crate::memory::lang::tokenizer::WordSort;

/// Prefix of a stem.
pub(crate) const STEM: &str = "~";
/// Prefix of a beginning.
pub(crate) const HEAD: &str = "^";
/// Characters of a beginning; only longer words have one.
const HEAD_LENGTH: usize = 6;

/// Stemmer for English, which most notes are in. Other languages find their own forms through
/// beginnings, which need no knowledge of any.
pub(crate) struct WordStemmer(Stemmer);

impl std::fmt::Debug for WordStemmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forms")
    }
}

impl Default for WordStemmer {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl WordStemmer {
    /// Returns the stem of a word; `None` for numbers, pairs and stop words.
    pub(crate) fn stem<'a>(
        &self,
        word: &'a str,
        sort: WordSort,
    ) -> Option<std::borrow::Cow<'a, str>> {
        let may = matches!(sort, WordSort::Plain | WordSort::Part | WordSort::Whole)
            && word.len() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_stop_word(word);
        may.then(|| self.0.stem(word))
    }
}

/// Returns the beginning of a long word.
pub(crate) fn head(word: &str, sort: WordSort) -> Option<&str> {
    if !matches!(sort, WordSort::Plain | WordSort::Part) {
        return None;
    }
    let (end, _) = word.char_indices().nth(HEAD_LENGTH)?;
    Some(&word[..end])
}

/// True if a folded word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    word.len() <= 10 && STOP_WORDS.binary_search(&word).is_ok()
}

/// Stop words of English, German, French, Spanish, Portuguese, Italian and Dutch, in order. Words
/// that mean something in another of these languages (die, war, son) are left out.
#[rustfmt::skip]
const STOP_WORDS: &[&str] = &[
    "a", "aan", "aber", "about", "after", "again", "al", "all", "alla", "alle", "allem", "allen",
    "aller", "alles", "als", "also", "always", "am", "an", "anche", "and", "any", "ao", "aos",
    "are", "aren", "as", "at", "au", "auch", "auf", "aus", "aux", "avec", "be", "because", "been",
    "before", "bei", "beim", "being", "bij", "bis", "bitte", "but", "by", "c", "can", "ce", "ces",
    "cette", "che", "chi", "ci", "com", "come", "comme", "como", "con", "cosa", "could", "couldn",
    "cual", "cuando", "cuanto", "cui", "d", "da", "dai", "dal", "dalla", "damit", "dan", "dann",
    "dans", "das", "dass", "dat", "de", "degli", "dei", "del", "dele", "della", "delle", "dem",
    "den", "der", "des", "dessen", "deze", "di", "dich", "did", "didn", "dir", "dit", "do",
    "doch", "does", "doesn", "doing", "doit", "don", "donde", "done", "door", "dos", "dove", "du",
    "durch", "e", "each", "een", "ein", "eine", "einem", "einen", "einer", "eines", "either",
    "el", "ela", "ella", "elle", "else", "em", "en", "entre", "er", "es", "essa", "esse", "est",
    "esta", "estan", "este", "esto", "et", "etre", "eu", "euch", "even", "ever", "every", "faut",
    "fica", "ficam", "foi", "for", "from", "fur", "geen", "get", "gets", "getting", "gibt",
    "give", "gli", "goes", "going", "good", "got", "ha", "haben", "had", "hanno", "has", "hasn",
    "have", "haven", "having", "hay", "he", "her", "here", "hers", "het", "hier", "hij", "him",
    "his", "hoe", "how", "however", "i", "ich", "if", "ihm", "ihn", "ihr", "ihre", "ik", "il",
    "ils", "im", "immer", "in", "instead", "into", "io", "is", "isn", "isso", "ist", "it", "its",
    "itself", "j", "ja", "jamais", "je", "jede", "jeder", "jedes", "just", "kan", "kann", "keep",
    "kein", "keine", "keinen", "konnen", "l", "la", "las", "le", "les", "let", "lets", "leur",
    "like", "ll", "lo", "loro", "los", "lui", "ma", "maar", "mai", "mais", "make", "makes", "man",
    "many", "may", "me", "meer", "mehr", "mein", "meme", "met", "mi", "mich", "might", "mir",
    "mit", "moet", "mon", "more", "most", "much", "muss", "mussen", "must", "muy", "my", "n",
    "na", "naar", "nach", "nada", "nao", "nas", "ne", "need", "needs", "nei", "neither", "nel",
    "nella", "nem", "never", "ni", "nicht", "nichts", "nie", "niet", "no", "noch", "nog", "non",
    "nor", "nos", "not", "notre", "nous", "now", "num", "numa", "nunca", "nur", "o", "ob", "oder",
    "of", "off", "often", "ogni", "ohne", "om", "on", "once", "onde", "one", "only", "ont", "ook",
    "op", "or", "os", "other", "others", "ou", "our", "ours", "out", "over", "own", "par", "para",
    "pas", "pela", "pelo", "per", "perche", "pero", "piu", "please", "plus", "por", "porque",
    "pour", "qu", "qual", "quale", "quand", "quando", "quanto", "que", "quel", "quelle", "quels",
    "quem", "questa", "questo", "qui", "quien", "quite", "rather", "re", "really", "s", "sa",
    "same", "sans", "sao", "schon", "se", "sehr", "sein", "seine", "sem", "sempre", "ser", "ses",
    "seu", "seus", "shall", "she", "should", "shouldn", "si", "sich", "sie", "siempre", "sin",
    "sind", "so", "sobre", "soll", "sollen", "solo", "some", "something", "sono", "sont", "still",
    "su", "sua", "suas", "such", "sul", "sulla", "suo", "sur", "sus", "t", "tambem", "tambien",
    "te", "tem", "than", "that", "the", "their", "theirs", "them", "then", "there", "these",
    "they", "thing", "things", "this", "those", "though", "through", "thus", "tiene", "tienen",
    "to", "todo", "todos", "together", "too", "toujours", "tous", "tout", "toute", "toutes",
    "tra", "tu", "tutti", "uber", "uit", "um", "uma", "un", "una", "und", "under", "une", "uno",
    "uns", "unser", "unsere", "unter", "until", "up", "upon", "us", "use", "used", "uses",
    "using", "va", "van", "ve", "vers", "very", "via", "vom", "von", "voor", "vor", "vous",
    "waar", "wann", "want", "wants", "warum", "was", "wasn", "wat", "way", "we", "weil", "wel",
    "welche", "welcher", "welches", "well", "wenn", "wer", "werden", "were", "weren", "what",
    "whatever", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why",
    "wie", "wieder", "will", "wir", "wird", "with", "within", "without", "wo", "won", "worden",
    "wordt", "would", "wouldn", "y", "ya", "yes", "yet", "you", "your", "yours", "ze", "zijn",
    "zo", "zu", "zum", "zur", "zwischen",
];

/// True if a folded word is typical of requests, whatever their subject: it counts for less than
/// its rarity suggests.
pub(crate) fn is_request_word(word: &str) -> bool {
    REQUEST_WORDS.binary_search(&word).is_ok()
        || ["s", "es", "d", "ed", "ing"]
            .iter()
            .filter_map(|ending| word.strip_suffix(ending))
            .any(|word| REQUEST_WORDS.binary_search(&word).is_ok())
}

/// English only: in other languages rarity has to do.
#[rustfmt::skip]
const REQUEST_WORDS: &[&str] = &[
    "add", "allow", "ask", "better", "big", "bring", "call", "change", "check", "clean", "come",
    "common", "compare", "convert", "correct", "create", "current", "day", "describe",
    "difference", "different", "display", "easy", "end", "error", "exist", "expect", "explain",
    "fail", "fast", "few", "file", "find", "finish", "first", "fix", "follow", "free", "full",
    "general", "handle", "happen", "help", "hour", "idea", "implement", "improve", "include",
    "kind", "know", "last", "late", "left", "less", "line", "list", "little", "long", "look",
    "lot", "main", "mean", "message", "minute", "month", "move", "name", "new", "next", "nice",
    "note", "number", "old", "open", "order", "part", "people", "place", "point", "possible",
    "problem", "project", "put", "quick", "read", "ready", "reason", "remove", "rename",
    "replace", "right", "run", "say", "second", "see", "send", "set", "short", "show", "simple",
    "single", "small", "sort", "start", "stop", "support", "sure", "switch", "take", "team",
    "tell", "think", "three", "time", "today", "try", "turn", "two", "type", "understand",
    "update", "user", "wait", "week", "whole", "word", "work", "write", "wrong", "year",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order_so_that_it_can_be_searched() {
        assert!(STOP_WORDS.is_sorted() && REQUEST_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| is_stop_word(word)));
    }

    #[test]
    fn words_of_the_trade_are_not_in_it() {
        for word in ["git", "go", "test", "run", "port", "api", "error", "ai", "s3", ""] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
