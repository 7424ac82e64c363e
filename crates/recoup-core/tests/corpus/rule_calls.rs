//! Labelled rules and calls, `xtask/corpora/checks`, and what checks are worth on them.

use std::path::Path;

use recoup_core::memory::checks::{CheckedCall, RuleCheck};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Least share of flagged calls that break their rule.
const LEAST_PRECISION: f64 = 0.98;
/// Least share of checkable rules whose check is right for all of their calls but missed ones.
const LEAST_RECALL: f64 = 0.7;

#[derive(Deserialize)]
struct LabelledRule {
    rule: String,
    checkable: bool,
    calls: Vec<LabelledCall>,
}

#[derive(Deserialize)]
struct LabelledCall {
    tool: String,
    input: Box<RawValue>,
    breaks: bool,
}

/// A count of what is right among all.
#[derive(Default)]
struct ShareCount {
    right: u32,
    all: u32,
}

impl ShareCount {
    fn add(&mut self, is_right: bool) {
        self.all += 1;
        self.right += u32::from(is_right);
    }

    fn share(&self) -> f64 {
        f64::from(self.right) / f64::from(self.all.max(1))
    }

    fn print(&self, name: &str) {
        println!("  {name:44}{:>4} of {:<4}{:>6.3}", self.right, self.all, self.share());
    }
}

/// Measures the checks that `compile` makes of the rules of one half, by their number and text; true if
/// they are good enough.
pub(crate) fn measure(
    half: &str,
    is_verbose: bool,
    compile: impl Fn(usize, &str) -> Option<RuleCheck>,
) -> bool {
    let root = Path::new("/home/me/app");
    let (mut precision, mut rules) = (ShareCount::default(), ShareCount::default());
    let (mut breaking, mut unwanted) = (ShareCount::default(), ShareCount::default());
    let mut compiled = ShareCount::default();
    let mut harmed = 0;
    for (number, labelled) in labelled_rules(half).into_iter().enumerate() {
        let check = compile(number, &labelled.rule);
        let (mut found, mut is_harmless, mut errors) = (false, true, Vec::new());
        for call in &labelled.calls {
            let prepared = CheckedCall::new(&call.tool, &call.input, root, root);
            let violation = check.as_ref().and_then(|it| it.find_violation(&prepared));
            let is_flagged = violation.is_some();
            if is_flagged {
                precision.add(call.breaks);
            }
            if call.breaks {
                breaking.add(is_flagged);
            }
            found |= is_flagged && call.breaks;
            is_harmless &= !is_flagged || call.breaks;
            if is_flagged != call.breaks {
                let kind = if is_flagged { "wrong" } else { "missed" };
                errors.push(format!("{kind}: {} {}", call.tool, call.input));
            }
        }
        if labelled.checkable {
            rules.add(found && is_harmless);
            compiled.add(check.is_some());
        } else {
            unwanted.add(check.is_none());
        }
        harmed += u32::from(!is_harmless);
        if is_verbose && (!errors.is_empty() || check.is_some() != labelled.checkable) {
            let described = check.map_or_else(|| "no check".to_owned(), |it| it.describe());
            println!("    {}\n      {described}", labelled.rule);
            for error in &errors {
                println!("      {error}");
            }
        }
    }
    precision.print("flagged calls that break their rule");
    compiled.print("checkable rules with a check");
    rules.print("checkable rules found, none of theirs wrong");
    breaking.print("breaking calls flagged");
    unwanted.print("uncheckable rules without a check");
    println!("  rules with a wrong flag: {harmed}");
    precision.share() >= LEAST_PRECISION && rules.share() >= LEAST_RECALL
}

fn labelled_rules(half: &str) -> Vec<LabelledRule> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/checks");
    let text = std::fs::read_to_string(folder.join(half).with_extension("jsonl"));
    let text = text.expect("a half of the corpus");
    text.lines().map(|line| serde_json::from_str(line).expect("a labelled rule")).collect()
}
