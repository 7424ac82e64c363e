//! What is asked to be remembered as a list is kept item by item.

use super::{kept, none_is_kept, read};

/// All items, in any order.
fn items(prompt: &str) -> Vec<String> {
    let mut items: Vec<String> = read(prompt).sure().map(|it| it.text.clone()).collect();
    items.sort();
    items
}

#[test]
fn each_item_of_an_announced_list_is_kept() {
    assert_eq!(
        items(
            "Please remember the following rules for this project:\n\n- never push to main\n- always run fmt\n- we use tabs\n- staging runs on port 8443\n- never use var\n- no default exports"
        ),
        [
            "always run fmt", "never push to main", "never use var", "no default exports",
            "staging runs on port 8443", "we use tabs"
        ]
    );
    assert_eq!(
        items(
            "From now on:\n1. run `make lint` before each commit\n2. use pnpm instead of npm\n3. write tests in __tests__/"
        ),
        [
            "run `make lint` before each commit", "use pnpm instead of npm",
            "write tests in __tests__/"
        ]
    );
    assert_eq!(
        items("Rules:\n* use pnpm\n* the changelog is edited by hand"),
        ["the changelog is edited by hand", "use pnpm"]
    );
    assert_eq!(
        items(
            "Merk dir bitte folgendes:\n- Commits auf Englisch\n- kein lodash\n- Tests liegen in spec/"
        ),
        ["Commits auf Englisch", "Tests liegen in spec/", "kein lodash"]
    );
    assert_eq!(
        items("请记住以下规则：\n- 不要推送到 main\n- 测试放在 spec/\n- 用 pnpm"),
        ["不要推送到 main", "测试放在 spec/", "用 pnpm"]
    );
}

#[test]
fn a_long_announced_list_is_kept_whole() {
    let list: Vec<String> =
        (0..30).map(|at| format!("- module m{at} is owned by team t{at}")).collect();
    assert_eq!(items(&format!("Remember the following:\n{}", list.join("\n"))).len(), 30);
}

#[test]
fn what_comes_after_the_list_is_not_in_it() {
    assert_eq!(
        items(
            "Please remember these:\n- squash merges only\n- reviewers: ann and bob\n\nNow fix the login test and add a spinner"
        ),
        ["reviewers: ann and bob", "squash merges only"]
    );
}

#[test]
fn what_is_to_be_made_by_rules_is_no_announcement() {
    none_is_kept(&[
        "Implement these rules:\n- no negative amounts\n- always round up\n- discounts never stack",
        "Create an API with:\n- we use postgres\n- never return 500",
        "btw these are failing:\n- the checkout page\n- two login tests",
        "I remember these problems:\n- slow start of the worker\n- flaky upload",
        "which of these rules did you break:\n- never push to main\n- we use tabs here",
    ]);
}

#[test]
fn a_paragraph_of_rules_is_kept_sentence_by_sentence() {
    let said = kept(
        "Never push to main. We use tabs here. Staging runs on port 8443. Use pnpm instead of npm. Never use var. Run `make lint` before each commit.",
    );
    assert_eq!(said.len(), 6, "{said:?}");
}
