//! Words for commands of git that do not name it: "no force pushes", "don't create branches".

use crate::memory::checks::act::ForbiddenAct;
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::WordClasses;

/// Verbs and things of git and of its hosts, and the commands for both together.
const DEEDS: [(&str, &str, &[&str]); 15] = [
    ("force forced forcing", "push", FORCED),
    ("", "force-push force-pushes force-pushing force-pushed", FORCED),
    ("push", "tag", &["git push --tags"]),
    ("remote origin", "branch", &["git push --delete"]),
    ("delete", "branch", &["git branch -d", "git branch -D", "git push --delete"]),
    ("create open", "pr prs pull-request pull-requests requests", &["gh pr create"]),
    ("merge", "pr prs pull-request pull-requests requests", &["gh pr merge"]),
    ("create", "branch", &["git checkout -b", "git switch -c", "git switch --create"]),
    ("", "amend amends amending amended", &["git commit --amend"]),
    ("", "rebase rebases rebasing", &["git rebase", "git pull --rebase"]),
    ("", "stash stashes stashing", &["git stash"]),
    ("", "cherry-pick cherry-picks cherry-picking", &["git cherry-pick"]),
    ("", "push", &["git push"]),
    ("", "commit", &["git commit"]),
    ("", "merge", &["git merge"]),
];
/// Words that narrow no command.
const FILLERS: &str = "new git direct directly commit commits any all your yourself another";
const FORCED: &[&str] = &["git push --force", "git push --force-with-lease"];

/// Returns the commands that a phrase stands for, if it is one of git's.
pub(super) fn phrase_lines(terms: &[RuleTerm<'_>]) -> Option<Vec<Vec<String>>> {
    let has = |words: &str| {
        let is_it = |it: &RuleTerm<'_>| !it.is_code && (it.means(words) || starts(it, words));
        words.is_empty() || terms.iter().any(is_it)
    };
    // `git push origin` is a command.
    if terms.first().is_some_and(|it| is_one_of(&it.folded, "git gh") && terms.len() > 1)
        || terms.iter().any(RuleTerm::is_flag)
    {
        return None;
    }
    let (verb, thing, lines) = DEEDS.iter().find(|(verb, thing, _)| has(verb) && has(thing))?;
    // Whatever else it says may narrow it.
    let is_known = |it: &RuleTerm<'_>| {
        it.is(WordClasses::STOP.or(WordClasses::DETERMINER).or(WordClasses::PREPOSITION))
            || it.is_joint()
            || it.means(FILLERS)
            || it.means("delete")
            || [verb, thing].iter().any(|words| it.means(words) || starts(it, words))
            || !it.text.is_ascii()
    };
    if !terms.iter().all(is_known) {
        return Some(Vec::new());
    }
    Some(lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect())
}

/// True for forms of "push" and "commit" that other languages make of them.
fn starts(term: &RuleTerm<'_>, word: &str) -> bool {
    let stems = match word {
        "push" => ["push", "pouss", "пуш"],
        "commit" => ["commit", "committ", "коммит"],
        _ => return false,
    };
    stems.iter().any(|it| term.folded.starts_with(it))
}

/// Forced pushes are forbidden to the branches that are named beside them, and other pushes are not.
pub(super) fn restrict_force(acts: &mut Vec<ForbiddenAct>) {
    let is_force = |it: &ForbiddenAct| {
        matches!(it, ForbiddenAct::Run(run) if run.program == "git" && run.words == ["push"]
            && run.flags.iter().any(|it| it.starts_with("--force")))
    };
    let branch = |it: &ForbiddenAct| match it {
        ForbiddenAct::Push(branch) => Some(branch.clone()),
        _ => None,
    };
    let branches: Vec<String> = acts.iter().filter_map(branch).collect();
    if branches.is_empty() || !acts.iter().any(is_force) {
        return;
    }
    let forced: Vec<ForbiddenAct> = acts.extract_if(.., |it| is_force(it)).collect();
    acts.retain(|it| branch(it).is_none());
    for act in forced {
        let ForbiddenAct::Run(run) = act else { continue };
        for branch in &branches {
            let mut run = run.clone();
            run.words.push(branch.clone());
            acts.push(ForbiddenAct::Run(run));
        }
    }
}
