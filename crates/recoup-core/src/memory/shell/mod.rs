//! Kinds of commands: program and sub-command, without the details of one run. `npm test` and `npm
//! install` differ; `cargo test -p x` and `cd crates && cargo test 2>&1 | tail` are one kind.

mod program;
mod splitter;
mod subcommands;
mod wrappers;

use std::fmt;

use splitter::ShellPipeline;

use crate::base::text::shorten_text;
use crate::memory::lang::word_lists::is_one_of;
use crate::secrets;

pub use splitter::{ShellCommand, command_words, hides_exit_code, split_commands};
pub use wrappers::is_wrapper;

/// Maximum characters of each part of a kind.
const MOST: usize = 80;

/// Maximum bytes of a line that are read for its kind; the beginning of a longer script decides.
const MOST_OF_LINE: usize = 8 << 10;

/// Programs whose exit code 1 says "no": nothing found, not equal.
const ASKS: &str =
    "grep egrep fgrep rg ag ack diff cmp test [ [[ which command type pgrep pidof expr false";

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
        is_filter(&self.program)
            || is_incidental_program(&self.program)
            || matches!(
                (self.program.as_str(), self.sub()),
                ("git", Some("log" | "show" | "diff" | "status" | "blame" | "grep" | "stash show"))
                    | ("gh", Some("run view" | "pr view" | "pr checks" | "issue view"))
                    | ("docker", Some("logs" | "compose logs"))
                    | ("kubectl", Some("logs" | "describe"))
                    | ("find" | "rg" | "ag" | "ack" | "fd" | "tree" | "curl" | "journalctl", _)
            )
    }

    /// True if the command only inspects or queries: a failure is an answer.
    pub(crate) fn only_inspects(&self) -> bool {
        self.only_displays() || self.exits_one_for_no() || is_one_of(&self.program, LOOKS)
    }

    /// True if exit code 1 is this program's way to say "no": nothing found, not equal.
    pub(crate) fn exits_one_for_no(&self) -> bool {
        is_one_of(&self.program, ASKS)
            || (self.program == "git"
                && matches!(self.sub(), Some("grep" | "diff" | "check-ignore")))
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

/// Maximum nesting of `bash -c 'bash -c …'`.
const DEEPEST: u8 = 3;

/// Programs and keywords that only prepare another command.
const PREPARES: &str = " cd pushd popd export set unset source . alias ulimit umask shopt declare \
local readonly typeset trap wait sleep mkdir touch : true eval if fi then else elif do done for while \
until case esac in select break continue return exit function ";

/// Programs that print text or list what exists.
const SAYS: &str = " echo printf cat ls ll pwd date whoami clear tput file stat du df ";

/// Programs that filter the output of another command.
const FILTERS: &str = " tail head grep egrep fgrep rg tee sed awk gawk cut sort uniq less more wc tr \
column fold fmt nl tac rev strings ts cat jq yq xxd od hexdump bat ansi2txt ";

/// Programs that inspect or probe: their result is only information.
const LOOKS: &str = " kill pkill killall ping nc ncat telnet curl wget http dig host nslookup ss lsof \
netstat ps top id env printenv readlink realpath basename dirname find fd tree man info history uname \
hostname groups getent ";

fn is_filter(program: &str) -> bool {
    is_one_of(program, FILTERS)
}

/// True if the program only prepares or prints, so that another command decides the line.
fn is_incidental_program(program: &str) -> bool {
    is_one_of(program, PREPARES) || is_one_of(program, SAYS)
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
    if candidates.iter().all(|words| is_one_of(program_of(words), PREPARES)) {
        candidates.extend(of(true));
    }
    let last = |minor: &dyn Fn(&str) -> bool| {
        candidates.iter().rposition(|words| !minor(program_of(words)))
    };
    let at = last(&is_incidental_program).or_else(|| last(&|it| is_one_of(it, PREPARES)));
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
    let works = |words: &Vec<String>| {
        let program = program_of(words);
        !is_filter(program) && !is_one_of(program, SAYS)
    };
    let at = stages.iter().rposition(works).or_else(|| {
        let says = stages.iter().rposition(|words| !is_filter(program_of(words)));
        says.or(if stages.is_empty() { None } else { Some(0) })
    })?;
    Some(stages.swap_remove(at))
}
