//! `cargo xtask eval memory`: changes of mind, retractions, scopes, ends and statements about
//! instructions, on the small sets of `xtask/corpora/memory`. Errors of the working half are listed
//! with `--verbose`.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]

use std::path::Path;
use std::sync::Arc;

use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::base::project::ProjectId;
use recoup_core::memory::capture::{PromptReading, read_prompt};
use recoup_core::memory::guard::private_text::PublicText;
use recoup_core::memory::guard::refusal::{RefusalReason, statement_refusal};
use recoup_core::memory::{
    EventOrigin, HookClient, Memory, NoteFilter, NoteKind, NoteScope, NoteSource, NoteStatus,
    Statement, WaitLimits,
};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Counts of one set: what is right of all that was wanted, and what is right of the others.
#[derive(Debug, Default)]
struct SetFigures {
    wanted: [usize; 2],
    others: [usize; 2],
}

impl SetFigures {
    fn add(&mut self, is_wanted: bool, is_right: bool) {
        let counts = if is_wanted { &mut self.wanted } else { &mut self.others };
        counts[0] += 1;
        counts[1] += usize::from(is_right);
    }

    fn print(&self, name: &str, wanted: &str, others: &str) {
        let ([all, right], [none, left]) = (self.wanted, self.others);
        println!("  {name:14}{right:>4} of {all:<3} {wanted:24}{left:>4} of {none:<3} {others}");
    }
}

fn main() {
    let is_verbose = std::env::args().any(|argument| argument == "--verbose");
    for half in ["working", "frozen"] {
        println!("{half}:");
        let tell = |text: String| {
            if is_verbose && half == "working" {
                println!("      {text}");
            }
        };
        measure_changes(half, &tell);
        measure_retractions(half, &tell);
        measure_scopes(half, &tell);
        measure_ends(half, &tell);
        measure_instructions(half, &tell);
    }
}

fn project() -> NoteScope {
    NoteScope::Project(ProjectId::parse(&"a".repeat(32)).expect("an id"))
}

fn read(prompt: &str) -> PromptReading {
    read_prompt(&PublicText::new(prompt), &project())
}

fn lines<T: DeserializeOwned>(half: &str, name: &str) -> Vec<T> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../xtask/corpora/memory");
    let text = std::fs::read_to_string(folder.join(half).join(name)).expect("a set");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of the set")).collect()
}

/// A memory of its own, in a directory that lives as long as it.
struct MemoryScene {
    memory: Memory,
    scope: NoteScope,
    clock: ManualClock,
    _dir: tempfile::TempDir,
}

impl MemoryScene {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let clock = ManualClock::at(Timestamp::from_millis(1_790_000_000_000));
        let faults = Arc::new(recoup_core::base::IgnoreFaults);
        let memory = Memory::at(
            dir.path().join("memory.db"),
            WaitLimits::default(),
            Arc::new(clock.clone()),
            faults,
        );
        Self { memory, scope: project(), clock, _dir: dir }
    }

    fn say(&self, text: &str) {
        self.clock.advance(std::time::Duration::from_mins(1));
        let statement =
            Statement::new(NoteKind::Preference, text, NoteSource::User, self.scope.clone());
        let _ = self.memory.record(&statement);
    }

    fn is_active(&self, text: &str) -> bool {
        let wanted = NoteFilter { statuses: vec![NoteStatus::Active], ..NoteFilter::default() };
        let notes = self.memory.notes(&wanted).expect("notes");
        notes.iter().any(|note| note.text.trim_end_matches('.') == text.trim_end_matches('.'))
    }
}

#[derive(Deserialize)]
struct MindChange {
    first: String,
    second: String,
    replaces: bool,
}

fn measure_changes(half: &str, tell: &dyn Fn(String)) {
    let mut figures = SetFigures::default();
    for pair in lines::<MindChange>(half, "changes.jsonl") {
        let scene = MemoryScene::new();
        scene.say(&pair.first);
        scene.say(&pair.second);
        let is_right = scene.is_active(&pair.first) != pair.replaces;
        figures.add(pair.replaces, is_right);
        if !is_right {
            tell(format!("{} | {} (replaces: {})", pair.first, pair.second, pair.replaces));
        }
    }
    figures.print("changes", "replaced", "both kept");
}

#[derive(Deserialize)]
struct TakenBack {
    notes: Vec<String>,
    prompt: String,
    retires: Vec<usize>,
}

fn measure_retractions(half: &str, tell: &dyn Fn(String)) {
    let mut figures = SetFigures::default();
    for case in lines::<TakenBack>(half, "retractions.jsonl") {
        let scene = MemoryScene::new();
        case.notes.iter().for_each(|note| scene.say(note));
        let reading = read(&case.prompt);
        let origin = EventOrigin {
            client: HookClient::ClaudeCode,
            session: "s".to_owned(),
            context: "s".to_owned(),
            scope: scene.scope.clone(),
        };
        let retract = |it: &recoup_core::memory::EventTransaction<'_>| {
            it.retract_named(&reading.retractions).map(drop)
        };
        if !reading.retractions.is_empty() {
            scene.memory.transact(&origin, retract).expect("a change");
        }
        let left: Vec<bool> = case.notes.iter().map(|note| scene.is_active(note)).collect();
        let is_right = (0..left.len()).all(|at| left[at] != case.retires.contains(&at));
        figures.add(!case.retires.is_empty(), is_right);
        if !is_right {
            tell(format!("{} {:?} {:?}", case.prompt, case.retires, reading.retractions));
        }
    }
    figures.print("retractions", "taken back", "nothing taken back");
}

#[derive(Deserialize)]
struct ScopedRule {
    text: String,
    scope: String,
    paths: Option<String>,
}

fn measure_scopes(half: &str, tell: &dyn Fn(String)) {
    let (mut everywhere, mut files) = (SetFigures::default(), SetFigures::default());
    for rule in lines::<ScopedRule>(half, "scopes.jsonl") {
        let reading = read(&rule.text);
        let Some(kept) = reading.sure().chain(reading.doubtful()).next() else {
            tell(format!("not kept: {}", rule.text));
            continue;
        };
        let is_right = (kept.scope == NoteScope::Universal) == (rule.scope == "universal");
        everywhere.add(rule.scope == "universal", is_right);
        let has_paths = kept.paths == rule.paths;
        files.add(rule.scope == "path", has_paths);
        if !(is_right && has_paths) {
            let (scope, paths) = (&kept.scope, &kept.paths);
            tell(format!("{} {} {:?}: {scope} {paths:?}", rule.scope, rule.text, rule.paths));
        }
    }
    everywhere.print("universal", "everywhere", "not everywhere");
    files.print("paths", "for some files", "for all files");
}

#[derive(Deserialize)]
struct EndingRule {
    text: String,
    until: Option<String>,
}

fn measure_ends(half: &str, tell: &dyn Fn(String)) {
    let mut figures = SetFigures::default();
    for rule in lines::<EndingRule>(half, "ends.jsonl") {
        let reading = read(&rule.text);
        let Some(kept) = reading.sure().chain(reading.doubtful()).next() else {
            tell(format!("not kept: {}", rule.text));
            continue;
        };
        let is_right = kept.until.is_some() == rule.until.is_some();
        figures.add(rule.until.is_some(), is_right);
        if !is_right {
            tell(format!("{} {:?} {:?}", rule.text, rule.until, kept.until));
        }
    }
    figures.print("ends", "with their end", "without one");
}

#[derive(Deserialize)]
struct SteeringStatement {
    text: String,
    hostile: bool,
}

fn measure_instructions(half: &str, tell: &dyn Fn(String)) {
    let mut figures = SetFigures::default();
    for it in lines::<SteeringStatement>(half, "instructions.jsonl") {
        let refused = statement_refusal(&it.text) == Some(RefusalReason::Instructions);
        figures.add(it.hostile, refused == it.hostile);
        if refused != it.hostile {
            tell(format!("{} (hostile: {})", it.text, it.hostile));
        }
    }
    figures.print("instructions", "refused", "harmless kept");
}
