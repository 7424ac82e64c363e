//! What is remembered, kept in step where Claude Code reads it by itself: its own memory
//! (rules sync) and skills. Only where the user has asked for it.
//!
//! ```text
//! ~/.claude/projects/SLUG/memory/    MEMORY.md, recoup-ID.md
//! PROJECT/.claude/skills/            recoup-TOPIC/{SKILL.md,manifest.json,.gitignore}
//! ~/.claude/skills/                  the same of what holds in all projects
//! ~/.recoup/mirrors.json             every place, and what we have put there
//! ```
//!
//! A file is ours as long as its bytes are those that we wrote; one that somebody has
//! changed is left, and told. What is in no place's list is nobody's business here.

mod claude;
mod exclude;
mod look;
mod place;
mod register;
mod report;
mod rules;
mod skills;
mod splice;
mod withdraw;

use std::path::{Path, PathBuf};

use recoup_core::Result;
use recoup_core::base::clock::Clock;
use recoup_core::base::project::Project;
use recoup_core::memory::{Memory, NoteScope};

use place::Wanted;
use register::{Place, Register, Sort};
pub(crate) use report::{Change, Did, Fault, Report};
pub(crate) use withdraw::withdraw;

/// What the user has asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wants {
    /// Rules in Claude Code's own memory.
    pub rules: bool,
    /// Skills, and where.
    pub skills: Option<SkillsPlace>,
}

/// Where skills go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillsPlace {
    /// Into the project, hidden from git.
    Project,
    /// Into the user's own folder, which all projects see: what holds in all of them.
    User,
}

impl SkillsPlace {
    /// The one that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Project, Self::User].into_iter().find(|place| place.as_str() == word)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }
}

/// What is mirrored, and into whose homes.
#[derive(Debug)]
pub(crate) struct Mirror<'a> {
    /// Our own directory.
    pub(crate) home: &'a Path,
    /// The user's.
    pub(crate) user: &'a Path,
    /// Claude Code's.
    pub(crate) claude: PathBuf,
    pub(crate) memory: &'a Memory,
    pub(crate) clock: &'a dyn Clock,
    /// Only say what would be done.
    pub(crate) dry: bool,
}

impl Mirror<'_> {
    /// Brings everything in step that concerns a project, as it is wanted: also out, where
    /// it is not wanted any more.
    pub(crate) fn sync(&self, project: &Project, wants: Wants) -> Result<Report> {
        let mut report = Report::default();
        if !wants.rules && wants.skills.is_none() && !Register::is_at(self.home) {
            return Ok(report);
        }
        let silence = self.memory.silence(&NoteScope::Project(project.id().clone()))?;
        report.remarks.extend(silence.map(register::paused));
        let mut register = Register::open(self.home)?;
        for (wanted, place) in self.places(project, wants) {
            // What is not wanted goes all the same.
            let passed_over = if wanted { silence.is_some() } else { !register.knows(&place) };
            if !passed_over {
                self.bring(&mut register, place, wanted, &mut report);
            }
        }
        Ok(report)
    }

    /// After notes of these scopes have changed: whatever was made of them anywhere is made
    /// anew, or is gone.
    pub(crate) fn refresh(&self, changed: &[NoteScope]) -> Result<Report> {
        let mut report = Report::default();
        if changed.is_empty() || !Register::is_at(self.home) {
            return Ok(report);
        }
        let mut register = Register::open(self.home)?;
        for place in register.concerned(changed) {
            self.bring(&mut register, place, true, &mut report);
        }
        Ok(report)
    }

    /// What is wrong in one place is no reason to leave another as it is.
    fn bring(&self, register: &mut Register, place: Place, wanted: bool, report: &mut Report) {
        let dir = place.dir.clone();
        if let Err(error) = self.try_bring(register, place, wanted, report) {
            report.faults.push(Fault::new(dir, &error));
        }
    }

    fn try_bring(
        &self,
        register: &mut Register,
        place: Place,
        wanted: bool,
        report: &mut Report,
    ) -> Result<()> {
        let known = register.take(place);
        let wanted = if wanted { self.wanted(&known, report)? } else { Wanted::Files(Vec::new()) };
        match wanted {
            Wanted::Files(files) => place::settle(known, &files, register, self.dry, report),
            Wanted::AsItIs => Ok(()),
        }
    }

    fn wanted(&self, place: &Place, report: &mut Report) -> Result<Wanted> {
        match place.sort {
            Sort::Rules => rules::wanted(self, place, report),
            Sort::Skills => skills::wanted(self, place, report),
        }
    }

    /// Everything that may be there for a project, and whether it is wanted.
    fn places(&self, project: &Project, wants: Wants) -> Vec<(bool, Place)> {
        let of_project = |sort, dir: PathBuf| Place::new(sort, dir, Some(project));
        let memory = claude::memory_dir(&self.claude, &project.main_root());
        let own = project.root().join(".claude/skills");
        let users = self.claude.join("skills");
        let mut places = vec![
            (wants.rules, of_project(Sort::Rules, memory)),
            (
                wants.skills == Some(SkillsPlace::User),
                Place::new(Sort::Skills, users.clone(), None),
            ),
        ];
        // Where the project is the user's home, its folder is the one that all projects see.
        if own != users {
            let wanted = wants.skills == Some(SkillsPlace::Project);
            places.push((wanted, of_project(Sort::Skills, own)));
        } else if wants.skills == Some(SkillsPlace::Project) {
            places[1].0 = true;
        }
        places
    }
}
