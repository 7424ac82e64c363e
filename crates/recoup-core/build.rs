//! Compiles the word lists of `src/memory/lang/lexicon/*.toml` into static tables, so that a
//! command pays nothing for them when it starts: one text, offsets into it, and a hash table of
//! numbers. There is no pointer in them, thus nothing to relocate.
//!
//! The table of programs `src/memory/shell/programs.txt` is sorted.
//!
//! A key with a string is a class of words, a key with a list is a list of phrases. Keys of the
//! same name in several files are united.

#![allow(clippy::disallowed_methods, reason = "cargo tells a build script through variables")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::de::{DeTable, DeValue};

// The hash of a word must be the one that the program computes.
#[path = "src/memory/lang/word_hash.rs"]
mod word_hash;

fn main() {
    let folder = Path::new("src/memory/lang/lexicon");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=src/memory/lang/word_hash.rs");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("the folder of the word lists is there")
        .map(|entry| entry.expect("its entries can be read").path())
        .filter(|path| path.extension().is_some_and(|it| it == "toml"))
        .collect();
    files.sort();
    let mut source = WordSource::default();
    for file in files {
        let text = fs::read_to_string(&file).expect("a word list can be read");
        let table =
            DeTable::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (key, value) in table.get_ref() {
            let added = source.add(key.get_ref(), value.get_ref());
            added.unwrap_or_else(|| panic!("{}: {}", file.display(), key.get_ref()));
        }
    }
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).to_owned();
    fs::write(out.join("lexicon.rs"), source.generated()).expect("the tables can be written");
    fs::write(out.join("dictionary.rs"), dictionary()).expect("the dictionary can be written");
    fs::write(out.join("programs.rs"), programs()).expect("the programs can be written");
}

/// Rows of the table of programs in the order of section and name. Each has the positions and lengths
/// of its section, name, valued options and last column in the text.
fn programs() -> String {
    let file = "src/memory/shell/programs.txt";
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(file).expect("the programs can be read");
    let (mut rows, mut section) = (BTreeMap::new(), "");
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            section = name;
            continue;
        }
        // A colon that stands alone is a program.
        let (names, columns) =
            line.split_once(": ").filter(|it| !it.0.ends_with(' ')).unwrap_or((line, ""));
        let (valued, more) = columns.split_once('|').unwrap_or((columns, ""));
        for name in names.split(' ') {
            rows.insert((section, name), [valued.trim(), more.trim()]);
        }
    }
    let place = |part: &str| {
        let at = if part.is_empty() { 0 } else { part.as_ptr().addr() - text.as_ptr().addr() };
        format!("{at}, {}", part.len())
    };
    let count = rows.len();
    let mut source = format!("static ROWS: [[u16; 8]; {count}] = [\n");
    for ((section, name), [valued, more]) in rows {
        let row = [section, name, valued, more].map(place).join(", ");
        writeln!(source, "[{row}],").expect("a string takes everything");
    }
    source + "];\n"
}

/// Groups of words, one in each line, and the words in order, each with the numbers of its groups.
fn dictionary() -> String {
    let file = "src/memory/lang/dictionary.toml";
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(file).expect("the dictionary can be read");
    let table = DeTable::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
    let groups: Vec<&str> = table
        .get_ref()
        .values()
        .map(|group| group.get_ref().as_str().expect("a group is a string"))
        .collect();
    let mut words: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        group.split(' ').for_each(|word| words.entry(word).or_default().push(at.to_string()));
    }
    let (mut text, mut starts) = (String::new(), vec![0]);
    for (word, groups) in words {
        write!(text, "{word}\t{}", groups.join(",")).expect("memory");
        starts.push(text.len());
    }
    let groups: Vec<String> = groups.iter().map(|group| format!("{group}\n")).collect();
    let mut group_starts = vec![0];
    group_starts.extend(groups.iter().scan(0, |end, group| {
        *end += group.len();
        Some(*end)
    }));
    let groups = groups.concat();
    format!(
        "pub(super) const GROUPS: &str = {groups:?};\npub(super) const WORDS: &str = {text:?};\n\
         pub(super) static STARTS: [u32; {}] = {starts:?};\n\
         pub(super) static GROUP_STARTS: [u32; {}] = {group_starts:?};\n",
        starts.len(),
        group_starts.len()
    )
}

/// Lists that are no phrases: they are kept as lines of one text.
const LINES: [&str; 7] = [
    "areas", "same_phrases", "same_things", "same_words", "synonyms", "topic_phrases",
    "topic_words",
];

#[derive(Default)]
struct WordSource {
    classes: Vec<String>,
    words: BTreeMap<String, u128>,
    phrases: BTreeMap<String, Vec<String>>,
    lines: BTreeMap<String, Vec<String>>,
}

impl WordSource {
    fn add(&mut self, key: &str, value: &DeValue<'_>) -> Option<()> {
        if let Some(list) = value.as_array().filter(|_| LINES.contains(&key)) {
            let lines = self.lines.entry(key.to_owned()).or_default();
            for line in list {
                lines.push(line.get_ref().as_str()?.to_owned());
            }
        } else if let Some(list) = value.as_array() {
            let lines = self.phrases.entry(key.to_owned()).or_default();
            for line in list {
                lines.push(line.get_ref().as_str()?.to_owned());
            }
            // The words that a phrase may begin with are a class, too: others need no comparison.
            let firsts: Vec<String> =
                list.iter().flat_map(|it| first_words(it.get_ref().as_str())).collect();
            self.add_class(&format!("{key}_start"), firsts.iter().map(String::as_str));
        } else {
            self.add_class(key, value.as_str()?.split_whitespace());
        }
        Some(())
    }

    fn add_class<'a>(&mut self, class: &str, words: impl Iterator<Item = &'a str>) {
        let at = self.classes.iter().position(|it| it == class).unwrap_or_else(|| {
            self.classes.push(class.to_owned());
            self.classes.len() - 1
        });
        assert!(at < 128, "more than 128 classes of words");
        for word in words {
            *self.words.entry(word.to_owned()).or_default() |= 1 << at;
        }
    }

    fn generated(&self) -> String {
        let mut out = String::from(
            "#[allow(dead_code, reason = \"a class of words is data\")]\nimpl WordClasses {\n",
        );
        for (at, class) in self.classes.iter().enumerate() {
            let name = class.to_uppercase();
            writeln!(out, "    pub(crate) const {name}: Self = Self(1 << {at});").expect("memory");
        }
        out += "}\n";
        let (mut text, mut starts, mut lengths) = (String::new(), vec![0], 0_u64);
        for word in self.words.keys() {
            if let Some(beginning) = word.strip_suffix('*') {
                assert!(beginning.len() < 64, "{word}");
                lengths |= 1 << beginning.len();
            }
            text += word;
            starts.push(text.len());
        }
        let size = (self.words.len() * 2).next_power_of_two();
        let mut slots = vec![0_usize; size];
        for (at, word) in self.words.keys().enumerate() {
            let hash = word.bytes().fold(word_hash::EMPTY, word_hash::extend);
            let mut slot = word_hash::slot(hash, size);
            while slots[slot] != 0 {
                slot = (slot + 1) % size;
            }
            slots[slot] = at + 1;
        }
        assert!(self.words.len() < usize::from(u16::MAX));
        // Few sets of classes occur, each many times.
        let mut sets: Vec<u128> = self.words.values().copied().collect();
        sets.sort_unstable();
        sets.dedup();
        let set_of = |classes: &u128| sets.binary_search(classes).expect("it is one of the sets");
        let classes: Vec<usize> = self.words.values().map(set_of).collect();
        writeln!(out, "const TEXT: &str = {text:?};").expect("memory");
        for (name, kind, numbers) in
            [("STARTS", "u32", &starts), ("CLASSES", "u16", &classes), ("SLOTS", "u16", &slots)]
        {
            let count = numbers.len();
            out += "#[allow(clippy::unreadable_literal, reason = \"generated\")]\n";
            writeln!(out, "static {name}: [{kind}; {count}] = {numbers:?};").expect("memory");
        }
        out += "#[allow(clippy::unreadable_literal, reason = \"generated\")]\n";
        writeln!(out, "static SETS: [u128; {}] = {sets:?};", sets.len()).expect("memory");
        out += "#[allow(clippy::unreadable_literal, reason = \"generated\")]\n";
        writeln!(out, "const BEGINNING_LENGTHS: u64 = {lengths:#x};").expect("memory");
        for (name, lines) in &self.lines {
            let (name, text) = (name.to_uppercase(), lines.join("\n"));
            writeln!(out, "pub(crate) static {name}: &str = {text:?};").expect("memory");
        }
        for (name, lines) in &self.phrases {
            let name = name.to_uppercase();
            let (text, buckets) = bucketed(lines);
            out += "#[allow(dead_code, reason = \"a list of phrases is data\")]\n";
            writeln!(
                out,
                "pub(crate) static {name}: PhraseList = \
                 PhraseList::new({text:?}, &{buckets:?}, WordClasses::{name}_START);"
            )
            .expect("memory");
        }
        out
    }
}

/// Returns the words that a phrase may begin with.
fn first_words(phrase: Option<&str>) -> Vec<String> {
    let mut words = Vec::new();
    for part in phrase.unwrap_or_default().split(' ') {
        assert!(!part.starts_with(['!', '~', '$']), "a phrase begins with a word: {phrase:?}");
        let choices = part.trim_end_matches('?');
        words.extend(choices.split('|').map(str::to_owned));
        if choices.len() == part.len() {
            break;
        }
    }
    words
}

/// Puts phrases that may begin with the same byte together: the text of all, and for each byte where
/// its phrases begin and end.
fn bucketed(phrases: &[String]) -> (String, Vec<(u8, usize, usize)>) {
    let mut by_byte: BTreeMap<u8, Vec<&str>> = BTreeMap::new();
    for phrase in phrases {
        let mut bytes: Vec<u8> =
            first_words(Some(phrase)).iter().filter_map(|word| word.bytes().next()).collect();
        bytes.sort_unstable();
        bytes.dedup();
        for byte in bytes {
            by_byte.entry(byte).or_default().push(phrase);
        }
    }
    let (mut text, mut buckets) = (String::new(), Vec::new());
    for (byte, phrases) in by_byte {
        let start = text.len();
        text += &phrases.join("\n");
        buckets.push((byte, start, text.len()));
    }
    (text, buckets)
}
