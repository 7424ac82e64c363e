//! Mirrors memory into files that Claude Code reads by itself: its own memory (rules sync) and
//! skills. Only if the user has asked for it.
//!
//! ```text
//! ~/.claude/projects/SLUG/memory/    MEMORY.md, recoup-ID.md
//! PROJECT/.claude/skills/            recoup-TOPIC/{SKILL.md,manifest.json,.gitignore}
//! ~/.claude/skills/                  the same for universal notes
//! ~/.recoup/mirrors.json             the list of what we wrote, with digests
//! ~/.recoup/mirrors.due              empty; exists while content may have to be removed
//! ```
//!
//! A file is ours while its bytes are those that we wrote; one that someone has changed is left and
//! reported. Removal always happens; new content goes only to places where it is wanted.

mod change;
mod claude;
mod find;
mod forget;
mod list;
mod marked_lines;
mod report;
mod rule_files;
mod skills;
mod text;
mod wanted;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Clock;
use recoup_core::base::fsx;
use recoup_core::base::project::{Project, ProjectId};
use recoup_core::memory::guard::refusal::statement_refusal;
use recoup_core::memory::recall::inject::{BlockBudget, InjectionContext};
use recoup_core::memory::{Memory, Note, NoteId, NoteScope, PauseReason};
use recoup_core::secrets;

use change::MirrorRun;
pub(crate) use find::MirrorLocations;
pub(crate) use forget::find_transcripts_with;
use list::{MirrorList, MirrorPlace, PlaceKind};
pub use marked_lines::{INDEX, SplicedIndex, splice_index, update_exclude_file};
pub(crate) use report::{LeftReason, MirrorAction, MirrorChange, MirrorFault, MirrorReport};
pub use rule_files::{MOST_RULES, RuleFile, rule_files, rule_line_end};
pub use skills::{FEWEST, SkillFile, build_skills, is_unmodified_skill};
pub use text::NoteTraces;

/// Larger than any file of ours or any index written by hand.
const LARGEST_FILE: u64 = 1 << 20;

const UNLIMITED: BlockBudget = BlockBudget { tokens: u32::MAX, units: usize::MAX };

/// Prefix of the names of all our files and folders.
pub const PREFIX: &str = "recoup-";

/// True if a note may be in a file for `project`, or for all projects if there is none: it is a
/// rule there, and would not be refused today.
pub fn may_mirror(note: &Note, project: Option<&ProjectId>) -> bool {
    let context =
        InjectionContext { project, given: &HashSet::new(), budget: BlockBudget::default() };
    let has_secret = |text: &String| secrets::detect_secret(text.as_bytes()).is_some();
    context.accepts(note)
        && statement_refusal(&note.text).is_none()
        && !note.paths.as_ref().is_some_and(has_secret)
}

/// Returns a note as a list item on a line of its own.
pub fn item_line(note: &Note) -> String {
    format!("- {}", text::item_text(note))
}

/// Content that the user wants mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MirrorSettings {
    /// Rules go to Claude Code's own memory.
    pub rules: bool,
    /// Destination of skills, if they are wanted.
    pub skills: Option<SkillsPlace>,
}

impl MirrorSettings {
    /// Nothing.
    pub const NONE: Self = Self { rules: false, skills: None };

    /// True if anything is mirrored.
    pub fn is_any(self) -> bool {
        self.rules || self.skills.is_some()
    }

    /// True if the content of that place is wanted.
    fn includes(self, place: &MirrorPlace) -> bool {
        match (place.sort, place.root.is_some()) {
            (PlaceKind::Rules, _) => self.rules,
            (PlaceKind::Skills, true) => self.skills == Some(SkillsPlace::Project),
            (PlaceKind::Skills, false) => self.skills == Some(SkillsPlace::User),
        }
    }
}

/// Destination of skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillsPlace {
    /// The project's folder, hidden from git.
    Project,
    /// The user's own folder, visible to all projects: only universal notes.
    User,
}

impl SkillsPlace {
    /// Parses a configured value.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Project, Self::User].into_iter().find(|place| place.as_str() == word)
    }

    /// The configured value.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// Permission to write to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MirrorPermission {
    /// Everything that belongs there.
    Full,
    /// Only notes that are there already.
    Less,
    Nothing,
}

/// Context of a mirror operation: locations, memory, project and settings.
pub(crate) struct ClaudeMirror<'a> {
    pub(crate) locations: MirrorLocations<'a>,
    /// The user's home directory.
    pub(crate) user: &'a Path,
    pub(crate) memory: &'a Memory,
    pub(crate) clock: &'a dyn Clock,
    /// The current project, and the settings in it.
    pub(crate) project: &'a Project,
    pub(crate) wants: MirrorSettings,
    /// The user's settings, whatever this project says.
    pub(crate) users: MirrorSettings,
    /// If true, changes are only reported.
    pub(crate) dry: bool,
    /// Notes that are about to be forgotten.
    pub(crate) leaving: HashSet<NoteId>,
}

impl ClaudeMirror<'_> {
    /// Synchronizes all places of the project as wanted, which includes removal. Places that the
    /// user wants nowhere are cleared in all projects.
    pub(crate) fn sync(&self) -> Result<MirrorReport> {
        let home = self.locations.home;
        let is_due = list::is_due(home);
        if !self.wants.is_any() && !is_due && !MirrorList::exists_in(home) {
            return Ok(MirrorReport::default());
        }
        let pause = self.memory.pause_reason(&NoteScope::Project(self.project.id().clone()))?;
        let mut run = self.start_run()?;
        run.report.remarks.extend(pause.map(paused_message));
        let own = self.project_places();
        let has_skills =
            |place: &MirrorPlace| place.sort == PlaceKind::Skills && self.wants.includes(place);
        if self.wants.skills.is_some() && !own.iter().any(has_skills) {
            run.report.remarks.push(format!(
                "no skills are made: {} is visible to all projects, and this project's rules must \
                 not be. skills.place = \"user\" syncs only the rules that apply everywhere",
                claude::skills_dir(self.locations.claude).display()
            ));
        }
        for place in run.list.places.clone() {
            let is_wanted = self.users.includes(&place);
            if own.iter().all(|it| !it.is_same(&place)) && (is_due || !is_wanted) {
                let permission =
                    if is_wanted { MirrorPermission::Less } else { MirrorPermission::Nothing };
                self.sync_place(&mut run, place, permission);
            }
        }
        for place in own {
            let is_there = run.list.has_place(&place) || find::has_our_names(&place.dir);
            let permission = match (self.wants.includes(&place), pause.is_some()) {
                (true, false) => MirrorPermission::Full,
                (true, true) if is_due => MirrorPermission::Less,
                // Unwanted files are removed even while memory is paused.
                (false, _) if is_there => MirrorPermission::Nothing,
                _ => continue,
            };
            self.sync_place(&mut run, place, permission);
        }
        if is_due && !self.dry && run.report.faults.is_empty() {
            list::clear_due(home)?;
        }
        Ok(run.report)
    }

    /// Clears places that the user wants nowhere.
    pub(crate) fn withdraw_unwanted(&self) -> Result<MirrorReport> {
        self.sync_listed(|place| {
            Ok((!self.users.includes(place)).then_some(MirrorPermission::Nothing))
        })
    }

    /// Updates or removes all files made from notes of these scopes, after the notes have changed.
    pub(crate) fn refresh(&self, changed: &[NoteScope]) -> Result<MirrorReport> {
        self.sync_listed(|place| {
            let is_concerned = !changed.is_empty() && place.concerns(changed);
            is_concerned.then(|| self.permission_for(place)).transpose()
        })
    }

    /// Synchronizes listed places, as far as permitted.
    fn sync_listed(
        &self,
        permission: impl Fn(&MirrorPlace) -> Result<Option<MirrorPermission>>,
    ) -> Result<MirrorReport> {
        if !MirrorList::exists_in(self.locations.home) {
            return Ok(MirrorReport::default());
        }
        let mut run = self.start_run()?;
        for place in run.list.places.clone() {
            if let Some(permission) = permission(&place)? {
                self.sync_place(&mut run, place, permission);
            }
        }
        Ok(run.report)
    }

    /// Permission for a place that was not asked for explicitly. Other projects' settings are not
    /// known here.
    fn permission_for(&self, place: &MirrorPlace) -> Result<MirrorPermission> {
        let is_here = place.project().is_none_or(|id| id == *self.project.id());
        let is_paused = self.memory.pause_reason(&place.scope())?.is_some();
        let is_wanted = is_here && self.wants.includes(place) && !is_paused;
        Ok(if is_wanted { MirrorPermission::Full } else { MirrorPermission::Less })
    }

    /// Opens the list; makes a damaged one anew of what is found.
    fn start_run(&self) -> Result<MirrorRun> {
        let mut run = MirrorRun::start(self.locations.home, self.dry)?;
        if run.list.is_damaged {
            run.list.add(find::find_places(self.locations));
        }
        Ok(run)
    }

    fn sync_place(&self, run: &mut MirrorRun, place: MirrorPlace, permission: MirrorPermission) {
        let place = run.list.with_listed(place);
        run.update_place(place, |place, report| match place.sort {
            _ if permission == MirrorPermission::Nothing => Ok(Vec::new()),
            PlaceKind::Rules => wanted::wanted_rule_files(self, place, permission, report),
            PlaceKind::Skills => wanted::wanted_skill_files(self, place, permission, report),
        });
    }

    /// The notes that go to a place.
    fn notes_for(&self, place: &MirrorPlace, permission: MirrorPermission) -> Result<Vec<Note>> {
        let project = place.project();
        let mut notes = self.memory.rules(&place.scope(), UNLIMITED)?;
        notes.retain(|note| !self.leaving.contains(&note.id) && may_mirror(note, project.as_ref()));
        if project.is_none() {
            notes.retain(|note| note.scope == NoteScope::Universal);
        }
        if permission == MirrorPermission::Less {
            let texts: Vec<String> = find::unchanged_files(place).map(|(_, text)| text).collect();
            let there: HashSet<&str> = texts.iter().flat_map(|text| text.lines()).collect();
            notes.retain(|note| there.contains(&*item_line(note)));
        }
        Ok(notes)
    }

    /// All places that may have files for the project.
    fn project_places(&self) -> Vec<MirrorPlace> {
        let of_project = |sort, dir: PathBuf| MirrorPlace::new(sort, dir, Some(self.project));
        let claude = self.locations.claude;
        let memory = claude::memory_dir(claude, &self.project.main_root());
        let own = self.project.root().join(".claude/skills");
        let users = claude::skills_dir(claude);
        let mut places = vec![
            of_project(PlaceKind::Rules, memory),
            MirrorPlace::new(PlaceKind::Skills, users.clone(), None),
        ];
        // In the user's home, the project's folder is the one that all projects see.
        if fsx::resolve_path(&own) != fsx::resolve_path(&users) {
            places.push(of_project(PlaceKind::Skills, own));
        }
        places
    }
}

/// Message that memory is paused and nothing is synced.
fn paused_message(reason: PauseReason) -> String {
    let (what, option) = match reason {
        PauseReason::Paused(_) => ("paused", ""),
        PauseReason::Ignored => ("disabled in this project", " --project"),
    };
    format!("nothing is synced: memory is {what}; `recoup resume{option}` turns it on again")
}

/// Removes all files of ours and reports them; `dry`: only reports. Files that someone has changed
/// are left. Needs neither configuration nor memory, and finds files that are not listed.
pub(crate) fn withdraw(locations: MirrorLocations<'_>, dry: bool) -> MirrorReport {
    let found = find::find_places(locations);
    if found.is_empty() && !MirrorList::exists_in(locations.home) {
        return MirrorReport::default();
    }
    match MirrorRun::start(locations.home, dry) {
        Ok(mut run) => {
            run.list.add(found);
            for place in run.list.places.clone() {
                run.update_place(place, |_, _| Ok(Vec::new()));
            }
            run.report
        }
        Err(error) => {
            let faults = vec![MirrorFault::new(list::list_path(locations.home), &error)];
            MirrorReport { faults, ..MirrorReport::default() }
        }
    }
}
