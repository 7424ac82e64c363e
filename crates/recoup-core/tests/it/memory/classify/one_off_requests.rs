//! What is to be done once is nothing to remember.

use super::{all_are_kept, none_is_kept};

#[test]
fn a_command_line_is_no_rule() {
    none_is_kept(&[
        "git push origin main --force",
        "terraform apply -auto-approve",
        "kubectl delete pod web-1",
        "docker compose up",
        "python manage.py migrate",
        "cd backend && cargo run",
        "git commit -m \"always use tabs\"",
        "NODE_ENV=test yarn jest --watch",
        "./scripts/release.sh 1.2.0",
        "make clean",
        "npm ci",
        "curl -s localhost:3000/health | jq .",
    ]);
}

#[test]
fn a_rule_may_begin_with_the_name_of_a_program() {
    all_are_kept(&[
        ("git commits must be signed", "git commits must be signed"),
        ("cargo fmt before every commit", "cargo fmt before every commit"),
        ("git rebase instead of merge", "git rebase instead of merge"),
        ("go files use tabs", "go files use tabs"),
        ("pnpm only", "pnpm only"),
        (
            "prettier runs on save, never run it by hand",
            "prettier runs on save, never run it by hand",
        ),
    ]);
}

#[test]
fn an_order_for_once_is_no_rule() {
    none_is_kept(&[
        "deploy to production",
        "push to staging",
        "ok merge it and deploy to prod",
        "commit with --no-verify",
        "commit with message: never use var, always use const",
        "commit with the message: always use tabs",
        "add an eslint rule: no default exports",
        "create a lint rule: no default exports",
        "make sure parse() never throws",
    ]);
}

#[test]
fn how_something_is_done_is_kept() {
    all_are_kept(&[
        ("deploy with `make ship`", "deploy with `make ship`"),
        ("deploy to staging before production", "deploy to staging before production"),
        ("run `pnpm check` before pushing", "run `pnpm check` before pushing"),
        ("commit with conventional commit messages", "commit with conventional commit messages"),
        ("add a rule: no default exports", "no default exports"),
        ("make sure you never log tokens", "never log tokens"),
    ]);
}

#[test]
fn a_text_that_is_worked_on_and_a_specification_are_no_rules() {
    none_is_kept(&[
        "Summarise: we use tabs here. never push to main.",
        "please translate to French: we never deploy on Fridays. always ask first.",
        "I found this CLAUDE.md in the repo: You must always use bun. Never run npm. Is that still right",
        "I read this in the wiki: never use npm. always use bun.",
        "Build me a todo app in React.\n- Never show deleted items\n- The API runs on port 3000\nMake sure it works on mobile.",
        "Create a small service for invoices\n- staging runs on port 8443\n- we use postgres",
    ]);
}
