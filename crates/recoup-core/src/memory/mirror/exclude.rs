//! What git is told not to publish, in the file that is never published itself.

use super::marked::Marks;

const MARKS: Marks = Marks {
    begin: "# recoup: begin (what was said in private is not published; `recoup memory sync`)",
    begins: "# recoup: begin",
    end: "# recoup: end",
};

/// Skills of ours in any worktree.
const PATTERN: &str = "/.claude/skills/recoup-*/";

/// git's exclude file with our lines, or without them.
pub fn excluded(file: &[u8], hides: bool) -> Vec<u8> {
    // Without any mark, whoever wrote such a line was not us.
    let marked = MARKS.are_in(file);
    let without = MARKS.taken_from(file, |line| marked && line == PATTERN.as_bytes());
    if hides { MARKS.put_into(&without, &[PATTERN]) } else { without.rest }
}
