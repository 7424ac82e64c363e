//! Kinds of commands: program and sub-command, without the details of one run. `npm test` and `npm
//! install` differ; `cargo test -p x` and `cd crates && cargo test 2>&1 | tail` are one kind.

mod plain;
mod program;
mod programs;
mod running;
mod splitter;
mod wrappers;

use std::fmt;

use programs::is_program_in;
use splitter::ShellPipeline;

use crate::base::text::shorten_text;
use crate::secrets;

pub use plain::{ShellToken, plain_tokens};
pub(crate) use programs::{is_known_program, programs_for_purpose};
pub(crate) use running::{RunCommand, join_path, normalize_path, run_commands, same_flag};
pub use splitter::{ShellCommand, command_words, hides_exit_code, split_commands};
pub use wrappers::is_wrapper;

/// Maximum characters of each part of a kind.
const MOST: usize = 80;

/// Maximum bytes of a line that are read for its kind; the beginning of a longer script decides.
const MOST_OF_LINE: usize = 8 << 10;

/// Program and sub-command of a shell line. The text (`npm test`, `docker compose up`, `make lint`,
/// `python manage.py migrate`) is stored, so it must stay the same in all versions.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandKind {
    program: String,
    sub: Option<String>,
}

impl CommandKind {
    /// Returns the kind of the deciding command of a shell line, or `None` if nothing is run.
    pub fn of(line: &str) -> Option<Self> {
        deciding_command(line, DEEPEST).map(|words| program::kind_of_words(&words))
    }

    fn new(program: &str, sub: Option<String>) -> Self {
        let clean = |text: &str| shorten_text(&secrets::redact(text), MOST).into_owned();
        Self { program: clean(program), sub: sub.map(|sub| clean(&sub)) }
    }

    /// Returns the plain name of the program.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Returns the sub-command, script or target.
    pub fn sub(&self) -> Option<&str> {
        self.sub.as_deref()
    }

    /// True if the command only displays existing text: its output is not its own.
    pub(crate) fn only_displays(&self) -> bool {
        ["filters", "prepares", "says", "displays"].iter().any(|section| self.is_in(section))
    }

    /// True if the command only inspects or queries: a failure is an answer.
    pub(crate) fn only_inspects(&self) -> bool {
        self.only_displays() || self.exits_one_for_no() || self.is_in("looks")
    }

    /// True if exit code 1 is this program's way to say "no": nothing found, not equal.
    pub(crate) fn exits_one_for_no(&self) -> bool {
        self.is_in("asks")
    }

    /// True if a section of the table has the program or this sub-command.
    fn is_in(&self, section: &'static str) -> bool {
        is_program_in(section, &self.program)
            || is_program_in(section, &self.to_string().replace(' ', "/"))
    }
}

/// Writes the stored text form.
impl fmt::Display for CommandKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program)?;
        match &self.sub {
            Some(sub) => write!(f, " {sub}"),
            None => Ok(()),
        }
    }
}

/// True if a line only reads, as far as its words tell: it shows or inspects, and redirects nothing into
/// a file.
pub fn only_reads(line: &str) -> bool {
    const HARMLESS: [&str; 5] =
        ["2>&1", "2>/dev/null", "2> /dev/null", ">/dev/null", "> /dev/null"];
    let bare = HARMLESS.iter().fold(line.to_owned(), |line, it| line.replace(it, ""));
    let writes = |words: &[String]| {
        let is_editor = matches!(program_of(words), "sed" | "perl" | "yq");
        matches!(program_of(words), "mkdir" | "touch" | "tee" | "wget" | "eval" | "source" | ".")
            || words.iter().any(|word| {
                matches!(word.as_str(), "-o" | "-O" | "-delete" | "-exec" | "--in-place")
                    || (is_editor && word.starts_with("-i"))
            })
    };
    let reads = |words: &Vec<String>| {
        !writes(words) && CommandKind::of(&words.join(" ")).is_some_and(|kind| kind.only_inspects())
    };
    let commands = command_words(&bare);
    !bare.contains(['>', '`']) && !commands.is_empty() && commands.iter().all(reads)
}

/// Maximum nesting of `bash -c 'bash -c …'`.
const DEEPEST: u8 = 3;

/// True if the program only prepares or prints, so that another command decides the line.
fn is_incidental_program(program: &str) -> bool {
    is_program_in("prepares", program) || is_program_in("says", program)
}

/// Returns the words of the deciding command, without wrappers. That is not its preparation (`cd`),
/// not a filter of its output (`| tail`), and not a fallback (`|| true`).
fn deciding_command(line: &str, depth: u8) -> Option<Vec<String>> {
    let line = &line[..line.floor_char_boundary(MOST_OF_LINE)];
    let pipelines = splitter::split_pipelines(line);
    let of = |fallback: bool| {
        let wanted = pipelines.iter().filter(move |it| it.fallback == fallback);
        wanted.filter_map(|pipeline| deciding_stage(pipeline, depth)).collect::<Vec<_>>()
    };
    let mut candidates = of(false);
    if candidates.iter().all(|words| is_program_in("prepares", program_of(words))) {
        candidates.extend(of(true));
    }
    let last = |minor: &dyn Fn(&str) -> bool| {
        candidates.iter().rposition(|words| !minor(program_of(words)))
    };
    let at = last(&is_incidental_program).or_else(|| last(&|it| is_program_in("prepares", it)));
    let at = at.or_else(|| candidates.len().checked_sub(1))?;
    Some(candidates.swap_remove(at))
}

fn program_of(words: &[String]) -> &str {
    words.first().map_or("", String::as_str)
}

/// Returns the last stage of a pipeline that does not merely filter or print.
fn deciding_stage(pipeline: &ShellPipeline, depth: u8) -> Option<Vec<String>> {
    let unwrapped = pipeline.commands.iter().filter_map(|command| {
        let words = wrappers::strip_wrappers(&command.words);
        let inner = if depth == 0 { None } else { program::inline_script(words) };
        match inner {
            Some(line) => deciding_command(&line, depth - 1),
            None => (!program_of(words).is_empty()).then(|| words.to_vec()),
        }
    });
    let mut stages: Vec<Vec<String>> = unwrapped.collect();
    let is_filter = |words: &Vec<String>| is_program_in("filters", program_of(words));
    let works =
        |words: &Vec<String>| !is_filter(words) && !is_program_in("says", program_of(words));
    let at = stages.iter().rposition(works);
    let at = at.or_else(|| stages.iter().rposition(|words| !is_filter(words)));
    // If all of them filter, the first one reads the text itself.
    let at = at.or(if stages.is_empty() { None } else { Some(0) })?;
    Some(stages.swap_remove(at))
}
