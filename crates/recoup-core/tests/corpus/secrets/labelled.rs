//! Texts that others have written and labelled, without sight of the rules: a working half to
//! learn from, and a frozen half that is only reported on. Both mark where a secret's prefix was
//! broken with `¦`, so that no scanner takes the file for a leak.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use recoup_core::secrets::detect_secret;
use serde::Deserialize;

/// A text, and whether it must be refused.
#[derive(Debug, Deserialize)]
pub(crate) struct LabelledText {
    /// The kind of surroundings: `command`, `prose`, `error`.
    pub(crate) class: String,
    pub(crate) secret: bool,
    pub(crate) text: String,
}

/// How many texts of a class were judged rightly.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct ClassTally {
    pub(crate) texts: usize,
    pub(crate) right: usize,
}

/// The tallies by label and class, and the texts that were judged wrongly.
#[derive(Debug, Default)]
pub(crate) struct LabelledReport {
    pub(crate) classes: BTreeMap<(bool, String), ClassTally>,
    pub(crate) wrong: Vec<String>,
}

impl LabelledReport {
    /// Judges `texts` as the cache does.
    pub(crate) fn of(texts: &[LabelledText]) -> Self {
        let mut report = Self::default();
        for LabelledText { class, secret, text } in texts {
            let rule = detect_secret(text.as_bytes());
            let tally = report.classes.entry((*secret, class.clone())).or_default();
            tally.texts += 1;
            if rule.is_some() == *secret {
                tally.right += 1;
            } else {
                let why = rule.unwrap_or("missed");
                report.wrong.push(format!("{class} ({why}): {text:?}"));
            }
        }
        report
    }

    /// All texts with one label.
    pub(crate) fn total(&self, secret: bool) -> ClassTally {
        let own = self.classes.iter().filter(|((label, _), _)| *label == secret);
        own.fold(ClassTally::default(), |sum, (_, tally)| ClassTally {
            texts: sum.texts + tally.texts,
            right: sum.right + tally.right,
        })
    }
}

impl ClassTally {
    /// The share that was judged rightly.
    pub(crate) fn share(self) -> f64 {
        let parts = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        parts(self.right) / parts(self.texts)
    }
}

/// The path of one of the files.
pub(crate) fn path(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/secrets").join(file)
}

/// The texts of a file, put together again.
pub(crate) fn parse(jsonl: &str) -> Vec<LabelledText> {
    let read = |line| serde_json::from_str::<LabelledText>(line).expect("a labelled text");
    let whole = |it: LabelledText| LabelledText { text: it.text.replace('¦', ""), ..it };
    jsonl.lines().map(read).map(whole).collect()
}

/// The working half.
pub(crate) fn working() -> Vec<LabelledText> {
    parse(&std::fs::read_to_string(path("working.jsonl")).expect("the working half is here"))
}
