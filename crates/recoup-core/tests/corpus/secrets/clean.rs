//! Texts without secrets. Each file in `clean/` holds snippets, begun by a
//! line `%% NAME`; a snippet with places is used several times, with other
//! names, stand-ins, hashes and words in them, so that a rule can't get away
//! with knowing one spelling.

use super::Sample;
use super::fill::{Random, fill};

const FILES: &[(&str, &str)] = &[
    ("code", include_str!("clean/code.txt")),
    ("more code", include_str!("clean/code_more.txt")),
    ("configuration", include_str!("clean/config.txt")),
    ("manifests", include_str!("clean/manifests.txt")),
    ("reports", include_str!("clean/reports.txt")),
    ("prose", include_str!("clean/prose.txt")),
    ("hashes", include_str!("clean/hashes.txt")),
    ("web", include_str!("clean/web.txt")),
    ("logs", include_str!("clean/logs.txt")),
];

/// How often a snippet with places is used.
const TURNS: usize = 6;

/// Places in a snippet, and what may stand there.
const PLACES: &[(&str, &[&str])] = &[
    (
        "@name@",
        &[
            "password", "secret", "api_key", "access_token", "client_secret", "auth_token",
            "passphrase", "private_key", "secret_key", "db_password",
        ],
    ),
    (
        "@Name@",
        &[
            "password", "secret", "apiKey", "accessToken", "clientSecret", "authToken",
            "passphrase", "privateKey", "secretKey", "dbPassword",
        ],
    ),
    (
        "@NAME@",
        &[
            "PASSWORD", "SECRET", "API_KEY", "ACCESS_TOKEN", "CLIENT_SECRET", "AUTH_TOKEN",
            "DB_PASSWORD", "PRIVATE_KEY", "SECRET_KEY", "APIKEY",
        ],
    ),
    ("@word@", &["password", "secret", "token", "key", "credential", "passphrase"]),
    (
        "@hole@",
        &[
            "<your-api-key>", "changeme", "YOUR_API_KEY", "xxxxxxxx", "********", "${SHOP_VALUE}",
            "{{ value }}", "<password>", "...", "REPLACE_ME", "your-secret-here", "[REDACTED]",
            "xxx", "%s",
        ],
    ),
    (
        "@thing@",
        &["order", "invoice", "session", "report", "basket", "worker", "profile", "device"],
    ),
    (
        "@file@",
        &[
            "src/auth/password_reset.ts", "lib/secret_store.py", "app/token_service.rb",
            "internal/apikey/list.go", "crates/auth/src/secret.rs", "docs/api-key.md",
        ],
    ),
];

pub(crate) fn all() -> Vec<Sample> {
    FILES.iter().flat_map(|(file, text)| snippets(file, text)).collect()
}

fn snippets(file: &str, text: &str) -> Vec<Sample> {
    let mut samples = Vec::new();
    for snippet in text.split("%% ").skip(1) {
        let (name, body) = snippet.split_once('\n').expect("a snippet has a name and a body");
        for turn in 0..turns(body) {
            let text = with_places(&fill(body, turn), turn);
            samples.push(Sample { name: format!("{file}: {name} #{turn}"), text });
        }
    }
    samples
}

/// A snippet without places would be the same each time.
fn turns(body: &str) -> usize {
    let places =
        PLACES.iter().any(|(place, _)| body.contains(place)) || fill(body, 0) != fill(body, 1);
    if places { TURNS } else { 1 }
}

fn with_places(body: &str, turn: usize) -> String {
    let mut random = Random::for_text(body, turn);
    let mut text = body.to_owned();
    for (place, choices) in PLACES {
        while text.contains(place) {
            text = text.replacen(place, random.pick(choices), 1);
        }
    }
    text
}
