//! Lines whose success says nothing about what they ran.

/// True if a line may succeed although the command in it failed: behind a pipe, `||`, another
/// command or `&` the exit code is somebody else's.
pub fn hides_its_end(line: &str) -> bool {
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
                // `2>&1` and `&>file` are no background.
                Some('>' | '0'..='9') => {}
                _ => return true,
            },
            _ => {}
        }
    }
    false
}
