//! What must not be kept, and is not; and what only looks like it. The secrets
//! are put together here, so that no scanner takes this file for a leak.

use std::fs;

use crate::support::{Home, finish};

fn github() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
}

fn assert_refused(home: &Home, args: &[&str], secret: &str) {
    let output = home.cache(&[&["set", "--key", "k"][..], args].concat()).expect(1);
    let told = &output.stderr;
    assert!(told.contains("Secret patterns detected in content - refusing to cache ("), "{told}");
    assert!(!told.contains(secret), "{told}");
    home.get("k").expect_hit("[0]");
}

fn scene() -> Home {
    let home = Home::new();
    home.set("k", "[0]");
    home
}

#[test]
fn results_with_secrets_are_refused_and_what_was_there_stays() {
    let home = scene();
    let github = github();
    let bodies = [
        (r#"{"password": "secret123"}"#.to_owned(), "secret123"),
        (r#"{"secret_key": "abcd1234efgh"}"#.to_owned(), "abcd1234efgh"),
        (format!(r#"{{"log": "token {github}"}}"#), github.as_str()),
        (format!(r#""{}""#, ["AKIA", "IOSFODNN7EXAMPL2"].concat()), "IOSFODNN7"),
        (r#"{"db": "postgres://app:hunter22x@db.example.com/app"}"#.to_owned(), "hunter22x"),
        (format!(r#""-----BEGIN {} KEY-----\nMIIEow\n""#, "RSA PRIVATE"), "MIIEow"),
    ];
    for (body, secret) in &bodies {
        assert_refused(&home, &["--condensed", body], secret);
    }
}

#[test]
fn what_only_mentions_secrets_is_kept() {
    let home = Home::new();
    for body in [
        r#"["src/password_reset.ts","line",4]"#,
        r#"{"file":"src/password_reset.ts","line":4}"#,
        r#"{"secret_scanning": true}"#,
        r#"{"kind": "Secret", "apiVersion": "v1"}"#,
        r#"{"no_secret": false}"#,
        r#"{"comment": "Secret handling: see crypto.ts"}"#,
    ] {
        home.set("k", body);
        home.get("k").expect_hit(body);
    }
}

#[test]
fn full_results_tags_and_notes_are_scanned_too() {
    let home = scene();
    let github = github();
    home.write("full.txt", format!("export TOKEN={github}\n"));
    assert_refused(&home, &["--condensed", "1", "--full", "full.txt"], &github);
    assert_refused(&home, &["--condensed", "1", "--tag", &github], &github);
    let args = ["cache", "set", "--key", "k", "--condensed", "1", "--synthesize", &github];
    let output = finish(home.command(&args).env("RECOUP_CACHE_NOTES", "NOTES.md")).expect(1);
    assert!(output.stderr.contains("refusing to cache"), "{}", output.stderr);
    assert!(!output.stderr.contains(&github));
    assert!(!home.project().join("NOTES.md").exists());
    home.get("k").expect_hit("[0]");
}

#[test]
fn a_secret_in_a_question_reaches_neither_the_store_nor_a_listing() {
    // Also those that are known by their capitals, which a question's key has not.
    let aws = ["ASIA", "IOSFODNN7EXAMPLQ"].concat();
    let google = ["AIza", "SyD9tBq3vKx7LmN2pRw5zHc8JfGu4YeTs1Q"].concat();
    for secret in [github(), aws, google] {
        let home = Home::new();
        let query = format!("look at {secret}");
        let asked = ["--paths", "a", "--query", &query, "--operation", "op"];
        home.cache(&[&["set", "--condensed", "1"][..], &asked].concat()).expect(0);
        home.cache(&[&["get"][..], &asked].concat()).expect_hit("1");
        let listed = home.cache(&["ls"]).expect(0);
        assert!(listed.text().contains("look at [redacted: "), "{}", listed.text());
        for file in ["cache.db", "cache.db-wal"] {
            let bytes = fs::read(home.recoup().join(file)).unwrap().to_ascii_lowercase();
            let needle = secret.to_ascii_lowercase();
            assert!(!bytes.windows(needle.len()).any(|window| window == needle.as_bytes()));
        }
    }
}
