//! What git is told not to publish, in the file that is never published itself.

use super::marked::Marks;
use crate::error::Result;

const MARKS: Marks = Marks {
    begin: "# recoup: begin (what was said in private is not published; `recoup memory sync`)",
    begins: "# recoup: begin",
    end: "# recoup: end",
    is_ours: |line| line == PATTERN.as_bytes(),
};

/// Skills of ours in any worktree.
const PATTERN: &str = "/.claude/skills/recoup-*/";

/// git's exclude file with our lines, or without them.
pub fn excluded(file: &[u8], hides: bool) -> Result<Vec<u8>> {
    let without = MARKS.taken_from(file)?;
    Ok(if hides { MARKS.put_into(&without, &[PATTERN]) } else { without.rest })
}
