//! The table of rules, one file per family. The order within a family does not matter: a rule is
//! tried where one of its literals occurs.

mod chat;
mod cloud;
mod commands;
mod forge;
mod generic;
mod hosting;
mod keys;
mod models;
mod payment;
mod prose;
mod registry;
mod service;
mod telemetry;

use super::rule::SecretRule;

/// All families. The pre-filter makes its tables from them at compile time.
pub(super) const FAMILIES: [&[SecretRule]; 13] = [
    keys::RULES,
    cloud::RULES,
    hosting::RULES,
    forge::RULES,
    chat::RULES,
    payment::RULES,
    registry::RULES,
    models::RULES,
    telemetry::RULES,
    service::RULES,
    generic::RULES,
    commands::RULES,
    prose::RULES,
];

/// Number of rules.
pub(super) const COUNT: usize = {
    let (mut total, mut family) = (0, 0);
    while family < FAMILIES.len() {
        total += FAMILIES[family].len();
        family += 1;
    }
    total
};

static BY_NUMBER: [&SecretRule; COUNT] = {
    let mut all = [&FAMILIES[0][0]; COUNT];
    let (mut number, mut family) = (0, 0);
    while family < FAMILIES.len() {
        let mut rule = 0;
        while rule < FAMILIES[family].len() {
            all[number] = &FAMILIES[family][rule];
            number += 1;
            rule += 1;
        }
        family += 1;
    }
    all
};

/// All rules, with their proofs.
pub fn all_rules() -> impl Iterator<Item = &'static SecretRule> {
    BY_NUMBER.iter().copied()
}

/// The rule with the number that the pre-filter gives.
pub(super) fn rule_by_number(number: usize) -> &'static SecretRule {
    BY_NUMBER[number]
}
