//! Rules about git that name no command: "never push to main", "no force pushes", "don't
//! create branches".

use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::command::CommandPattern;
use crate::memory::checks::segment::{RuleObject, RuleSegment, RuleVerb};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;

/// Branches that need no word for "branch" beside them.
const BRANCHES: &str = "main master develop trunk production staging release prod gh-pages";
/// Names of remotes, which are no branches.
const REMOTES: &str = "origin upstream remote github gitlab";
/// Words for a push that overwrites.
const FORCE: &str = "force forced forcing force-push force-pushes force-pushing force-pushed";

/// Verbs and things of git and of its hosts, and the commands for both together.
const DEEDS: [(&str, &str, &[&str]); 10] = [
    ("push", "tag", &["git push --tags"]),
    ("delete", "remote", &["git push --delete"]),
    ("delete", "branch", &["git branch -d", "git branch -D", "git push --delete"]),
    ("create open", "pr prs pull-request pull-requests requests", &["gh pr create"]),
    ("merge", "pr prs pull-request pull-requests requests", &["gh pr merge"]),
    ("create", "branch", &["git checkout -b", "git switch -c", "git switch --create"]),
    ("", "amend amends amending amended", &["git commit --amend"]),
    ("", "rebase rebases rebasing", &["git rebase", "git pull --rebase"]),
    ("", "stash stashes stashing", &["git stash"]),
    ("", "cherry-pick cherry-picks cherry-picking", &["git cherry-pick"]),
];

/// Returns what a segment forbids in git, or `None` if it is about something else.
pub(super) fn git_acts(terms: &[RuleTerm<'_>], read: &RuleSegment) -> Option<Vec<ForbiddenAct>> {
    let has = |words: &str| terms.iter().any(|it| !it.is_code && it.means(words));
    let names_other = read.objects.iter().any(|it| match it {
        RuleObject::Command(words, _) => words.len() > 1 && !is_push(words),
        _ => false,
    });
    if names_other {
        return None;
    }
    let deed = DEEDS.iter().find(|(verb, thing, _)| (verb.is_empty() || has(verb)) && has(thing));
    let is_understood = |it: &RuleTerm<'_>| {
        DEEDS.iter().any(|(verb, thing, _)| it.means(verb) || it.means(thing))
            || it.means("commit branch pull allow git remote")
            || is_bare_word(it)
            || it.is_new()
            || it.is(WordClasses::STOP.or(WordClasses::POLITE).or(WordClasses::DETERMINER))
    };
    let is_plain = read.objects.iter().all(is_git) && terms.iter().all(is_understood);
    if let Some((_, _, lines)) = deed.filter(|_| is_plain) {
        return Some(lines.iter().filter_map(|line| run(line)).collect());
    }
    let names_push =
        read.objects.iter().any(|it| matches!(it, RuleObject::Command(words, _) if is_push(words)));
    if read.has(RuleVerb::Push) || has(FORCE) || names_push {
        return Some(push_acts(terms, read));
    }
    let commits = read.has(RuleVerb::Commit) && read.objects.iter().all(is_git);
    let is_bare = || terms.iter().all(|it| it.means("commit") || is_bare_word(it));
    (commits && is_bare()).then(|| run("git commit").into_iter().collect())
}

fn run(line: &str) -> Option<ForbiddenAct> {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    CommandPattern::of_words(&words).map(ForbiddenAct::Run)
}

fn is_push(words: &[String]) -> bool {
    words.first().is_some_and(|it| it == "git") && words.get(1).is_some_and(|it| it == "push")
}

/// True for git itself, and for words that are no object of their own.
fn is_git(object: &RuleObject) -> bool {
    matches!(object, RuleObject::Name(_))
        || matches!(object, RuleObject::Command(words, _) if words[..] == ["git"])
}

/// True for a word that does not narrow an act: "don't push anything yourself".
fn is_bare_word(term: &RuleTerm<'_>) -> bool {
    const BARE: &str = "ever you yourself myself manually directly anything just to any the a git i we on at \
        all own straight do does make hagas haga hacer faca fare fais faites mach mache code changes please bitte \
        direkt selbst directement directamente";
    is_one_of(&term.folded, BARE) || term.is_joint() || term.is_unspaced()
}

/// Returns the forbidden pushes: to branches, with force, with options, or all.
fn push_acts(terms: &[RuleTerm<'_>], read: &RuleSegment) -> Vec<ForbiddenAct> {
    let branches = branches_in(terms);
    let code_words = terms.iter().filter(|it| it.is_code).flat_map(|it| it.text.split(' '));
    let flags: Vec<&str> = terms
        .iter()
        .filter(|it| it.is_flag())
        .map(|it| it.text)
        .chain(code_words.filter(|it| it.starts_with('-')))
        .collect();
    let is_force = terms.iter().any(|it| it.means(FORCE));
    let is_understood = |it: &RuleTerm<'_>| {
        it.is_code
            || it.is_flag()
            || it.means("branch")
            || matches!(it.verb(), Some(RuleVerb::Push | RuleVerb::Commit))
            || it.means(FORCE)
            || is_bare_word(it)
            || it.means("allow forbid")
            || it.is_preposition()
            || is_one_of(&it.folded, "ok okay fine gets get direct sur su na para vers de")
            || it.is(WordClasses::STOP
                .or(WordClasses::TARGET)
                .or(WordClasses::DETERMINER)
                .or(WordClasses::POLITE))
            || is_one_of(it.text, REMOTES)
            || branches.iter().any(|branch| branch == it.text)
    };
    if !terms.iter().all(is_understood) || (read.has(RuleVerb::Alter) && !is_force) {
        return Vec::new();
    }
    let forced = vec!["--force", "--force-with-lease"];
    let flags = if is_force && flags.is_empty() { forced } else { flags };
    let lines: Vec<String> = match (&branches[..], &flags[..]) {
        ([], [])
            if terms.iter().all(|it| it.means("push commit") || is_bare_word(it) || it.is_code) =>
        {
            vec!["git push".to_owned()]
        }
        ([], []) => Vec::new(),
        ([], flags) => flags.iter().map(|flag| format!("git push {flag}")).collect(),
        (branches, []) => return branches.iter().cloned().map(ForbiddenAct::Push).collect(),
        (branches, flags) => branches
            .iter()
            .flat_map(|branch| flags.iter().map(move |flag| format!("git push {branch} {flag}")))
            .collect(),
    };
    lines.iter().filter_map(|line| run(line)).collect()
}

/// Branches that a segment names.
fn branches_in(terms: &[RuleTerm<'_>]) -> Vec<String> {
    let mut found = Vec::new();
    for (at, term) in terms.iter().enumerate() {
        if term.is_code && term.text.contains(' ') {
            found.extend(
                term.text.split(' ').skip(3).filter(|it| !it.starts_with('-')).map(str::to_owned),
            );
            continue;
        }
        let before = terms[..at].iter().rev().find(|it| !it.is(WordClasses::DETERMINER));
        let is_target = before.is_some_and(|it| it.is(WordClasses::TARGET) || it.folded == "onto");
        let is_beside = terms.get(at + 1).is_some_and(|it| it.means("branch"));
        let is_name = term.text.chars().all(|c| c.is_ascii_alphanumeric() || "-_/.".contains(c));
        let is_branch = is_one_of(&term.folded, BRANCHES)
            || (is_name
                && !is_one_of(term.text, REMOTES)
                && is_target
                && (is_beside || term.is_code));
        if is_branch {
            found.push(term.text.to_owned());
        }
    }
    found
}
