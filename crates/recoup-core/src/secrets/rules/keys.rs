//! Private keys, in the armours and formats in which they are kept in files.

use crate::secrets::pem;
use crate::secrets::rule::SecretRule;

pub(super) const RULES: &[SecretRule] = &[
    SecretRule::code(
        "private-key",
        &["-----begin "],
        pem::find_private_key,
        [
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{b64}\n{b64}\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\n{b64}\n-----END CERTIFICATE-----",
        ],
    ),
    SecretRule::code(
        "private-key-part",
        &["private key", "private.key", "begin rsa", "begin ec private"],
        pem::find_words,
        ["END EC PRIVATE KEY", "Keep the private key where only root can read it."],
    ),
    SecretRule::pattern(
        "putty-private-key",
        &["putty-user-key-file-"],
        r"PuTTY-User-Key-File-[123]: [a-z0-9-]+(?s:.{0,900})Private-Lines: [0-9]+",
        [
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{b48}",
            "PuTTY-User-Key-File-3 is the format's first line.",
        ],
    ),
    SecretRule::pattern(
        "age-secret-key",
        &["age-secret-key-1"],
        r"AGE-SECRET-KEY-1[0-9A-Z]{50,60}",
        ["AGE-SECRET-KEY-1{u58}", "AGE-SECRET-KEY-1..."],
    ),
    SecretRule::pattern(
        "age-plugin-key",
        &["age-plugin-"],
        r"AGE-PLUGIN-[A-Z0-9]{2,20}-1[0-9A-Z]{40,200}",
        ["AGE-PLUGIN-YUBIKEY-1{u58}", "age-plugin-yubikey --generate"],
    ),
];
