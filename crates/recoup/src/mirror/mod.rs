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
mod git_index;
mod known;
mod look;
mod place;
mod plan;
mod register;
mod report;
mod rules;
mod scan;
mod skills;
mod splice;
pub(crate) mod transcripts;
mod wants;
mod withdraw;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Clock;
use recoup_core::base::fsx;
use recoup_core::base::project::Project;
use recoup_core::memory::inject::Budget;
use recoup_core::memory::mirror::{is_for, item_line};
use recoup_core::memory::{Memory, Note, NoteId, NoteScope};

use register::{Place, Register, Sort};
pub(crate) use report::{Change, Did, Fault, Report, Why};
pub(crate) use scan::Ground;
pub use wants::{SkillsPlace, Wants};
pub(crate) use withdraw::withdraw;

const ALL: Budget = Budget { tokens: u32::MAX, units: usize::MAX };

/// Permission to write to a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Licence {
    /// Everything that belongs there.
    Full,
    /// Only notes that are there already.
    Less,
    Nothing,
}

/// Context of a mirror operation: locations, memory, project and settings.
pub(crate) struct Mirror<'a> {
    pub(crate) ground: Ground<'a>,
    /// The user's home directory.
    pub(crate) user: &'a Path,
    pub(crate) memory: &'a Memory,
    pub(crate) clock: &'a dyn Clock,
    /// The current project, and the settings in it.
    pub(crate) project: &'a Project,
    pub(crate) wants: Wants,
    /// The user's settings, whatever this project says.
    pub(crate) users: Wants,
    /// If true, changes are only reported.
    pub(crate) dry: bool,
    /// Notes that are about to be forgotten.
    pub(crate) leaving: HashSet<NoteId>,
}

impl Mirror<'_> {
    /// Synchronizes all places of the project as wanted, which includes removal. Places that the
    /// user wants nowhere are cleared in all projects.
    pub(crate) fn sync(&self) -> Result<Report> {
        let (mut report, home) = (Report::default(), self.ground.home);
        let is_due = register::is_due(home);
        if !self.wants.is_any() && !is_due && !Register::is_at(home) {
            return Ok(report);
        }
        let silence = self.memory.silence(&NoteScope::Project(self.project.id().clone()))?;
        report.remarks.extend(silence.map(register::paused));
        let mut register = self.register()?;
        let own = self.places();
        report.remarks.extend(self.why_no_skills(&own));
        for place in register.all() {
            let is_own = own.iter().any(|it| it.is_same(&place));
            let licence = if self.users.has(&place) { Licence::Less } else { Licence::Nothing };
            if !is_own && (is_due || licence == Licence::Nothing) {
                self.bring(&mut register, place, licence, &mut report);
            }
        }
        for place in own {
            let is_there = register.knows(&place) || scan::has_ours(&place.dir);
            let licence = match (self.wants.has(&place), silence.is_some()) {
                (true, false) => Licence::Full,
                (true, true) if is_due => Licence::Less,
                // Unwanted files are removed even while memory is paused.
                (false, _) if is_there => Licence::Nothing,
                _ => continue,
            };
            self.bring(&mut register, place, licence, &mut report);
        }
        if is_due && !self.dry && report.faults.is_empty() {
            register::clear_due(home)?;
        }
        Ok(report)
    }

    /// Explains why no skills are made: in the user's home, all projects would see them.
    fn why_no_skills(&self, own: &[Place]) -> Option<String> {
        let is_somewhere =
            own.iter().any(|place| self.wants.has(place) && place.sort == Sort::Skills);
        (self.wants.skills.is_some() && !is_somewhere).then(|| {
            format!(
                "{} is seen by all projects, and what is said in this one goes nowhere else: no skills are made. skills.place = \"user\" is for what holds everywhere",
                claude::skills_dir(self.ground.claude).display()
            )
        })
    }

    /// Clears places that the user wants nowhere.
    pub(crate) fn withdraw_unwanted(&self) -> Result<Report> {
        let mut report = Report::default();
        if !Register::is_at(self.ground.home) {
            return Ok(report);
        }
        let mut register = self.register()?;
        for place in register.all().into_iter().filter(|place| !self.users.has(place)) {
            self.bring(&mut register, place, Licence::Nothing, &mut report);
        }
        Ok(report)
    }

    /// Updates or removes all files made from notes of these scopes, after the notes have changed.
    pub(crate) fn refresh(&self, changed: &[NoteScope]) -> Result<Report> {
        let mut report = Report::default();
        if changed.is_empty() || !Register::is_at(self.ground.home) {
            return Ok(report);
        }
        let mut register = self.register()?;
        for place in register.concerned(changed) {
            let licence = self.licence(&place)?;
            self.bring(&mut register, place, licence, &mut report);
        }
        Ok(report)
    }

    /// Permission for a place that was not asked for explicitly. Other projects' settings are not
    /// known here.
    fn licence(&self, place: &Place) -> Result<Licence> {
        let is_here = place.project().is_none_or(|id| id == *self.project.id());
        let is_silent = self.memory.silence(&place.scope())?.is_some();
        let is_wanted = is_here && self.wants.has(place) && !is_silent;
        Ok(if is_wanted { Licence::Full } else { Licence::Less })
    }

    /// Opens the register; rebuilds a damaged one by scanning.
    fn register(&self) -> Result<Register> {
        let mut register = Register::of(self.ground.home, self.dry)?;
        if register.is_damaged() {
            register.add(scan::places(self.ground));
        }
        Ok(register)
    }

    /// Synchronizes a place. An error is reported and does not stop other places.
    fn bring(&self, register: &mut Register, place: Place, licence: Licence, report: &mut Report) {
        let dir = place.dir.clone();
        if let Err(error) = self.try_bring(register, place, licence, report) {
            report.faults.push(Fault::new(dir, &error));
        }
    }

    fn try_bring(
        &self,
        register: &mut Register,
        place: Place,
        licence: Licence,
        report: &mut Report,
    ) -> Result<()> {
        let mut known = register.as_known(place);
        scan::adopt(&mut known);
        let files = match (licence, known.sort) {
            (Licence::Nothing, _) => Vec::new(),
            (_, Sort::Rules) => rules::wanted(self, &known, licence, report)?,
            (_, Sort::Skills) => skills::wanted(self, &known, licence, report)?,
        };
        place::settle(known, &files, register, self.dry, report)
    }

    /// The notes that go to a place.
    fn notes(&self, place: &Place, licence: Licence) -> Result<Vec<Note>> {
        let project = place.project();
        let mut notes = self.memory.rules(&place.scope(), ALL)?;
        notes.retain(|note| !self.leaving.contains(&note.id) && is_for(note, project.as_ref()));
        if project.is_none() {
            notes.retain(|note| note.scope == NoteScope::Universal);
        }
        if licence == Licence::Less {
            let there = known::statements(place);
            notes.retain(|note| there.contains(&item_line(note)));
        }
        Ok(notes)
    }

    /// All places that may have files for the project.
    fn places(&self) -> Vec<Place> {
        let of_project = |sort, dir: PathBuf| Place::new(sort, dir, Some(self.project));
        let claude = self.ground.claude;
        let memory = claude::memory_dir(claude, &self.project.main_root());
        let own = self.project.root().join(".claude/skills");
        let users = claude::skills_dir(claude);
        let mut places =
            vec![of_project(Sort::Rules, memory), Place::new(Sort::Skills, users.clone(), None)];
        // In the user's home, the project's folder is the one that all projects see.
        if fsx::resolved(&own) != fsx::resolved(&users) {
            places.push(of_project(Sort::Skills, own));
        }
        places
    }
}
