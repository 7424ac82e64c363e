//! What is a secret and what is not: the table's own proofs, the lists of the
//! contract, and the rates on the corpus.

#[path = "../corpus/secrets/mod.rs"]
pub(crate) mod corpus;

mod hostile;
mod plain;
mod redact;

use recoup_core::secrets::{SecretRule, all_rules, scan, scan_all};

use corpus::fill::fill;
use corpus::labelled::{self, LabelledReport};
use corpus::rates::{self, LEAST_REFUSED, MOST_REFUSED};

#[test]
fn every_rule_finds_its_proof_and_leaves_the_other_text_alone() {
    for rule in all_rules() {
        let secret = fill(rule.secret(), 0);
        let found = scan_all(secret.as_bytes()).any(|finding| finding.rule == rule.name());
        assert!(found, "{} does not find {secret}", rule.name());
        let harmless = fill(rule.harmless(), 0);
        assert_eq!(scan(harmless.as_bytes()), None, "{}: {harmless}", rule.name());
    }
}

#[test]
fn rules_have_names_of_their_own() {
    let mut names: Vec<_> = all_rules().map(SecretRule::name).collect();
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
        "password: 'hunter'", "DB_PASSWORD=correcthorse", "passwd: abc",
        r#"{"secret":"topsecret"}"#, r#"{"password": 123456}"#, "{password: hunter2, user: bob}",
        "password : secret123", "PGPASSWORD=foo psql", "X-API-Key: abcdef12345",
        "$env:PASSWORD = 'hunter2'", "let password: &str = \"hunter2\";",
        r#"<input name="password" value="hunter2">"#, "https://user:pa$$w0rd@host/",
        "Authorization: Bearer abc123def456",
    ];
    for text in texts {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
}

#[test]
fn code_that_handles_credentials_is_left_alone() {
    let texts = [
        "secret = base64.b64decode(s)", "password: Annotated[str, Form()]", "secret: Uint8Array",
        "password=`cat file`", "\"secret\": secretValue", "password = pw",
        "password: user.password,", "token: Token::Ident", "apiKey: import.meta.env.VITE_KEY",
        "password = request.form['password']", "The password=value syntax is deprecated",
        "private_key: Ed25519PrivateKey", "password=$(openssl rand -hex 16)",
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
fn the_texts_of_the_working_half_are_judged_as_they_are_labelled() {
    let report = LabelledReport::of(&labelled::working());
    let (secrets, clean) = (report.total(true), report.total(false));
    assert!(secrets.texts >= 250 && clean.texts >= 250, "{report:#?}");
    assert!(secrets.share() >= 0.98 && clean.share() >= 0.99, "{:#?}", report.wrong);
}

#[test]
fn what_the_original_refuses_is_refused() {
    assert!(scan(br#"{"secret": "mypassword"}"#).is_some());
}

#[test]
fn errors_and_code_about_passwords_are_left_alone() {
    for text in [
        "invalid password for user bob",
        "fn verify_password(hash: &str",
        "ERROR 1045: Access denied for user 'root'@'localhost' (using password: YES)",
        "password authentication failed for user \"app\"",
        "The token is expired.",
        "docker run -u 1000 -p 8080:80 nginx",
        "mysql -u root -p shop",
        "curl -u \"$USER:$PASS\" https://x",
        "password: \"Mot de passe\"",
        "The key is to keep it simple.",
        "linux / macOS14",
        "\"auth-token\": \"^6.0.0\"",
    ] {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn secrets_behind_base64_are_found_and_redacted_whole() {
    // postgres://app:s3cretPw9@db/shop
    let encoded = "cG9zdGdyZXM6Ly9hcHA6czNjcmV0UHc5QGRiL3Nob3A=";
    let text = format!("data:\n  uri: {encoded}\n  user: YXBw\n");
    let found = scan(text.as_bytes()).expect("an encoded password");
    assert_eq!(&text[found.range], encoded);
    assert!(!recoup_core::secrets::redact(&text).contains("cG9zdGdyZXM6"));
    // The quick brown fox jumps over the lazy dog
    assert_eq!(scan(b"data: VGhlIHF1aWNrIGJyb3duIGZveCBqdW1wcyBvdmVyIHRoZSBsYXp5IGRvZw=="), None);
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

#[test]
fn passwords_in_less_common_commands_are_found() {
    for text in [
        "docker login r.io --password-stdin <<< Hunter22x",
        "docker login r.io --password-stdin <<<'Hunter 22x'",
        "cryptsetup open /dev/sda2 root <<< \"wobbly table\"",
        "deploy --key=Hunter22x",
        "deploy --key=9f8b7c6d5e4f3a2b1c0d",
        "curl -uadmin:hunter2222 https://host/",
        "http -a admin:Hunter22x https://host/",
        "xh -a admin:Hunter22x https://host/",
        "net user ada Hunter22x /add",
        "vault kv put kv/shop dsn=Hunter22x",
        "git config --global svn.password Hunter22x",
        "keytool -list -keystore k.jks -storepass changeit99",
        "_auth = YWRhOkh1bnRlcjIyeA==",
    ] {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
    for text in [
        "docker login r.io --password-stdin <<< \"$PW\"",
        "sort --key=2,2 names.txt",
        "actions-cache --key=linux-node-18",
        "curl -uadmin https://host/",
        "http -a admin https://host/",
        "net user growth slowed in the second quarter",
        "git config credential.helper store",
        "keytool -list -keystore k.jks -storepass changeit",
        "_auth = true",
    ] {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn a_token_at_the_end_of_its_line_is_found() {
    for text in [
        "remember the API token for staging: 9f8b7c6d5e4f3a2b",
        "the API key for staging: 9f8b7c6d5e4f3a2b",
    ] {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
    for text in [
        "the host key of the server: 9f8b7c6d5e4f3a2b",
        "the token for staging: see the vault",
        "the token limit of the model: 128000",
    ] {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn what_is_said_about_keys_and_passwords_is_left_alone() {
    for text in [
        "Enter password for key '/home/ada/.ssh/id_rsa':",
        "docker build --secret id=npm,src=.npmrc .",
        "docker build --secret type=env,id=NPM_TOKEN2 .",
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "the cache key is 7khwnwww",
        "the cache key is 9f8b7c6d5e4f3a2b1c0d",
        "our partition key is tenant4region7x",
        "the password is base64-encoded",
        "Password is PBKDF2-hashed",
        "rename password to passphrase2",
        "export OPENAI_API_KEY=sk-...",
    ] {
        assert_eq!(scan(text.as_bytes()), None, "{text}");
    }
    for text in [
        "CREATE USER shop IDENTIFIED BY 'hunter/22'", "deploy --secret Hunter22x",
        "the api key is 9f8b7c6d5e4f3a2b1c0d", "the password is base64-Otter9x",
        "the admin password is password1",
    ] {
        assert!(scan(text.as_bytes()).is_some(), "{text}");
    }
}
