//! The parts of an agent file: shebang, front matter, prompt, and further turns. Each knows its
//! first line, so that messages have the positions of the file.

use super::AgentDialect;

/// A part of a file, and the number of its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::agents) struct PromptSection {
    pub(in crate::agents) line: u64,
    pub(in crate::agents) text: String,
}

impl PromptSection {
    /// The text with as many empty lines in front as the file has, so that a parser's positions are
    /// those of the file.
    pub(super) fn padded_text(&self) -> String {
        let lines = usize::try_from(self.line.saturating_sub(1)).unwrap_or(0);
        format!("{}{}", "\n".repeat(lines), self.text)
    }
}

/// Front matter, if there is any, and the sections behind it. An error has the line at which front
/// matter begins that does not end.
pub(in crate::agents) fn split_sections(
    text: &str,
    dialect: AgentDialect,
) -> Result<(Option<PromptSection>, Vec<PromptSection>), u64> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = (1_u64..).zip(text.lines()).peekable();
    if lines.peek().is_some_and(|(_, line)| line.starts_with("#!")) {
        lines.next();
    }
    while lines.peek().is_some_and(|(_, line)| line.trim().is_empty()) {
        lines.next();
    }
    let front = match lines.peek() {
        Some(&(start, line)) if is_divider(line) => {
            lines.next();
            let mut front = PromptSection { line: start + 1, text: String::new() };
            loop {
                let Some((_, line)) = lines.next() else { return Err(start) };
                if is_divider(line) {
                    break;
                }
                front.text.push_str(line);
                front.text.push('\n');
            }
            Some(front)
        }
        _ => None,
    };
    // In an `.ai` file a line of dashes is a rule of its Markdown.
    let has_turns = dialect != AgentDialect::Ai;
    let first = lines.peek().map_or(1, |(number, _)| *number);
    let mut sections = vec![PromptSection { line: first, text: String::new() }];
    let mut fence: Option<&str> = None;
    for (number, line) in lines {
        let marker =
            ["```", "~~~"].into_iter().find(|marker| line.trim_start().starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            _ => {}
        }
        if has_turns && fence.is_none() && is_divider(line) {
            sections.push(PromptSection { line: number + 1, text: String::new() });
        } else if let Some(section) = sections.last_mut() {
            section.text.push_str(line);
            section.text.push('\n');
        }
    }
    Ok((front, sections))
}

fn is_divider(line: &str) -> bool {
    line.trim_end() == "---"
}
