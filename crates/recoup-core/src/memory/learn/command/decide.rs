//! Finds the command that decides a shell line: not its preparation (`cd`), not a filter of its
//! output (`| tail`), not a fallback (`|| true`).

use super::script;
use super::shell::{self, ShellPipeline};
use super::wrappers;

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

/// True if the program only inspects or probes.
pub(super) fn is_probe_program(program: &str) -> bool {
    is_one_of(program, LOOKS)
}

pub(super) fn is_filter(program: &str) -> bool {
    is_one_of(program, FILTERS)
}

/// True if the program only prepares or prints, so that another command decides the line.
pub(super) fn is_incidental_program(program: &str) -> bool {
    is_one_of(program, PREPARES) || is_one_of(program, SAYS)
}

fn is_one_of(word: &str, list: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|it| it == word)
}

/// Returns the words of the deciding command, without wrappers.
pub(super) fn deciding_command(line: &str) -> Option<Vec<String>> {
    deciding_command_at_depth(line, DEEPEST)
}

fn deciding_command_at_depth(line: &str, depth: u8) -> Option<Vec<String>> {
    let pipelines = shell::split_pipelines(line);
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
    let stages = pipeline.stages.iter().filter_map(|words| unwrap_command(words, depth));
    let mut stages: Vec<Vec<String>> = stages.collect();
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

fn unwrap_command(words: &[String], depth: u8) -> Option<Vec<String>> {
    let words = wrappers::strip_wrappers(words);
    let inner = if depth == 0 { None } else { script::inline_script(words) };
    match inner {
        Some(line) => deciding_command_at_depth(&line, depth - 1),
        None => (!program_of(words).is_empty()).then(|| words.to_vec()),
    }
}
