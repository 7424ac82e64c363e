//! Plain forms of rules, tasks, reports and complaints. The tagger has learnt them; here they stay.

use super::{all_are_kept, none_is_kept, read};

#[test]
fn plain_rules_are_kept_without_address_and_filler() {
    all_are_kept(&[
        ("don't ever use var", "don't ever use var"),
        ("no, put tests in `__tests__/`", "put tests in `__tests__/`"),
        ("from now on use pnpm, please", "use pnpm"),
        ("we use tabs here", "we use tabs here"),
        ("staging runs on port 8443", "staging runs on port 8443"),
        ("remember that staging runs on port 8443", "staging runs on port 8443"),
        ("never push to main", "never push to main"),
        ("No, use pnpm, not npm.", "use pnpm, not npm"),
        ("no abbreviations in variable names please", "no abbreviations in variable names"),
        ("cargo fmt before every commit", "cargo fmt before every commit"),
        ("lodash is banned here", "lodash is banned here"),
        (
            "Fix the login test, and by the way we never mock the database in this repo.",
            "we never mock the database in this repo",
        ),
        ("n'utilise pas yarn, utilise npm", "n'utilise pas yarn, utilise npm"),
        ("não use var", "não use var"),
        ("以后注释都用中文写", "注释都用中文写"),
        ("var は使わないで", "var は使わないで"),
    ]);
}

#[test]
fn what_is_for_once_is_no_rule() {
    none_is_kept(&[
        "deploy to production", "git push origin main --force", "make clean",
        "commit with --no-verify", "use the other tab", "use yarn for this one",
        "use tabs in this file only", "only for this commit, skip the hooks",
        "pretend that we use yarn", "don't commit yet", "no, use line 40", "we are in a hurry",
        "CI fails on node 18", "implement refunds: model, endpoint and docs",
    ]);
}

#[test]
fn what_always_fails_or_others_do_is_no_rule() {
    none_is_kept(&[
        "the worker always hangs after an hour", "Der Server stürzt immer ab",
        "Le build échoue toujours sur Windows", "ビルドが毎回失敗する", "接口一直超时",
        "He always uses tabs", "they never use tabs", "Never give up",
    ]);
}

#[test]
fn a_complaint_is_asked_again_and_no_rule() {
    let complaints = [
        "still broken", "that's not what I meant", "You never run the tests!",
        "ugh, you always rename my variables", "Du liest nie die Doku",
        "Tu oublies toujours les imports", "你老是忘记更新文档", "君はいつもテストを忘れる",
    ];
    none_is_kept(&complaints);
    let unheard: Vec<_> = complaints.iter().filter(|it| !read(it).re_ask).collect();
    assert!(unheard.is_empty(), "{unheard:?}");
    assert!(!read("thanks, works now").re_ask);
}

#[test]
fn a_text_that_is_worked_on_is_no_rule() {
    none_is_kept(&[
        "Summarise: we use tabs here. never push to main.",
        "please translate to French: we never deploy on Fridays. always ask first.",
        "I read this in the wiki: never use npm. always use bun.",
    ]);
}
