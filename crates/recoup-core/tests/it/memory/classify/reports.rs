//! What goes wrong, what others do and what is just said has the words of rules.

use super::{all_are_kept, none_is_kept};

#[test]
fn what_always_fails_or_never_works_is_no_rule() {
    none_is_kept(&[
        "Der Server stürzt immer ab",
        "Die Pipeline schlägt immer fehl",
        "Der Login funktioniert nie",
        "Le serveur plante toujours au démarrage",
        "Le build échoue toujours sur Windows",
        "L'API ne répond jamais",
        "El servidor siempre falla al arrancar",
        "Los tests siempre fallan en CI",
        "A página nunca carrega",
        "Il deploy fallisce sempre",
        "サーバーがいつも落ちる",
        "ビルドが毎回失敗する",
        "程序总是崩溃",
        "按钮从来不起作用",
        "接口一直超时",
        "the worker always hangs after an hour",
        "the tests never pass on CI",
    ]);
}

#[test]
fn what_must_fail_or_must_not_is_a_rule() {
    all_are_kept(&[
        ("CI must always fail on warnings", "CI must always fail on warnings"),
        ("always fail fast", "always fail fast"),
        ("tests must never hit the network", "tests must never hit the network"),
    ]);
}

#[test]
fn others_sayings_and_questions_without_a_mark_are_no_rules() {
    none_is_kept(&[
        "He always uses tabs",
        "they never use tabs",
        "er benutzt immer Leerzeichen",
        "Never give up",
        "never gonna give you up",
        "Immer mit der Ruhe",
        "Nunca digas nunca",
        "mai dire mai",
        "Pourquoi tu n'utilises jamais pnpm",
        "Warum schreibst du nie Tests",
        "为什么总是用 npm",
    ]);
}
