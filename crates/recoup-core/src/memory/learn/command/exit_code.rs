//! Shell lines whose exit code is not that of the command in them.

/// True if a line may succeed although its command failed: behind a pipe, `||`, another command or
/// `&`, the exit code is that of something else.
pub fn hides_exit_code(line: &str) -> bool {
    let mut quote = None;
    let mut chars = line.trim_end().chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (_, '\\') if quote != Some('\'') => {
                chars.next();
            }
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | ';') => return true,
            (None, '&') => match chars.peek() {
                Some('&') => {
                    chars.next();
                }
                // `2>&1` and `&>file` do not start a background job.
                Some('>' | '0'..='9') => {}
                _ => return true,
            },
            _ => {}
        }
    }
    false
}
