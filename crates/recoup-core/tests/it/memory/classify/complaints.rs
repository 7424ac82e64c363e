//! What the agent does is said because it is wrong: kept as a rule it would be the opposite of
//! what is wanted.

use super::{all_are_kept, classify, none_is_kept};

const COMPLAINTS: &[&str] = &[
    "You never run the tests!",
    "you never follow the style guide",
    "ugh, you always rename my variables",
    "no, you never ask before deleting files",
    "and you constantly reformat the whole file",
    "Du liest nie die Doku",
    "Immer löschst du meine Kommentare",
    "Du vergisst ständig die Imports",
    "Tu oublies toujours les imports",
    "Vous ne lancez jamais les tests",
    "Siempre olvidas los imports",
    "Nunca ejecutas las pruebas",
    "Você nunca roda os testes",
    "Non aggiorni mai il changelog",
    "Usi sempre npm",
    "你老是忘记更新文档",
    "你从不看报错",
    "君はいつもテストを忘れる",
];

#[test]
fn what_you_never_or_always_do_is_asked_for_again_and_no_rule() {
    none_is_kept(COMPLAINTS);
    for prompt in COMPLAINTS {
        assert!(classify(prompt).re_ask, "{prompt:?}");
    }
}

#[test]
fn what_you_should_do_or_do_from_now_on_is_a_rule() {
    all_are_kept(&[
        ("you should never edit the vendored code", "never edit the vendored code"),
        ("you must always sign commits", "always sign commits"),
        ("from now on you never force push", "never force push"),
        ("please remember: you never touch vendor/", "never touch vendor/"),
        ("du sollst nie generierte Dateien ändern", "nie generierte Dateien ändern"),
        ("Tu dois toujours lancer les tests", "toujours lancer les tests"),
        ("nunca ejecutes las pruebas en producción", "nunca ejecutes las pruebas en producción"),
        ("non usare mai npm", "non usare mai npm"),
        ("你必须始终使用 TypeScript", "你必须始终使用 TypeScript"),
    ]);
}

#[test]
fn behind_a_complaint_the_rule_is_kept() {
    let reading = classify("you always use npm, use pnpm in this repo");
    assert!(reading.re_ask);
    assert_eq!(reading.sayings[0].text, "use pnpm in this repo");
}

#[test]
fn praise_is_no_complaint() {
    for prompt in ["you never disappoint", "you always do great work"] {
        assert!(!classify(prompt).re_ask, "{prompt:?}");
    }
}
