//! Mirrors memory into files that Claude Code reads by itself: its own memory (rules sync) and
//! skills. Only if the user has asked for it.
//!
//! ```text
//! ~/.claude/projects/SLUG/memory/    MEMORY.md, recoup-ID.md
//! PROJECT/.claude/skills/            recoup-TOPIC/{SKILL.md,manifest.json,.gitignore}
//! ~/.claude/skills/                  the same for universal notes
//! ~/.recoup/mirrors.json             every place, and what we have put there
//! ~/.recoup/mirrors.due              empty; exists while content may have to be removed
//! ```
//!
//! A file is ours while its bytes are those that we wrote; one that someone has changed is left and
//! reported. Removal always happens; new content goes only to places where it is wanted.

mod claude;
mod exclude;
mod forget;
mod marked_lines;
mod place;
mod plan;
mod register;
mod report;
mod rule_files;
mod scan;
mod skills;
mod splice;
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
use recoup_core::memory::{Memory, Note, NoteId, NoteScope};
use recoup_core::secrets;

pub(crate) use forget::find_transcripts_with;
pub use marked_lines::{INDEX, SplicedIndex, splice_index, update_exclude_file};
use register::{MirrorPlace, MirrorRegister, PlaceKind};
pub(crate) use report::{LeftReason, MirrorAction, MirrorChange, MirrorFault, MirrorReport};
pub use rule_files::{MOST_RULES, RuleFile, rule_files, rule_line_end};
pub(crate) use scan::MirrorLocations;
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
    pub(crate) ground: MirrorLocations<'a>,
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
        let (mut report, home) = (MirrorReport::default(), self.ground.home);
        let is_due = register::is_due(home);
        if !self.wants.is_any() && !is_due && !MirrorRegister::exists_in(home) {
            return Ok(report);
        }
        let silence = self.memory.pause_reason(&NoteScope::Project(self.project.id().clone()))?;
        report.remarks.extend(silence.map(register::paused_message));
        let mut register = self.open_register()?;
        let own = self.project_places();
        report.remarks.extend(self.explain_missing_skills(&own));
        for place in register.all() {
            let is_own = own.iter().any(|it| it.is_same(&place));
            let licence = if self.users.includes(&place) {
                MirrorPermission::Less
            } else {
                MirrorPermission::Nothing
            };
            if !is_own && (is_due || licence == MirrorPermission::Nothing) {
                self.sync_place(&mut register, place, licence, &mut report);
            }
        }
        for place in own {
            let is_there = register.knows(&place) || scan::has_our_files(&place.dir);
            let licence = match (self.wants.includes(&place), silence.is_some()) {
                (true, false) => MirrorPermission::Full,
                (true, true) if is_due => MirrorPermission::Less,
                // Unwanted files are removed even while memory is paused.
                (false, _) if is_there => MirrorPermission::Nothing,
                _ => continue,
            };
            self.sync_place(&mut register, place, licence, &mut report);
        }
        if is_due && !self.dry && report.faults.is_empty() {
            register::clear_due(home)?;
        }
        Ok(report)
    }

    /// Explains why no skills are made: in the user's home, all projects would see them.
    fn explain_missing_skills(&self, own: &[MirrorPlace]) -> Option<String> {
        let is_somewhere =
            own.iter().any(|place| self.wants.includes(place) && place.sort == PlaceKind::Skills);
        (self.wants.skills.is_some() && !is_somewhere).then(|| {
            format!(
                "no skills are made: {} is visible to all projects, and this project's rules must \
                 not be. skills.place = \"user\" syncs only the rules that apply everywhere",
                claude::skills_dir(self.ground.claude).display()
            )
        })
    }

    /// Clears places that the user wants nowhere.
    pub(crate) fn withdraw_unwanted(&self) -> Result<MirrorReport> {
        let mut report = MirrorReport::default();
        if !MirrorRegister::exists_in(self.ground.home) {
            return Ok(report);
        }
        let mut register = self.open_register()?;
        for place in register.all().into_iter().filter(|place| !self.users.includes(place)) {
            self.sync_place(&mut register, place, MirrorPermission::Nothing, &mut report);
        }
        Ok(report)
    }

    /// Updates or removes all files made from notes of these scopes, after the notes have changed.
    pub(crate) fn refresh(&self, changed: &[NoteScope]) -> Result<MirrorReport> {
        let mut report = MirrorReport::default();
        if changed.is_empty() || !MirrorRegister::exists_in(self.ground.home) {
            return Ok(report);
        }
        let mut register = self.open_register()?;
        for place in register.places_concerned(changed) {
            let licence = self.permission_for(&place)?;
            self.sync_place(&mut register, place, licence, &mut report);
        }
        Ok(report)
    }

    /// Permission for a place that was not asked for explicitly. Other projects' settings are not
    /// known here.
    fn permission_for(&self, place: &MirrorPlace) -> Result<MirrorPermission> {
        let is_here = place.project().is_none_or(|id| id == *self.project.id());
        let is_silent = self.memory.pause_reason(&place.scope())?.is_some();
        let is_wanted = is_here && self.wants.includes(place) && !is_silent;
        Ok(if is_wanted { MirrorPermission::Full } else { MirrorPermission::Less })
    }

    /// Opens the register; rebuilds a damaged one by scanning.
    fn open_register(&self) -> Result<MirrorRegister> {
        let mut register = MirrorRegister::of(self.ground.home, self.dry)?;
        if register.is_damaged() {
            register.add(scan::find_places(self.ground));
        }
        Ok(register)
    }

    /// Synchronizes a place. An error is reported and does not stop other places.
    fn sync_place(
        &self,
        register: &mut MirrorRegister,
        place: MirrorPlace,
        licence: MirrorPermission,
        report: &mut MirrorReport,
    ) {
        let dir = place.dir.clone();
        let mut known = register.merge_known(place);
        scan::adopt_unregistered(&mut known);
        let files = match (licence, known.sort) {
            (MirrorPermission::Nothing, _) => Ok(Vec::new()),
            (_, PlaceKind::Rules) => wanted::wanted_rule_files(self, &known, licence, report),
            (_, PlaceKind::Skills) => wanted::wanted_skill_files(self, &known, licence, report),
        };
        let synced = files
            .and_then(|files| place::reconcile_place(known, &files, register, self.dry, report));
        if let Err(error) = synced {
            report.faults.push(MirrorFault::new(dir, &error));
        }
    }

    /// The notes that go to a place.
    fn notes_for(&self, place: &MirrorPlace, licence: MirrorPermission) -> Result<Vec<Note>> {
        let project = place.project();
        let mut notes = self.memory.rules(&place.scope(), UNLIMITED)?;
        notes.retain(|note| !self.leaving.contains(&note.id) && may_mirror(note, project.as_ref()));
        if project.is_none() {
            notes.retain(|note| note.scope == NoteScope::Universal);
        }
        if licence == MirrorPermission::Less {
            let there = splice::written_statements(place);
            notes.retain(|note| there.contains(&item_line(note)));
        }
        Ok(notes)
    }

    /// All places that may have files for the project.
    fn project_places(&self) -> Vec<MirrorPlace> {
        let of_project = |sort, dir: PathBuf| MirrorPlace::new(sort, dir, Some(self.project));
        let claude = self.ground.claude;
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

/// Removes all files of ours and reports them; `dry`: only reports. Files that someone has changed
/// are left. Needs neither configuration nor memory, and finds unregistered files by a scan.
pub(crate) fn withdraw(ground: MirrorLocations<'_>, dry: bool) -> MirrorReport {
    let mut report = MirrorReport::default();
    let found = scan::find_places(ground);
    if found.is_empty() && !MirrorRegister::exists_in(ground.home) {
        return report;
    }
    let mut register = match MirrorRegister::of(ground.home, dry) {
        Ok(register) => register,
        Err(error) => {
            report.faults.push(MirrorFault::new(register::register_path(ground.home), &error));
            return report;
        }
    };
    register.add(found);
    for mut known in register.all() {
        let dir = known.dir.clone();
        scan::adopt_unregistered(&mut known);
        if let Err(error) = place::reconcile_place(known, &[], &mut register, dry, &mut report) {
            report.faults.push(MirrorFault::new(dir, &error));
        }
    }
    report
}
