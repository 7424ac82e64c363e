//! Labelled prompts: `xtask/corpora/prompts`, whose README describes the format.

#![allow(dead_code, reason = "each program uses its own part of this")]

pub(crate) mod augment;
pub(crate) mod gradients;
pub(crate) mod lessons;
pub(crate) mod numbers;

use std::ops::Range;
use std::path::{Path, PathBuf};

use recoup_core::memory::capture::tagger::concept_table::ConceptTable;

/// A labelled prompt.
#[derive(Debug, Clone)]
pub(crate) struct LabelledPrompt {
    pub(crate) author: String,
    pub(crate) lang: String,
    pub(crate) form: String,
    /// The user asks again, or complains.
    pub(crate) re_ask: bool,
    pub(crate) text: String,
    pub(crate) marks: Vec<PromptMark>,
}

/// Words of a prompt that are worth keeping, or that take something back.
#[derive(Debug, Clone)]
pub(crate) struct PromptMark {
    pub(crate) span: Range<usize>,
    /// Number of the letter in [`KINDS`].
    pub(crate) kind: usize,
    /// It holds everywhere; it holds for some files; it has an end.
    pub(crate) flags: [bool; 3],
}

/// Letters of the kinds: correction, preference, project knowledge, devops, retraction.
pub(crate) const KINDS: &str = "cpkdx";
pub(crate) const RETRACTION: usize = 4;

impl LabelledPrompt {
    /// True if something of the prompt is to be kept.
    pub(crate) fn is_kept(&self) -> bool {
        self.marks.iter().any(|mark| mark.kind != RETRACTION)
    }

    /// True if something is taken back.
    pub(crate) fn is_retraction(&self) -> bool {
        self.marks.iter().any(|mark| mark.kind == RETRACTION)
    }
}

/// Folder of a part: `training`, `working` or `frozen`.
pub(crate) fn folder(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/prompts").join(part)
}

/// Table of the phrases in `concepts.txt`.
pub(crate) fn concept_table() -> Vec<u8> {
    let path = folder("concepts.txt");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let phrases = lines.filter_map(|line| Some(line.split_once(": ")?.1.split('|').collect()));
    ConceptTable::compile(phrases.collect::<Vec<_>>())
}

/// All prompts of a part, file by file in the order of their names.
pub(crate) fn load(part: &str) -> Vec<LabelledPrompt> {
    let folder = folder(part);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|it| it == "txt"));
    files.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        parse(&text, &path.file_stem().unwrap_or_default().to_string_lossy())
    };
    files.iter().flat_map(read).collect()
}

/// Parses prompts; blocks that are no prompts are left out.
pub(crate) fn parse(text: &str, author: &str) -> Vec<LabelledPrompt> {
    let mut blocks = vec![String::new()];
    for line in text.lines() {
        if line.trim_end() == "---" {
            blocks.push(String::new());
        } else if let Some(block) = blocks.last_mut() {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks.iter().filter_map(|block| parse_block(block.trim_matches('\n'), author)).collect()
}

fn parse_block(block: &str, author: &str) -> Option<LabelledPrompt> {
    let (header, body) = block.split_once('\n')?;
    let mut header = header.split_whitespace();
    let (lang, form) = (header.next()?.to_owned(), header.next()?.to_owned());
    let mut prompt = LabelledPrompt {
        author: author.to_owned(),
        lang,
        form,
        re_ask: header.next() == Some("reask"),
        text: String::new(),
        marks: Vec::new(),
    };
    let mut rest = body.trim_matches('\n');
    while let Some((before, marked)) = rest.split_once('⟦') {
        let (inside, behind) = marked.split_once('⟧')?;
        let (letters, words) = inside.split_once(' ')?;
        prompt.text.push_str(before);
        let from = prompt.text.len();
        prompt.text.push_str(words);
        let kind = KINDS.find(letters.chars().next()?)?;
        let flags = ['u', 'f', 'e'].map(|flag| letters[1..].contains(flag));
        prompt.marks.push(PromptMark { span: from..prompt.text.len(), kind, flags });
        rest = behind;
    }
    prompt.text.push_str(rest);
    (!prompt.text.trim().is_empty()).then_some(prompt)
}
