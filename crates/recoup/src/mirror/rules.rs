//! Rules sync: which rules go into Claude Code's own memory.

use std::collections::HashSet;

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::memory::Note;
use recoup_core::memory::hooked::{self, Client, has_our_hooks};
use recoup_core::memory::inject::{Block, Budget, Context, StaleCheck};
use recoup_core::memory::mirror::{INDEX, is_for, rule_files, spliced};

use super::place::{File, Wanted};
use super::register::Place;
use super::report::Report;
use super::{Mirror, claude};

/// Room for all rules.
const ALL: Budget = Budget { tokens: u32::MAX, units: usize::MAX };
/// A larger index is none.
const LARGEST: u64 = 1 << 20;

pub(super) fn wanted(mirror: &Mirror<'_>, place: &Place, report: &mut Report) -> Result<Wanted> {
    let (Some(project), Some(root)) = (place.project(), &place.root) else {
        return Ok(Wanted::Files(Vec::new()));
    };
    if let Some(why) = claude::why_not(&mirror.claude, root) {
        report.remarks.push(why);
        return Ok(Wanted::Files(Vec::new()));
    }
    let mut rules = mirror.memory.rules(&place.scope(), ALL)?;
    rules.retain(|note| is_for(note, Some(&project)));
    let places = hooked::Places {
        claude_dir: Some(&mirror.claude),
        ..hooked::Places::new(mirror.user, root)
    };
    if has_our_hooks(Client::ClaudeCode, &places) {
        let given = given_at_the_start(mirror, place)?;
        rules.retain(|note| !given.contains(&note.text));
        if rules.is_empty() {
            report.remarks.push(
                "Claude Code's hooks give all rules at the start of a session: none is synced as well"
                    .to_owned(),
            );
        }
    }
    let mut files = rule_files(&rules);
    let index = fsx::read_regular(&place.dir.join(INDEX), LARGEST)?.unwrap_or_default();
    let lines: Vec<String> = files.iter().map(|file| file.line.clone()).collect();
    // What has no line in the index is never looked at.
    let shown = spliced(&index, &lines).map_or(files.len(), |index| index.shown);
    if shown < files.len() {
        let out = files.len() - shown;
        let path = place.dir.join(INDEX);
        report.remarks.push(format!("{} has no room for {out} of our lines", path.display()));
        files.truncate(shown);
    }
    let file = |it: recoup_core::memory::mirror::RuleFile| File {
        name: it.name,
        text: it.text.into_bytes(),
        line: Some(it.line),
    };
    Ok(Wanted::Files(files.into_iter().map(file).collect()))
}

/// The words of the rules that our hooks give to a session at its start.
fn given_at_the_start(mirror: &Mirror<'_>, place: &Place) -> Result<HashSet<String>> {
    let (project, root) = (place.project(), place.root.as_deref());
    let notes = mirror.memory.rules(&place.scope(), Budget::default())?;
    let none = HashSet::new();
    let context = Context { project: project.as_ref(), given: &none, budget: Budget::default() };
    let stale = root.map(StaleCheck::new);
    let block = Block::of(&notes, &context, |note: &Note| stale.as_ref()?.of(note));
    let given: HashSet<_> = block.iter().flat_map(Block::included).map(|it| &it.id).collect();
    Ok(notes.iter().filter(|note| given.contains(&note.id)).map(|note| note.text.clone()).collect())
}
