//! Selects the skill folders for a place.

use recoup_core::Result;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::mirror::{SkillFile, build_skills};
use serde::Deserialize;

use super::exclude::TrackedSkills;
use super::place::MirrorFile;
use super::register::MirrorPlace;
use super::report::MirrorReport;
use super::{ClaudeMirror, MirrorPermission, exclude};

const LARGEST: u64 = 1 << 20;
/// The skill itself.
pub(super) const SKILL: &str = "SKILL.md";
/// Sources of the skill.
pub(super) const MANIFEST: &str = "manifest.json";
/// Hides a folder from git, itself too, whatever the repository's own files say.
pub(super) const IGNORED_BY: &str = ".gitignore";
pub(super) const IGNORE: &str = "*\n";

pub(super) fn wanted_skill_files(
    mirror: &ClaudeMirror<'_>,
    place: &MirrorPlace,
    mut licence: MirrorPermission,
    report: &mut MirrorReport,
) -> Result<Vec<MirrorFile>> {
    if let Some(root) = &place.root {
        // A project that is gone took its skills along.
        let Ok(project) = Project::find(root) else { return Ok(Vec::new()) };
        let (remark, most) = match exclude::find_tracked_skills(&project) {
            TrackedSkills::Unknown => {
                (Some(exclude::unknown_tracking_message(&project)), MirrorPermission::Less)
            }
            TrackedSkills::Files(files) if !files.is_empty() => {
                report.published.extend(files);
                (Some(exclude::published_message(&project)), MirrorPermission::Less)
            }
            TrackedSkills::Files(_) if project.git_dir().is_none() => {
                let root = root.display();
                let copied = "is no git repository: whoever copies it copies its skills, too";
                (Some(format!("{root} {copied}")), licence)
            }
            TrackedSkills::Files(_) => (None, licence),
        };
        report.remarks.extend(remark);
        licence = most;
    } else if !fsx::parent(&place.dir).is_dir() {
        let claude = fsx::parent(&place.dir).display();
        report.remarks.push(format!("Claude Code has no directory {claude}: no skills are made"));
        return Ok(Vec::new());
    }
    let made = build_skills(&mirror.notes_for(place, licence)?);
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
    let json = fsx::read_regular(&place.dir.join(&name), LARGEST).ok()??;
    let known = place.files.get(&name)?.contains(&Sha256Digest::of(&json));
    let made: ManifestSource = serde_json::from_slice(&json).ok()?;
    (known && made.source_hash == skill.source_hash).then(|| String::from_utf8(json).ok())?
}
