//! Acts from the words of one role.

use super::commands::{command_lines, flags_in, run_act, split_pieces};
use super::places::read_paths;
use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::path::{CheckPlace, PathSet};
use crate::memory::checks::roles::TermRole;
use crate::memory::checks::terms::{RuleTerm, tool_family};
use crate::memory::checks::written_text::TextPattern;
use crate::memory::lang::file_kinds::is_file_ending;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;
use crate::memory::shell::is_known_program;

/// Names of remotes, which are no branches.
const REMOTES: &str = "origin upstream remote github gitlab";

/// Returns what is forbidden by words of a role.
pub(super) fn acts_of(
    role: TermRole,
    terms: &[RuleTerm<'_>],
    place: &CheckPlace,
) -> Vec<ForbiddenAct> {
    match role {
        TermRole::Run => command_lines(terms).iter().flat_map(|it| command_acts(it)).collect(),
        TermRole::Push => branches_in(terms).into_iter().map(ForbiddenAct::Push).collect(),
        TermRole::Install => install_acts(terms),
        TermRole::Import => import_acts(terms),
        TermRole::Tool => tool_name(terms).map(ForbiddenAct::UseTool).into_iter().collect(),
        TermRole::Host => terms.iter().filter_map(host_name).map(ForbiddenAct::Reach).collect(),
        TermRole::Write => {
            let texts = texts_in(terms);
            texts.iter().filter_map(|it| TextPattern::new(it)).map(ForbiddenAct::Write).collect()
        }
        TermRole::Message => message_acts(terms),
        TermRole::Change => path_act(terms, place, ForbiddenAct::Change),
        TermRole::Existing => path_act(terms, place, ForbiddenAct::ChangeExisting),
        TermRole::Create => path_act(terms, place, ForbiddenAct::Create),
        TermRole::Delete => path_act(terms, place, ForbiddenAct::Remove),
        TermRole::Read => path_act(terms, place, ForbiddenAct::Read),
        TermRole::Commit => path_act(terms, place, ForbiddenAct::Stage),
        _ => Vec::new(),
    }
}

/// Forbids what is done with paths; where none is named, with those of the place.
fn path_act(
    terms: &[RuleTerm<'_>],
    place: &CheckPlace,
    act: fn(PathSet) -> ForbiddenAct,
) -> Vec<ForbiddenAct> {
    let mut of = read_paths(terms);
    if of.is_empty() {
        of.clone_from(&place.paths);
    }
    let act = (!of.is_empty()).then(|| act(PathSet { of, except: Vec::new() }));
    act.into_iter().collect()
}

/// Forbids a command, an option, or a package that is named like a command.
fn command_acts(words: &[String]) -> Vec<ForbiddenAct> {
    if words[0].starts_with('-') {
        return long_flags(words, None);
    }
    let is_package =
        words.len() == 1 && tool_family(&words[0]).is_some() && !is_known_program(&words[0]);
    let packages = if is_package { package_acts(&words[0]).to_vec() } else { Vec::new() };
    run_act(words).into_iter().chain(packages).collect()
}

/// Forbids options, each by itself, of a command if there is one.
pub(super) fn flag_acts(terms: &[RuleTerm<'_>], of: Option<&[String]>) -> Vec<ForbiddenAct> {
    long_flags(&flags_in(terms), of)
}

/// A command that is forbidden against a host is not forbidden against others.
pub(super) fn restrict_to_hosts(acts: &mut Vec<ForbiddenAct>) {
    let host = acts.iter().find_map(|it| match it {
        ForbiddenAct::Reach(host) => Some(host.clone()),
        _ => None,
    });
    let runs = |it: &ForbiddenAct| matches!(it, ForbiddenAct::Run(_));
    let Some(host) = host.filter(|_| acts.iter().any(runs)) else { return };
    acts.retain(runs);
    for act in acts {
        if let ForbiddenAct::Run(pattern) = act {
            pattern.argument = Some(host.clone());
        }
    }
}

/// A short option means something else in each program, so it counts for a command only.
fn long_flags(words: &[String], of: Option<&[String]>) -> Vec<ForbiddenAct> {
    let flags = words.iter().filter(|it| it.starts_with('-'));
    let known = flags.filter(|it| of.is_some() || it.starts_with("--"));
    let act = |flag: &String| match of {
        Some(of) => run_act(&[of, std::slice::from_ref(flag)].concat()),
        None => Some(ForbiddenAct::Run(CommandPattern {
            flags: vec![flag.clone()],
            ..CommandPattern::default()
        })),
    };
    known.filter_map(act).collect()
}

fn branches_in(terms: &[RuleTerm<'_>]) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_/.".contains(c);
    let is_branch = |it: &&RuleTerm<'_>| {
        it.text.chars().all(is_name)
            && !it.means("branch push directly")
            && !it.is(WordClasses::STOP.or(WordClasses::DETERMINER))
            && !it.is_joint()
            && !is_one_of(it.text, REMOTES)
    };
    let plain = |text: &str| {
        let (remote, branch) = text.split_once('/').unwrap_or(("", text));
        if is_one_of(remote, REMOTES) { branch.to_owned() } else { text.to_owned() }
    };
    terms.iter().filter(is_branch).map(|it| plain(it.text)).collect()
}

/// A package that must not be added or used.
fn package_acts(name: &str) -> [ForbiddenAct; 2] {
    [ForbiddenAct::Install(Some(name.to_owned())), ForbiddenAct::Import(name.to_owned())]
}

fn install_acts(terms: &[RuleTerm<'_>]) -> Vec<ForbiddenAct> {
    let is_any = |it: &RuleTerm<'_>| {
        it.means("dependency package library")
            || is_one_of(&it.folded, "crate crates gem gems dep deps dependencies packages")
    };
    let names = package_names(terms, &is_any);
    if names.is_empty() {
        return vec![ForbiddenAct::Install(None)];
    }
    names.iter().flat_map(|it| package_acts(it)).collect()
}

fn package_names(terms: &[RuleTerm<'_>], is_any: &dyn Fn(&RuleTerm<'_>) -> bool) -> Vec<String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_@/.:\\".contains(c);
    let is_package = |it: &&RuleTerm<'_>| {
        it.text.chars().all(is_name)
            && it.text.contains(|c: char| c.is_ascii_alphabetic())
            && !is_any(it)
            && !it.is(WordClasses::STOP.or(WordClasses::DETERMINER).or(WordClasses::ALL))
            && !it.means("new")
            && !it.is_joint()
    };
    let names = terms.iter().filter(is_package);
    names.map(|it| if it.is_code { it.text.to_owned() } else { it.text.to_lowercase() }).collect()
}

/// Forbids to use a library; `import x` in code is about code alone.
fn import_acts(terms: &[RuleTerm<'_>]) -> Vec<ForbiddenAct> {
    let mut acts = Vec::new();
    for piece in split_pieces(terms) {
        match piece {
            [term] if term.is_code && term.text.contains(' ') => {
                let words: Vec<&str> = term.text.split(' ').collect();
                match words[..] {
                    ["import" | "use" | "from" | "require", name] => {
                        acts.push(ForbiddenAct::Import(name.trim_matches(';').to_owned()));
                    }
                    _ => acts.extend(TextPattern::new(term.text).map(ForbiddenAct::Write)),
                }
            }
            piece => {
                let names = package_names(piece, &|it| it.means("package library import"));
                acts.extend(names.iter().flat_map(|it| package_acts(it)));
            }
        }
    }
    acts
}

/// Name of a tool of the agent, or of an MCP server.
fn tool_name(terms: &[RuleTerm<'_>]) -> Option<String> {
    let is_noun = |it: &&RuleTerm<'_>| {
        it.text.is_ascii()
            && !is_one_of(&it.folded, "mcp server servers tool tools the agent subagent")
            && !it.is(WordClasses::DETERMINER)
    };
    let name = terms.iter().find(is_noun)?.text;
    let parts: Vec<&str> = name.strip_prefix("mcp__").unwrap_or(name).split("__").collect();
    // `mcp__server` and `mcp__server__*` are the server.
    match parts[..] {
        [server] | [server, "*" | ""] => Some(server.to_owned()),
        _ => Some(name.to_owned()),
    }
}

/// Host that a term names: `db.prod.internal`.
fn host_name(term: &RuleTerm<'_>) -> Option<String> {
    let text = term.text.rsplit("://").next().unwrap_or_default();
    let text = text.trim_start_matches("*.").split('/').next().unwrap_or_default();
    let (_, last) = text.rsplit_once('.')?;
    let is_host = text.chars().all(|c| c.is_ascii_alphanumeric() || ".-".contains(c))
        && last.len() >= 2
        && !is_file_ending(last)
        && !text.starts_with('.');
    is_host.then(|| text.to_lowercase())
}

/// Texts that terms name: their code, or else their words without nouns behind them.
fn texts_in(terms: &[RuleTerm<'_>]) -> Vec<String> {
    const NOUNS: &str = "call calls statement statements comment comments type types block blocks keyword \
        keywords marker markers annotation annotations import imports expression expressions operator macro macros";
    let codes: Vec<String> =
        terms.iter().filter(|it| it.is_code).map(|it| it.text.to_owned()).collect();
    if !codes.is_empty() {
        return codes;
    }
    let pieces = split_pieces(terms).into_iter();
    let text = |piece: &[RuleTerm<'_>]| {
        let words: Vec<&str> = piece
            .iter()
            .filter(|it| !is_one_of(&it.folded, NOUNS) || piece.len() == 1)
            .map(|it| it.text)
            .collect();
        words.join(" ")
    };
    // Plain words in several are no text of code.
    let is_prose = |it: &&[RuleTerm<'_>]| {
        let is_plain =
            |it: &RuleTerm<'_>| it.text.chars().all(char::is_lowercase) && !it.is_unknown();
        it.len() > 1 && it.iter().all(is_plain)
    };
    pieces.filter(|it| !is_prose(it)).map(text).filter(|it| !it.is_empty()).collect()
}

/// Forbids texts in commit messages.
fn message_acts(terms: &[RuleTerm<'_>]) -> Vec<ForbiddenAct> {
    let mut acts = Vec::new();
    for piece in split_pieces(terms) {
        let words: Vec<&str> = piece.iter().map(|it| it.text).collect();
        let text = words.join(" ").to_lowercase();
        let is_emoji = ["emoji", "emotic", "絵文字", "表情", "이모", "эмодзи", "смайл", "емодзі"];
        if is_emoji.iter().any(|it| text.contains(it)) {
            acts.push(ForbiddenAct::EmojiMessage);
        } else if text.contains("co-author") || text.contains("coauthor") {
            acts.push(ForbiddenAct::Message("co-authored-by".to_owned()));
        } else if text.chars().count() > 1 {
            acts.push(ForbiddenAct::Message(text));
        }
    }
    acts
}
