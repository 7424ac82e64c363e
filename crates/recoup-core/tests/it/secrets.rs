//! What is a secret and what is not: the table's own proofs, the lists of the
//! contract, and the rates on the corpus.

#[path = "../corpus/secrets/mod.rs"]
pub(crate) mod corpus;

mod hostile;
mod plain;
mod redact;

use recoup_core::secrets::{Rule, rules, scan, scan_all};

use corpus::fill::fill;
use corpus::rates::{self, LEAST_REFUSED, MOST_REFUSED};

#[test]
fn every_rule_finds_its_proof_and_leaves_the_other_text_alone() {
    for rule in rules() {
        let secret = fill(rule.secret(), 0);
        let found = scan_all(secret.as_bytes()).any(|finding| finding.rule == rule.name());
        assert!(found, "{} does not find {secret}", rule.name());
        let harmless = fill(rule.harmless(), 0);
        assert_eq!(scan(harmless.as_bytes()), None, "{}: {harmless}", rule.name());
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<_> = rules().map(Rule::name).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
}

#[test]
fn what_the_contract_refuses_is_found() {
    let texts = [
        "PRIVATE.KEY",
        "-----BEGIN PRIVATE KEY-----",
        "BEGIN RSA",
        "BEGIN EC PRIVATE",
        "password=secret123",
        "secret=secret123",
        "api_key=secret123",
        "apikey=secret123",
        "access_token=secret123",
        "bearer=secret123",
        r#"{"password": "secret123"}"#,
        r#"{"secret": "secret123"}"#,
        r#"{"api_key": "secret123"}"#,
        r#"{"apikey":"secret123"}"#,
        r#"{"access_token":"secret123"}"#,
        r#"{"bearer": "secret123"}"#,
        r#"{"secret_key": "abc"}"#,
        "PASSWORD: secret123",
        "secret_key = 'abc'",
        r#"{"note": "{\"password\": \"secret123\"}"}"#,
    ];
    for text in texts {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn what_the_contract_allows_is_left_alone() {
    let texts = [
        r#""src/password_reset.ts","line":4"#,
        r#"{"secret_scanning": true}"#,
        r#"{"kind": "Secret", "apiVersion": "v1"}"#,
        r#"{"no_secret": false}"#,
        r#"{"comment": "Secret handling: see crypto.ts"}"#,
        "password = get_password()",
        "password: password",
        "password: String",
        r#"api_key=os.environ["KEY"]"#,
        "secret: process.env.X",
        "api_key: <your-api-key>",
        "API_KEY=YOUR_API_KEY",
        r#"{"password": "changeme"}"#,
        "password=xxxx",
        "password: ...",
        "password=********",
        "password=${VAR}",
        "password: {{ var }}",
        "password=%s",
        "password: null",
        "token = None",
        r#"{"password": ""}"#,
        "postgres://user:password@localhost/db",
    ];
    for text in texts {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn weak_values_and_odd_notations_are_found() {
    let texts = [
        "password: 'hunter'",
        "DB_PASSWORD=correcthorse",
        "passwd: abc",
        r#"{"secret":"topsecret"}"#,
        r#"{"password": 123456}"#,
        "{password: hunter2, user: bob}",
        "password : secret123",
        "PGPASSWORD=foo psql",
        "X-API-Key: abcdef12345",
        "$env:PASSWORD = 'hunter2'",
        "let password: &str = \"hunter2\";",
        r#"<input name="password" value="hunter2">"#,
        "https://user:pa$$w0rd@host/",
        "Authorization: Bearer abc123def456",
    ];
    for text in texts {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn code_that_handles_credentials_is_left_alone() {
    let texts = [
        "secret = base64.b64decode(s)",
        "password: Annotated[str, Form()]",
        "secret: Uint8Array",
        "password=`cat file`",
        "\"secret\": secretValue",
        "password = pw",
        "password: user.password,",
        "token: Token::Ident",
        "apiKey: import.meta.env.VITE_KEY",
        "password = request.form['password']",
        "The password=value syntax is deprecated",
        "private_key: Ed25519PrivateKey",
        "password=$(openssl rand -hex 16)",
    ];
    for text in texts {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn nearly_all_secrets_of_the_corpus_are_refused() {
    let rate = rates::of_secrets(&corpus::secrets());
    assert!(rate.texts >= 300, "{}", rate.texts);
    assert!(rate.share() >= LEAST_REFUSED, "missed: {:#?}", rate.wrong);
}

#[test]
fn hardly_any_clean_text_of_the_corpus_is_refused() {
    let rate = rates::of_clean(&corpus::clean());
    assert!(rate.texts >= 1000, "{}", rate.texts);
    assert!(rate.share() <= MOST_REFUSED, "refused: {:#?}", rate.wrong);
}

#[test]
fn a_literal_is_seen_at_every_offset_and_in_either_case() {
    let token = fill("ghp_{a36}", 0);
    for offset in 0..9 {
        let text = format!("{}{token}", " ".repeat(offset));
        assert_eq!(scan(text.as_bytes()).map(|found| found.range.start), Some(offset));
    }
    for name in ["password", "PASSWORD", "Password", "dbPassword", "DB_PASSWORD"] {
        assert!(scan(format!("{name}=hunter2").as_bytes()).is_some(), "{name}");
    }
}

#[test]
fn a_finding_is_exactly_the_secret() {
    for (text, secret) in [
        (r#"{"password": "hunter2", "n": 1}"#, "hunter2"),
        ("PASSWORD=hunter2 # mine", "hunter2"),
        ("redis://:hunter2@cache:6379", "hunter2"),
        ("Server=db;Password=hunter2;Timeout=3", "hunter2"),
        (r#"{"in": "{\"secret\": \"hunter2\"}"}"#, "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
    ] {
        let range = scan(text.as_bytes()).unwrap_or_else(|| panic!("{text}")).range;
        assert_eq!(&text[range], secret, "{text}");
    }
}

#[test]
fn a_finding_never_shows_the_secret() {
    for sample in corpus::secrets() {
        for finding in scan_all(sample.text.as_bytes()) {
            let secret = &sample.text[finding.range.clone()];
            let shown = format!("{finding:?}");
            assert!(secret.len() < 6 || !shown.contains(secret), "{}: {shown}", sample.name);
        }
        let shown = format!("{:?}", scan_all(sample.text.as_bytes()));
        assert!(!shown.contains("secret123"), "{shown}");
    }
}
