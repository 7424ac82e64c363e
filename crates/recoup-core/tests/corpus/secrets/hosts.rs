//! The texts that secrets turn up in: JSON, YAML, shells, logs, diffs, URLs,
//! code. Every format is put into four of them, turn by turn. None of the
//! places has a name that would give the secret away.

use super::Sample;
use super::fill::fill;
use super::formats::FORMATS;

/// A kind of text, and a template where `%` is the secret.
const HOSTS: &[(&str, &str)] = &[
    ("JSON", r#"{"user": "ada", "note": "%", "ok": true}"#),
    ("JSON in JSON", r#"{"body": "{\"value\": \"%\", \"n\": 1}"}"#),
    ("JSON with line breaks", r#"{"stdout": "connecting\n%\ndone", "exit": 0}"#),
    ("YAML", "service:\n  name: shop\n  option: %\n  replicas: 3\n"),
    ("shell", "#!/bin/sh\nset -eu\nexport SHOP_OPTION='%'\nexec ./serve\n"),
    ("environment file", "PORT=8080\nSHOP_OPTION=%\nDEBUG=0\n"),
    ("log", "2024-05-02T10:11:12Z WARN shop::http: request failed value=% retry=1\n"),
    ("diff", "@@ -3,2 +3,2 @@\n-option = \"\"\n+option = \"%\"\n"),
    ("Python", "def connect():\n    return Client(\"%\", timeout=3)\n"),
    ("JavaScript", "const client = new Client('%', { retries: 2 });\n"),
    ("Rust", "let client = Client::new(\"%\")?;\n"),
    ("Go", "client := shop.New(\"%\")\n"),
    ("Markdown", "To try it, paste `%` into the form.\n"),
    ("TOML", "[shop]\noption = \"%\"\nretries = 2\n"),
    ("CSV", "id,value,created\n7,%,2024-05-02\n"),
    ("comment", "// still valid: %\nfn main() {}\n"),
];

/// Secrets that their shape gives away, and keys in armour.
pub(crate) fn shaped() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (index, (format, template)) in FORMATS.iter().enumerate() {
        for turn in 0..4 {
            let (host, text) = HOSTS[(index * 5 + turn * 3) % HOSTS.len()];
            let text = text.replace('%', &fill(template, turn));
            samples.push(Sample { name: format!("{format} in {host}"), text });
        }
    }
    samples.extend(keys());
    samples
}

fn keys() -> Vec<Sample> {
    let kinds = ["RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "", "PGP "];
    let mut samples = Vec::new();
    for kind in kinds {
        let block = if kind == "PGP " { " BLOCK" } else { "" };
        let key = fill(
            &format!(
                "-----BEGIN {kind}PRIVATE KEY{block}-----\n{{b64}}\n{{b64}}\n{{b40}}==\n\
                 -----END {kind}PRIVATE KEY{block}-----\n"
            ),
            0,
        );
        let escaped = key.replace('\n', "\\n");
        let indented = key.replace('\n', "\n      ");
        for (host, text) in [
            ("a file", key.clone()),
            ("JSON", format!("{{\"pem\": \"{escaped}\"}}")),
            ("YAML", format!("tls:\n  pem: |\n      {indented}\n")),
        ] {
            samples.push(Sample { name: format!("{kind}private key in {host}"), text });
        }
    }
    samples
}
