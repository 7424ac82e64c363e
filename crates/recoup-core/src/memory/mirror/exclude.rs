//! Our lines in git's local exclude file, which keep private skills from being published.

use super::marked::BlockMarks;

const MARKS: BlockMarks = BlockMarks {
    begin: "# recoup: begin (what was said in private is not published; `recoup memory sync`)",
    begins: "# recoup: begin",
    end: "# recoup: end",
};

/// Pattern for our skills in any worktree.
const PATTERN: &str = "/.claude/skills/recoup-*/";

/// Returns git's exclude file with our lines, or without them.
pub fn update_exclude_file(file: &[u8], hides: bool) -> Vec<u8> {
    // Without any of our marks, somebody else wrote such a line.
    let marked = MARKS.have_mark_in(file);
    let without = MARKS.remove_from(file, |line| marked && line == PATTERN.as_bytes());
    if hides { MARKS.insert_into(&without, &[PATTERN]) } else { without.rest }
}
