//! Skills: which folders there are to be.

use recoup_core::Result;
use recoup_core::base::digest::Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::inject::Budget;
use recoup_core::memory::mirror::{Skill, is_for, skills};
use recoup_core::memory::{Note, NoteScope};
use serde::Deserialize;

use super::place::{File, Wanted};
use super::register::Place;
use super::report::Report;
use super::{Mirror, exclude};

const ALL: Budget = Budget { tokens: u32::MAX, units: usize::MAX };
const LARGEST: u64 = 1 << 20;
/// Hides a folder from git, itself too, whatever the repository's own files say.
const IGNORE: &str = "*\n";

pub(super) fn wanted(mirror: &Mirror<'_>, place: &Place, report: &mut Report) -> Result<Wanted> {
    let project = place.project();
    if let Some(root) = &place.root {
        // One that is gone takes its skills along.
        let Ok(project) = Project::find(root) else { return Ok(Wanted::Files(Vec::new())) };
        if let Some(why) = exclude::is_tracked(&project) {
            report.remarks.push(why);
            return Ok(Wanted::AsItIs);
        }
        if project.git_dir().is_none() {
            report.remarks.push(format!(
                "{} is no git repository: whoever copies it copies its skills, too",
                root.display()
            ));
        }
    } else if !mirror.claude.is_dir() {
        let claude = mirror.claude.display();
        report.remarks.push(format!("Claude Code has no directory {claude}: no skills are made"));
        return Ok(Wanted::Files(Vec::new()));
    }
    let mut notes: Vec<Note> = mirror.memory.rules(&place.scope(), ALL)?;
    notes.retain(|note| is_for(note, project.as_ref()));
    if project.is_none() {
        notes.retain(|note| note.scope == NoteScope::Universal);
    }
    let made = skills(&notes);
    let files = made.iter().flat_map(|skill| files(mirror, place, skill)).collect();
    Ok(Wanted::Files(files))
}

fn files(mirror: &Mirror<'_>, place: &Place, skill: &Skill) -> [File; 3] {
    let file = |name: &str, text: String| File {
        name: format!("{}/{name}", skill.name),
        text: text.into_bytes(),
        line: None,
    };
    let manifest = standing(place, skill).unwrap_or_else(|| skill.manifest(mirror.clock.now()));
    [
        file(".gitignore", IGNORE.to_owned()),
        file("SKILL.md", skill.text.clone()),
        file("manifest.json", manifest),
    ]
}

/// The manifest that is there, if it was made of the same: it says when that was.
fn standing(place: &Place, skill: &Skill) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Made {
        source_hash: Digest,
    }
    let name = format!("{}/manifest.json", skill.name);
    let json = fsx::read_regular(&place.dir.join(&name), LARGEST).ok()??;
    let known = place.files.get(&name)?.contains(&Digest::of(&json));
    let made: Made = serde_json::from_slice(&json).ok()?;
    (known && made.source_hash == skill.source_hash).then(|| String::from_utf8(json).ok())?
}
