//! Subjects of skills: by the words of their notes, else by their kind.

use crate::memory::NoteKind;

/// Subject of a group of notes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SkillSubject {
    /// Stable name, which is part of a folder's name.
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Text that follows "Use it when".
    pub(super) when: &'static str,
    /// Words that indicate the subject; none for kinds.
    words: &'static str,
}

const fn about(
    name: &'static str,
    title: &'static str,
    when: &'static str,
    words: &'static str,
) -> SkillSubject {
    SkillSubject { name, title, when, words }
}

static SUBJECTS: [SkillSubject; 7] = [
    about(
        "testing",
        "Testing",
        "writing, changing or running tests",
        "test tests testing tested jest vitest mocha pytest unittest playwright cypress fixture fixtures \
         coverage snapshot snapshots mock mocks spec specs e2e",
    ),
    about(
        "git",
        "Git",
        "committing, branching, merging, or opening a pull request",
        "git commit commits branch branches rebase squash merge push pull pr prs changelog tag tags",
    ),
    about(
        "dependencies",
        "Dependencies",
        "installing, adding or upgrading packages",
        "dependency dependencies npm pnpm yarn bun pip poetry uv lockfile package packages upgrade install",
    ),
    about(
        "code-style",
        "Code style",
        "writing or changing code",
        "indentation indent tabs spaces quotes semicolon semicolons naming camelcase snakecase lint linter \
         linting eslint prettier formatter formatting format comment comments import imports export \
         exports style",
    ),
    about(
        "database",
        "Database",
        "working with the database, its schema or migrations",
        "database db sql migration migrations migrate postgres mysql sqlite schema orm",
    ),
    about(
        "environments",
        "Environments",
        "building, running, deploying, or reaching a server",
        "staging production prod port ports host url endpoint deploy deploys deployment release docker \
         kubernetes server ci environment environments env build",
    ),
    about(
        "documentation",
        "Documentation",
        "writing documentation or comments",
        "docs documentation readme docstring docstrings",
    ),
];

static KINDS: [(NoteKind, SkillSubject); 5] = [
    (
        NoteKind::Correction,
        about("corrections", "Corrections", "doing work that the user has corrected before", ""),
    ),
    (
        NoteKind::Preference,
        about("preferences", "Preferences", "deciding how something is to be done", ""),
    ),
    (
        NoteKind::ProjectKnowledge,
        about("project-knowledge", "Project knowledge", "a fact about the project is needed", ""),
    ),
    (
        NoteKind::Devops,
        about("devops", "Build, run and ship", "building, running or shipping the project", ""),
    ),
    (
        NoteKind::Failure,
        about("failures", "What failed, and what worked", "a command or a test fails", ""),
    ),
];

/// Returns the subject with the most words in a statement; the first of those that tie.
pub(super) fn subject_of_text(statement: &str) -> Option<&'static SkillSubject> {
    let statement = statement.to_lowercase();
    let words: Vec<&str> =
        statement.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let count = |subject: &&SkillSubject| {
        let own: Vec<&str> = subject.words.split_whitespace().collect();
        words.iter().filter(|word| own.contains(word)).count()
    };
    // `max_by_key` returns the last of equals.
    let best = SUBJECTS.iter().rev().max_by_key(count)?;
    (count(&best) > 0).then_some(best)
}

/// Returns the subject for a kind.
pub(super) fn subject_of_kind(kind: NoteKind) -> &'static SkillSubject {
    let found = KINDS.iter().find(|(it, _)| *it == kind);
    &found.expect("every kind is in the table").1
}

/// Returns all subjects, in the order in which they are written.
pub(super) fn all_subjects() -> impl Iterator<Item = &'static SkillSubject> {
    SUBJECTS.iter().chain(KINDS.iter().map(|(_, subject)| subject))
}
