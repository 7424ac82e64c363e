//! Which of the commands in a line decides: not what prepares it (`cd`), not what
//! filters its output (`| tail`), not what is done if it fails (`|| true`).

use super::script;
use super::shell::{self, Pipeline};
use super::wrappers;

/// How deep `bash -c 'bash -c …'` is looked into.
const DEEPEST: u8 = 3;

/// They set the scene.
const PREPARES: &str = " cd pushd popd export set unset source . alias ulimit umask shopt declare \
local readonly typeset trap wait sleep mkdir touch : true eval if fi then else elif do done for while \
until case esac in select break continue return exit function ";

/// They say something, or show what is there.
const SAYS: &str = " echo printf cat ls ll pwd date whoami clear tput file stat du df ";

/// They pass on what another command wrote.
const FILTERS: &str = " tail head grep egrep fgrep rg tee sed awk gawk cut sort uniq less more wc tr \
column fold fmt nl tac rev strings ts cat jq yq xxd od hexdump bat ansi2txt ";

/// They look, or knock: whether there is something is all that comes of it.
const LOOKS: &str = " kill pkill killall ping nc ncat telnet curl wget http dig host nslookup ss lsof \
netstat ps top id env printenv readlink realpath basename dirname find fd tree man info history uname \
hostname groups getent ";

/// Whether it does nothing but look.
pub(super) fn is_look(program: &str) -> bool {
    is_one_of(program, LOOKS)
}

pub(super) fn is_filter(program: &str) -> bool {
    is_one_of(program, FILTERS)
}

/// Whether it says nothing about what the line is for.
pub(super) fn is_minor(program: &str) -> bool {
    is_one_of(program, PREPARES) || is_one_of(program, SAYS)
}

fn is_one_of(word: &str, list: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|it| it == word)
}

/// The words of the command that decides, without what is wrapped around it.
pub(super) fn command(line: &str) -> Option<Vec<String>> {
    within(line, DEEPEST)
}

fn within(line: &str, depth: u8) -> Option<Vec<String>> {
    let pipelines = shell::split(line);
    let of = |fallback: bool| {
        let wanted = pipelines.iter().filter(move |it| it.fallback == fallback);
        wanted.filter_map(|pipeline| decisive(pipeline, depth)).collect::<Vec<_>>()
    };
    let mut candidates = of(false);
    if candidates.iter().all(|words| is_one_of(program_of(words), PREPARES)) {
        candidates.extend(of(true));
    }
    let last = |minor: &dyn Fn(&str) -> bool| {
        candidates.iter().rposition(|words| !minor(program_of(words)))
    };
    let at = last(&is_minor).or_else(|| last(&|it| is_one_of(it, PREPARES)));
    let at = at.or_else(|| candidates.len().checked_sub(1))?;
    Some(candidates.swap_remove(at))
}

fn program_of(words: &[String]) -> &str {
    words.first().map_or("", String::as_str)
}

/// The stage of a pipeline that does the work: the last that does not merely filter.
fn decisive(pipeline: &Pipeline, depth: u8) -> Option<Vec<String>> {
    let stages = pipeline.stages.iter().filter_map(|words| unwrapped(words, depth));
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

fn unwrapped(words: &[String], depth: u8) -> Option<Vec<String>> {
    let words = wrappers::strip(words);
    let inner = if depth == 0 { None } else { script::inline(words) };
    match inner {
        Some(line) => within(&line, depth - 1),
        None => (!program_of(words).is_empty()).then(|| words.to_vec()),
    }
}
