//! A statement can be understood later, by somebody who has not read the prompt; and what is
//! clearly asked for is heard.

use super::{all_are_kept, none_is_kept};

#[test]
fn what_only_leads_up_to_a_statement_is_no_part_of_it() {
    all_are_kept(&[
        ("don't forget to run the tests", "run the tests"),
        ("never forget to run prettier", "run prettier"),
        ("n'oublie pas de lancer les tests", "lancer les tests"),
        ("Non, mets les tests dans spec/", "mets les tests dans spec/"),
        ("ultrathink never push to main", "never push to main"),
        ("/mycmd always use tabs", "always use tabs"),
        ("could you please never use tabs", "never use tabs"),
        ("always use ```js fences```", "always use ```js fences```"),
    ]);
}

#[test]
fn a_statement_says_what_it_is_about() {
    all_are_kept(&[
        (
            "I'm a beginner in Rust, so explain things",
            "the user is a beginner in Rust, so explain things",
        ),
        (
            "I'm new to Go, explain idioms when you use them",
            "the user is new to Go, explain idioms when you use them",
        ),
        ("you put the tests in test/, they belong in __tests__/", "the tests belong in __tests__/"),
        ("make sure all commits are signed", "make sure all commits are signed"),
    ]);
}

#[test]
fn what_is_clearly_asked_for_is_heard() {
    all_are_kept(&[
        ("remember: vendor/ is read-only", "vendor/ is read-only"),
        ("add a note: deploys happen on Tuesdays", "deploys happen on Tuesdays"),
        ("Actually, use pnpm not npm", "use pnpm not npm"),
        ("Please: never push to main; it breaks CI.", "never push to main"),
        (
            "Fix the login test, and by the way we never mock the database in this repo.",
            "we never mock the database in this repo",
        ),
        ("use pnpm", "use pnpm"),
        ("avoid lodash", "avoid lodash"),
        ("let's not use lodash", "let's not use lodash"),
        ("lodash is banned here", "lodash is banned here"),
        ("nie wieder lodash", "nie wieder lodash"),
        ("別用 var", "別用 var"),
        ("var は使わないで", "var は使わないで"),
        ("we switched to vitest", "we switched to vitest"),
        ("pushing to main is fine now", "pushing to main is fine now"),
    ]);
}

#[test]
fn what_only_looks_like_it_is_not() {
    none_is_kept(&[
        "use the other tab",
        "use yarn for this one",
        "avoid this",
        "let's not use redis for this",
        "access is forbidden here",
        "everything is fine now",
        "the build is fine now",
    ]);
}
