//! Shell line splitter: handles quotes, operators, redirections and here-documents; variables stay
//! as they are.

/// Most subshells that a command is known to be in: those inside of these count as one.
const DEEPEST_SUBSHELL: usize = 16;

/// One command of a shell line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShellCommand {
    /// Program and arguments, without quotes.
    pub words: Vec<String>,
    /// Files that it reads (`<`).
    pub inputs: Vec<String>,
    /// Files that it writes (`>`, `>>`).
    pub outputs: Vec<String>,
    /// Texts for its standard input: here-documents and here-strings.
    pub texts: Vec<String>,
    /// Lines that the shell runs to make its words: `$(…)`, backticks, `<(…)`.
    pub nested: Vec<String>,
    /// Numbers of the subshells `( … )` that it is in, the outermost first.
    pub subshells: Vec<usize>,
}

/// Commands joined by pipes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ShellPipeline {
    /// True if it runs only when the pipeline before it has failed.
    pub(super) fallback: bool,
    pub(super) commands: Vec<ShellCommand>,
}

/// Returns the commands of a line.
pub fn split_commands(line: &str) -> Vec<ShellCommand> {
    split_pipelines(line).into_iter().flat_map(|pipeline| pipeline.commands).collect()
}

/// Returns the words of each command of a line, without its redirections.
pub fn command_words(line: &str) -> Vec<Vec<String>> {
    let commands = split_commands(line).into_iter().map(|command| command.words);
    commands.filter(|words| !words.is_empty()).collect()
}

/// True if a line may succeed although its command failed: behind a pipe, `||`, another command or
/// `&`, the exit code is that of something else.
pub fn hides_exit_code(line: &str) -> bool {
    ShellSplitter::run(line).hides_exit_code
}

/// Splits a line into its pipelines.
pub(super) fn split_pipelines(line: &str) -> Vec<ShellPipeline> {
    ShellSplitter::run(line).done
}

#[derive(Default)]
struct ShellSplitter<'a> {
    rest: &'a str,
    done: Vec<ShellPipeline>,
    now: ShellPipeline,
    command: ShellCommand,
    word: Option<String>,
    /// Role of the next word, if it is the target of a redirection.
    target: Option<RedirectionTarget>,
    /// Here-documents whose text follows this line.
    heredocs: Vec<PendingHeredoc>,
    /// Subshells that are open.
    subshells: Vec<usize>,
    /// Number of subshells so far.
    subshell_count: usize,
    hides_exit_code: bool,
}

/// A here-document whose text is not read yet: its end marker, and where its command will be: the
/// pipeline, the command in it, the text of that.
struct PendingHeredoc {
    marker: String,
    place: [usize; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedirectionTarget {
    Input,
    Output,
    /// Text for standard input (`<<<`).
    Text,
}

impl<'a> ShellSplitter<'a> {
    fn run(line: &'a str) -> Self {
        let mut splitter = Self { rest: line, ..Self::default() };
        while splitter.step() {}
        splitter.end_pipeline(false);
        splitter
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn consume_prefix(&mut self, wanted: &str) -> bool {
        let rest = self.rest.strip_prefix(wanted);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn push(&mut self, text: &str) {
        self.word.get_or_insert_default().push_str(text);
    }

    fn step(&mut self) -> bool {
        let Some(c) = self.take() else { return false };
        match c {
            '\n' => {
                self.end_pipeline(false);
                self.read_heredocs();
            }
            c if c.is_whitespace() => self.end_word(),
            '\\' => match self.take() {
                Some('\n') | None => {}
                Some(c) => self.push(c.encode_utf8(&mut [0; 4])),
            },
            '\'' => {
                let (text, rest) = self.rest.split_once('\'').unwrap_or((self.rest, ""));
                self.push(text);
                self.rest = rest;
            }
            '"' => self.push_double_quoted(),
            '`' => self.push_backticks(),
            '$' if self.consume_prefix("(") => self.push_nested("$("),
            '#' if self.word.is_none() => {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            '<' | '>' => self.begin_redirection(c),
            '&' if self.consume_prefix(">>") || self.consume_prefix(">") => {
                self.begin_target(RedirectionTarget::Output);
            }
            '&' if self.consume_prefix("&") => self.end_pipeline(false),
            '(' => {
                self.end_pipeline(false);
                self.subshell_count += 1;
                self.subshells.push(self.subshell_count);
            }
            ')' => {
                self.end_pipeline(false);
                self.subshells.pop();
            }
            '|' | ';' | '&' => {
                self.hides_exit_code = true;
                if c != '|' {
                    self.end_pipeline(false);
                } else if self.consume_prefix("|") {
                    self.end_pipeline(true);
                } else {
                    let _ = self.consume_prefix("&");
                    self.end_command();
                }
            }
            c => self.push(c.encode_utf8(&mut [0; 4])),
        }
        true
    }

    fn push_double_quoted(&mut self) {
        self.push("");
        while let Some(c) = self.take() {
            match c {
                '"' => return,
                '\\' => match self.take() {
                    Some('\n') | None => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.push(c.encode_utf8(&mut [0; 4])),
                    Some(c) => self.push(&format!("\\{c}")),
                },
                '$' if self.consume_prefix("(") => self.push_nested("$("),
                '`' => self.push_backticks(),
                c => self.push(c.encode_utf8(&mut [0; 4])),
            }
        }
    }

    fn push_backticks(&mut self) {
        let Some((text, rest)) = self.rest.split_once('`') else { return self.push("`") };
        self.push(&format!("`{text}`"));
        self.command.nested.push(text.to_owned());
        self.rest = rest;
    }

    /// Appends a nested `(…)`, with its quotes, to the current word.
    fn push_nested(&mut self, opening: &str) {
        let (text, rest) = self.rest.split_at(nested_end(self.rest));
        self.push(&format!("{opening}{text}"));
        self.command.nested.push(text.strip_suffix(')').unwrap_or(text).to_owned());
        self.rest = rest;
    }

    fn begin_redirection(&mut self, c: char) {
        if self.consume_prefix("(") {
            return self.push_nested(&format!("{c}("));
        }
        // `2>`: the number belongs to it.
        let is_number = |word: &String| word.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        if c == '<' && self.consume_prefix("<<") {
            self.begin_target(RedirectionTarget::Text);
        } else if c == '<' && self.consume_prefix("<") {
            let _ = self.consume_prefix("-");
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            let end = self.rest.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c));
            let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
            let texts = self.command.texts.len();
            let place = [self.done.len(), self.now.commands.len(), texts];
            self.heredocs.push(PendingHeredoc { marker: heredoc_marker(name), place });
            self.command.texts.push(String::new());
            self.rest = rest;
        } else {
            let _ =
                self.consume_prefix(">") || self.consume_prefix("&") || self.consume_prefix("|");
            let target = match c {
                '<' => RedirectionTarget::Input,
                _ => RedirectionTarget::Output,
            };
            self.begin_target(target);
        }
    }

    fn begin_target(&mut self, target: RedirectionTarget) {
        self.end_word();
        self.target = Some(target);
    }

    fn read_heredocs(&mut self) {
        for PendingHeredoc { marker, place: [pipeline, command, text] } in
            std::mem::take(&mut self.heredocs)
        {
            let (body, rest) = split_heredoc(self.rest, &marker);
            self.rest = rest;
            let command = self.done.get_mut(pipeline).and_then(|it| it.commands.get_mut(command));
            if let Some(slot) = command.and_then(|it| it.texts.get_mut(text)) {
                body.clone_into(slot);
            }
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match self.target.take() {
            None => self.command.words.push(word),
            Some(RedirectionTarget::Input) => self.command.inputs.push(word),
            Some(RedirectionTarget::Output) => self.command.outputs.push(word),
            Some(RedirectionTarget::Text) => self.command.texts.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.target = None;
        let mut command = std::mem::take(&mut self.command);
        if command != ShellCommand::default() {
            command.subshells = self.subshells.iter().take(DEEPEST_SUBSHELL).copied().collect();
            self.now.commands.push(command);
        }
    }

    fn end_pipeline(&mut self, fallback_next: bool) {
        self.end_command();
        let next = ShellPipeline { fallback: fallback_next, commands: Vec::new() };
        let pipeline = std::mem::replace(&mut self.now, next);
        if !pipeline.commands.is_empty() {
            self.done.push(pipeline);
        }
    }
}

/// Returns the end marker that a word behind `<<` names.
fn heredoc_marker(word: &str) -> String {
    word.replace(['\'', '"', '\\'], "")
}

/// Splits the text of a here-document from what follows its end marker.
fn split_heredoc<'a>(text: &'a str, marker: &str) -> (&'a str, &'a str) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == marker {
            return (&text[..at], &text[at + line.len()..]);
        }
        at += line.len();
    }
    (text, "")
}

/// Returns the end of a nested `(…)`, behind its parenthesis. Quotes and parentheses in the text of
/// its here-documents do not count.
fn nested_end(text: &str) -> usize {
    let (mut depth, mut quote, mut skipped) = (1, None, 0);
    let mut markers: Vec<String> = Vec::new();
    for (at, c) in text.char_indices() {
        if at < skipped {
            continue;
        }
        match (quote, c) {
            (Some(mark), c) => quote = Some(mark).filter(|it| *it != c),
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, '\n') => {
                for marker in markers.drain(..) {
                    let from = skipped.max(at + 1);
                    skipped = text.len() - split_heredoc(&text[from..], &marker).1.len();
                }
            }
            (None, '<') => {
                let behind = &text[at..];
                let word = behind.strip_prefix("<<").map(|it| it.trim_start_matches(['-', ' ']));
                let word = word.filter(|it| !it.starts_with('<') && !text[..at].ends_with('<'));
                let end = |it: &str| it.find(|c: char| c.is_whitespace() || ";&|()<>".contains(c));
                if let Some(word) = word {
                    let word = &word[..end(word).unwrap_or(word.len())];
                    markers.push(heredoc_marker(word));
                    skipped = at + 2;
                    skipped += text[skipped..].find(word).unwrap_or(0) + word.len();
                }
            }
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}
