//! Settings of the mirror.

use super::register::{MirrorPlace, PlaceKind};

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
    pub(super) fn includes(self, place: &MirrorPlace) -> bool {
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
