//! A password that is a word is known by what is said of it.

use super::{PromptReading, RefusalReason, all_are_kept, read};
use recoup_core::memory::guard::refusal::statement_refusal;

#[test]
fn nothing_of_a_prompt_that_tells_a_password_is_kept() {
    for prompt in [
        "the admin password is letmein", "the wifi password is swordfish",
        "the password for the demo account is demo", "the keyboard password is just qwerty, btw",
        "das Passwort für staging ist sommer", "le mot de passe est soleil",
        "la contraseña es verano", "a senha do banco é abacaxi", "la password di staging è pesca",
        "密码是太阳花", "パスワードはさくらです", "always log in with admin / Tr0ub4dor&3",
        "log in as admin with password secret", "use password 'postgres' for the local db",
        "login: admin, password: admin", "the door code is 4711, remember that",
        "the alarm code is 0815", "admin/admin works on staging",
    ] {
        let PromptReading { statements, refused, .. } = read(prompt);
        assert!(statements.is_empty(), "{prompt:?}");
        assert!(matches!(refused, Some(RefusalReason::Secret(_))), "{prompt:?}: {refused:?}");
        assert!(matches!(statement_refusal(prompt), Some(RefusalReason::Secret(_))), "{prompt:?}");
    }
}

#[test]
fn where_a_password_is_and_how_it_is_treated_is_no_secret() {
    all_are_kept(&[
        ("passwords are hashed with bcrypt", "passwords are hashed with bcrypt"),
        ("the password field is required", "the password field is required"),
        ("never store the password in plain text", "never store the password in plain text"),
        ("the api token is in 1password", "the api token is in 1password"),
        ("we log in with GitHub / Google", "we log in with GitHub / Google"),
        ("le mot de passe est dans le coffre", "le mot de passe est dans le coffre"),
        ("密码存在环境变量里", "密码存在环境变量里"),
        ("pin versions in package.json", "pin versions in package.json"),
    ]);
    for statement in [
        "the password must have at least 12 characters",
        "the password is read from DB_PASSWORD",
        "the password is in the vault",
        "use password hashing for users",
        "das Passwort liegt im Vault",
        "パスワードは環境変数に入れてください",
        "the exit code is 1",
        "`mysql -u root` fails with Access denied for user 'root'@'localhost' (using password: YES)",
        "`sudo make install` fails with sudo: a password is required",
        "`psql` fails with FATAL: password authentication failed for user \"app\"",
    ] {
        assert_eq!(statement_refusal(statement), None, "{statement:?}");
    }
}
