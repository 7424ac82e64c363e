//! Selects the files that are wanted at a place: rules for Claude Code's own memory, or skill
//! folders.

use std::collections::HashSet;
use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::Note;
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext, RulesBlock, StaleCheck};
use serde::Deserialize;

use super::change::MirrorFile;
use super::list::MirrorPlace;
use super::report::MirrorReport;
use super::{
    ClaudeMirror, INDEX, LARGEST_FILE, MirrorPermission, PREFIX, RuleFile, SkillFile, build_skills,
    claude, rule_files, splice_index,
};
use crate::clients::{AgentClient, ClientDirs, ClientPlaces, has_our_hooks};

/// The skill itself.
pub(super) const SKILL: &str = "SKILL.md";
/// Sources of the skill.
pub(super) const MANIFEST: &str = "manifest.json";
/// Hides a folder from git, itself too, whatever the repository's own files say.
pub(super) const IGNORED_BY: &str = ".gitignore";
pub(super) const IGNORE: &str = "*\n";

/// Returns the rule files for Claude Code's own memory.
pub(super) fn wanted_rule_files(
    mirror: &ClaudeMirror<'_>,
    place: &MirrorPlace,
    permission: MirrorPermission,
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
            "{} is shared by several projects, because Claude Code maps their paths to the same \
             name: only rules that apply in all projects are synced there",
            place.dir.display()
        ));
    }
    let mut rules = mirror.notes_for(place, permission)?;
    let dirs =
        ClientDirs::below(mirror.user).with_moved(AgentClient::ClaudeCode, claude.to_owned());
    let places = ClientPlaces { dirs: &dirs, root, cwd: None };
    if has_our_hooks(AgentClient::ClaudeCode, &places) {
        let given = rules_given_at_start(mirror, place)?;
        rules.retain(|note| !given.contains(&note.text));
        if rules.is_empty() {
            report.remarks.push(
                "no rules are synced: Claude Code's hooks already deliver all of them at the start \
                 of a session"
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
    // Errors are reported when the index is written; a larger index is ignored.
    let index = fsx::read_regular(&path, LARGEST_FILE).ok().flatten().unwrap_or_default();
    let lines: Vec<String> = files.iter().map(|file| file.line.clone()).collect();
    let shown = splice_index(&index, &lines, |line| place.has_line(line)).shown;
    if shown < files.len() {
        let out = files.len() - shown;
        report.remarks.push(format!("{} has no room for {out} of recoup's lines", path.display()));
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

/// Returns the files of the skill folders for a place.
pub(super) fn wanted_skill_files(
    mirror: &ClaudeMirror<'_>,
    place: &MirrorPlace,
    mut permission: MirrorPermission,
    report: &mut MirrorReport,
) -> Result<Vec<MirrorFile>> {
    if let Some(root) = &place.root {
        // A project that is gone took its skills along.
        let Ok(project) = Project::find(root) else { return Ok(Vec::new()) };
        let skills = root.join(".claude/skills");
        match tracked_skills(&project) {
            None => {
                permission = MirrorPermission::Less;
                report.remarks.push(format!(
                    "no skills are added: can't tell from {} whether git tracks \
                     {}/{PREFIX}…. `git update-index --no-split-index` makes the index readable; \
                     or set skills.place = \"user\"",
                    project.git_index().display(),
                    skills.display()
                ));
            }
            Some(files) if !files.is_empty() => {
                permission = MirrorPermission::Less;
                report.published.extend(files);
                report.remarks.push(format!(
                    "no skills are added: git already tracks {}/{PREFIX}…, so they would be \
                     published. `git rm -r --cached '.claude/skills/{PREFIX}*'` untracks them; or \
                     set skills.place = \"user\"",
                    skills.display()
                ));
            }
            Some(_) if project.git_dir().is_none() => report.remarks.push(format!(
                "{} is not a git repository: copies of it include its skills",
                root.display()
            )),
            Some(_) => {}
        }
    } else if !fsx::parent(&place.dir).is_dir() {
        let claude = fsx::parent(&place.dir).display();
        report
            .remarks
            .push(format!("no skills are made: Claude Code's directory {claude} does not exist"));
        return Ok(Vec::new());
    }
    let made = build_skills(&mirror.notes_for(place, permission)?);
    Ok(made.iter().flat_map(|skill| skill_files(mirror, place, skill)).collect())
}

fn skill_files(
    mirror: &ClaudeMirror<'_>,
    place: &MirrorPlace,
    skill: &SkillFile,
) -> [MirrorFile; 3] {
    let file = |name: &str, text: String| MirrorFile {
        name: format!("{}/{name}", skill.name),
        text: text.into_bytes(),
        line: None,
    };
    let manifest =
        current_manifest(place, skill).unwrap_or_else(|| skill.manifest(mirror.clock.now()));
    [file(IGNORED_BY, IGNORE.to_owned()), file(SKILL, skill.text.clone()), file(MANIFEST, manifest)]
}

/// The existing manifest, if its sources are the same: it keeps its time.
fn current_manifest(place: &MirrorPlace, skill: &SkillFile) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ManifestSource {
        source_hash: Sha256Digest,
    }
    let name = format!("{}/{MANIFEST}", skill.name);
    let json = fsx::read_regular(&place.dir.join(&name), LARGEST_FILE).ok()??;
    let known = place.has_written(&name, &json);
    let made: ManifestSource = serde_json::from_slice(&json).ok()?;
    (known && made.source_hash == skill.source_hash).then(|| String::from_utf8(json).ok())?
}

/// The files in a project's skill folders of ours that git tracks, and so publishes whatever is
/// excluded. `None` if the index cannot be read, so any file may be tracked.
pub(super) fn tracked_skills(project: &Project) -> Option<Vec<PathBuf>> {
    if project.git_dir().is_none() {
        return Some(Vec::new());
    }
    let start = format!(".claude/skills/{PREFIX}");
    let names = project.tracked_names()?.into_iter();
    let ours = names.filter(|name| name.starts_with(start.as_bytes()));
    Some(ours.map(|name| project.root().join(&*String::from_utf8_lossy(&name))).collect())
}
