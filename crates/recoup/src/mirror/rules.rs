//! Rules sync: selects the rules for Claude Code's own memory.

use std::collections::HashSet;

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::memory::Note;
use recoup_core::memory::hooked::{self, HookClient, has_our_hooks};
use recoup_core::memory::inject::{BlockBudget, InjectionContext, RulesBlock, StaleCheck};
use recoup_core::memory::mirror::{INDEX, RuleFile, rule_files};

use super::known::OwnIndexLines;
use super::place::MirrorFile;
use super::register::MirrorPlace;
use super::report::MirrorReport;
use super::{ClaudeMirror, MirrorPermission, claude};

/// A larger index is ignored.
const LARGEST: u64 = 1 << 20;

pub(super) fn wanted_rule_files(
    mirror: &ClaudeMirror<'_>,
    place: &MirrorPlace,
    licence: MirrorPermission,
    report: &mut MirrorReport,
) -> Result<Vec<MirrorFile>> {
    // Found by a scan; its project is unknown.
    let Some(root) = &place.root else { return Ok(Vec::new()) };
    let claude = claude::claude_dir_of(&place.dir);
    if let Some(why) = claude::reason_not_synced(claude, root) {
        report.remarks.push(why);
        return Ok(Vec::new());
    }
    if place.project.is_none() {
        report.remarks.push(format!(
            "{} is the memory of several projects, of whose paths Claude Code makes one name: only what holds in all projects is synced there",
            place.dir.display()
        ));
    }
    let mut rules = mirror.notes_for(place, licence)?;
    let places = hooked::ClientPlaces {
        claude_dir: Some(claude),
        ..hooked::ClientPlaces::new(mirror.user, root)
    };
    if has_our_hooks(HookClient::ClaudeCode, &places) {
        let given = rules_given_at_start(mirror, place)?;
        rules.retain(|note| !given.contains(&note.text));
        if rules.is_empty() {
            report.remarks.push(
                "Claude Code's hooks give all rules at the start of a session: none is synced as well"
                    .to_owned(),
            );
        }
    }
    Ok(fitting_files(place, rule_files(&rules), report))
}

/// The files that fit the index: the client never reads one without a line there.
fn fitting_files(
    place: &MirrorPlace,
    mut files: Vec<RuleFile>,
    report: &mut MirrorReport,
) -> Vec<MirrorFile> {
    let path = place.dir.join(INDEX);
    // Errors are reported when the index is written.
    let index = fsx::read_regular(&path, LARGEST).ok().flatten().unwrap_or_default();
    let lines: Vec<String> = files.iter().map(|file| file.line.clone()).collect();
    let shown = OwnIndexLines::of(place).splice(&index, &lines).shown;
    if shown < files.len() {
        let out = files.len() - shown;
        report.remarks.push(format!("{} has no room for {out} of our lines", path.display()));
        files.truncate(shown);
    }
    let file = |it: RuleFile| MirrorFile {
        name: it.name,
        text: it.text.into_bytes(),
        line: Some(it.line),
    };
    files.into_iter().map(file).collect()
}

/// Texts of the rules that our hooks give to a session at its start.
fn rules_given_at_start(mirror: &ClaudeMirror<'_>, place: &MirrorPlace) -> Result<HashSet<String>> {
    let (project, root) = (place.project(), place.root.as_deref());
    let mut notes = mirror.memory.rules(&place.scope(), BlockBudget::default())?;
    notes.retain(|note| !mirror.leaving.contains(&note.id));
    let none = HashSet::new();
    let context = InjectionContext {
        project: project.as_ref(),
        given: &none,
        budget: BlockBudget::default(),
    };
    let stale = root.map(StaleCheck::new);
    let block =
        RulesBlock::select(&notes, &context, |note: &Note| stale.as_ref()?.missing_in_note(note));
    let given: HashSet<_> = block.iter().flat_map(RulesBlock::included).map(|it| &it.id).collect();
    Ok(notes.iter().filter(|note| given.contains(&note.id)).map(|note| note.text.clone()).collect())
}
