//! Texts made to be slow. The bounds are far above what is needed, since
//! machines differ; what they catch is work that grows with the square.

use std::time::{Duration, Instant};

use recoup_core::secrets::{redact_bytes, scan_all};

/// A few seconds here are an hour where something is quadratic.
const BOUND: Duration = Duration::from_mins(1);
const SIZE: usize = 1 << 20;

fn repeated(piece: &str) -> Vec<u8> {
    piece.bytes().cycle().take(SIZE).collect()
}

#[test]
fn repeated_literals_are_no_burden() {
    let pieces = [
        "password=", "password=\"", "pass", "secret: ", "\"secret\": \"", "eyJ", " eyJhbGci",
        "eyJhbGciOiJIUzI1NiJ9.", "://", "a://b:c", "a://b:c@", "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----", "ghp_", " sk-", "Bearer ", "curl ", "twilio ", "token\n",
        "\\", "AKIA", "\"\\\"", "mysql -p ", "curl -u ", "echo a | sudo -S ", " -u a -p ",
        "password ", " / ", "admin / ", "密码是", "Cookie: a=b; ", "Authorization: ",
        "seed phrase word ", "login(\"a\", ", "algolia key ", "algolia=", "aGVsbG8gd29ybGQg",
        ":5432:", "@tcp(",
    ];
    for piece in pieces {
        let text = repeated(piece);
        let start = Instant::now();
        let found = scan_all(&text).count();
        let took = start.elapsed();
        assert!(took < BOUND, "{piece:?}: {took:?} for {found} findings");
    }
}

#[test]
fn one_long_line_is_no_burden() {
    for start in [
        "password=", "eyJhbGciOiJIUzI1NiJ9.", "a://b:", "sk-ant-", "Authorization: Bearer ",
        "Authorization: ", "Cookie: a=", "mysql -p", "the password is ", "vtwn_",
    ] {
        let mut text = start.as_bytes().to_vec();
        text.extend(repeated("aB3"));
        let begun = Instant::now();
        let clean = redact_bytes(&text);
        assert!(begun.elapsed() < BOUND, "{start}: {} bytes are left", clean.len());
    }
}

#[test]
fn five_megabytes_of_secrets_are_redacted() {
    let text = b"password=hunter2\n".repeat(5 * SIZE / 17);
    let begun = Instant::now();
    let clean = redact_bytes(&text);
    assert!(begun.elapsed() < BOUND);
    assert!(!clean.windows(7).any(|window| window == b"hunter2"));
}
