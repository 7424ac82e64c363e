//! Secrets of no particular provider: private keys, names with values, addresses with passwords, web
//! tokens, headers, statements.

use crate::secrets::rules::SecretRule;
use crate::secrets::slot::SlotPlace::{Argument, Flag};
use crate::secrets::slot::{self, CredentialSlot as Slot};
use crate::secrets::{assignment, encoded, http};

/// Private keys, in the armours and formats in which they are kept in files.
pub(super) const KEY_RULES: &[SecretRule] = &[
    SecretRule::code(
        "private-key",
        &["-----begin "],
        encoded::find_private_key,
        [
            "-----BEGIN OPENSSH PRIVATE KEY-----\n{b64}\n{b64}\n-----END OPENSSH PRIVATE KEY-----",
            "-----BEGIN CERTIFICATE-----\n{b64}\n-----END CERTIFICATE-----",
        ],
    ),
    SecretRule::code(
        "private-key-part",
        &["private key", "private.key", "begin rsa", "begin ec private"],
        encoded::find_words,
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

/// Secrets of no particular provider: names with values, addresses with passwords, web tokens,
/// headers, statements.
pub(super) const GENERIC_RULES: &[SecretRule] = &[
    SecretRule::code(
        "credential",
        &[
            "pass", "secret", "pwd=", "pwd:", "pwd\"", "pwd'", "pwd\\", "pwd ", "apikey",
            "api_key", "api-key", "api.key", "private_key", "privatekey", "private-key",
            "access_key", "accesskey", "access-key", "account_key", "accountkey", "shared_key",
            "sharedkey", "signing_key", "signingkey", "signing-key", "encryption_key",
            "encryptionkey", "encryption-key", "master_key", "masterkey", "auth_key", "authkey",
            "token", "bearer=", "bearer:", "bearer\"", "bearer'", "bearer =", "bearer\\",
            "credential", "_key", "-key", "key:", "key=", "key\"", "key'", "key =", "pw=", "pw:",
            "psk=", "psk:", "psk\"", "psk =", "nnwort", "seña", "senha", "masterauth", "_auth",
        ],
        assignment::find_assigned,
        [r#"{"password": "tr{a4}9"}"#, r#"{"password_reset": "src/reset.ts"}"#],
    ),
    SecretRule::code(
        "url-password",
        &["://"],
        http::find_url_password,
        ["postgres://app:{a16}@db.internal:5432/app", "postgres://user:password@localhost/app"],
    ),
    SecretRule::code(
        "jwt",
        &[
            "eyjh", "eyj0", "eyjr", "eyjl", "eyjj", "eyjq", "eyj4", "eyj6", "eyjp", "eyj1", "eyju",
            "eyji", "eyjw", "eyai", "ewog", "ew0k",
        ],
        encoded::find_jwt,
        ["eyJhbGciOiJIUzI1NiJ9.eyJ{w40}.{w43}", "eyJhbGciOiJIUzI1NiJ9"],
    ),
    SecretRule::code(
        "bearer-token",
        &["bearer "],
        http::find_bearer,
        ["Authorization: Bearer {a24}", "Authorization: Bearer $TOKEN"],
    ),
    SecretRule::code(
        "basic-credentials",
        &["basic "],
        http::find_basic,
        ["Authorization: Basic YWRtaW46aHVudGVyMg==", "Basic authentication is disabled"],
    ),
    SecretRule::pattern(
        "sql-password",
        &["identified by ", "with password ", "password for "],
        r#"(?i)(?:identified by|with(?: encrypted)? password|password for \S{1,64}) ?=? ?\\?['"]([^'"\\\[/~][^'"\\\[]{2,199})"#,
        ["CREATE USER shop IDENTIFIED BY '{a12}'", "IDENTIFIED BY ''"],
    ),
    SecretRule::code(
        "authorization-header",
        &["authorization"],
        http::find_header,
        ["Authorization: Token {h40}", "Authorization: Token <token>"],
    ),
    SecretRule::code(
        "session-cookie",
        &["cookie", " -b "],
        http::find_cookie,
        ["Set-Cookie: sid={a24}; Path=/", "Set-Cookie: theme=dark; Path=/"],
    ),
    SecretRule::code(
        "login-call",
        &[
            "ogin(", "nnect(", "authenticate(", "basicauth(", "credentials(", "credential(",
            "nnection(", "basic_auth(", "passwordauthentication(", "authorize(", ".auth(",
            "auth=(",
        ],
        assignment::find_login,
        ["ftp.login(\"ada\", \"Tr0ub{a6}3x\")", "ftp.login(\"user\", \"password\")"],
    ),
    SecretRule::code(
        "data-source-password",
        &["@tcp(", "@unix("],
        assignment::find_data_source,
        [
            "sql.Open(\"mysql\", \"svc:{a12}@tcp(10.1.0.6:3306)/shop\")",
            "user:$PW@tcp(db:3306)/shop",
        ],
    ),
    SecretRule::code(
        "service-key",
        super::super::words::VENDORS,
        assignment::find_vendor,
        ["algolia admin key {h32}", "algolia indexes 32 records"],
    ),
    SecretRule::code(
        "netrc-password",
        &["password ", "password\t"],
        slot::find_netrc,
        ["machine api.host login ada password {l8}", "machine api.host login ada password $PW"],
    ),
    SecretRule::inner(
        "pgpass-password",
        &[":5432:", ":5433:", ":5434:", ":6432:", ":*:"],
        (r"[\w.-]{0,64}:(?:[0-9]{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}:([^\s:\[<$]{3,120})", 64),
        ["db.lan:5432:shop:ada:{l8}", "db.lan:5432:*:*"],
    ),
    SecretRule::inner(
        "mail-relay-password",
        &["]:587 ", "]:465 ", "]:25 ", "]:2525 "],
        (r"\]:[0-9]{2,5}\s+[^\s:]{1,120}:([^\s\[<$]{3,120})", 0),
        ["[smtp.host]:587 ada@host:{l8}", "[smtp.host]:587 refused"],
    ),
    SecretRule::inner(
        "directive-password",
        &["pass ", "auth "],
        (r#"(?:requirepass|masterauth)[ \t]+["']?([^\s"'<$\[\]{(#]{4,128})"#, 7),
        ["requirepass {l8}\nmaxmemory 2gb", "# requirepass ''"],
    ),
    SecretRule::pattern(
        "network-password",
        &[
            "password 0 ", "password 7 ", "secret 5 ", "secret 0 ", "secret 9 ", "enable secret ",
            "enable password ", "snmp-server community ", "key-string ", "rocommunity ",
            "rwcommunity ", "wpa-psk ", "tacacs-server key ", "radius-server key ",
        ],
        r#"(?:password [07]|secret [0589]|enable (?:secret|password)|snmp-server community|key-string|r[ow]community|wpa-psk|(?:tacacs|radius)-server key)[ \t]+(?:[0-9] )?["']?([^\s"'<$\[\]{(#]{4,128})"#,
        ["ppp chap password 0 {l8}", "enable secret <secret>"],
    ),
    SecretRule::inner(
        "azure-filesystem-key",
        &[".account.key."],
        (r"\.account\.key\.\S{1,120}[ =:]+\s*([A-Za-z0-9+/]{40,90}={0,2})", 0),
        [
            "fs.azure.account.key.lake.dfs.core.windows.net {b86}==",
            "fs.azure.account.key.lake {{key}}",
        ],
    ),
    SecretRule::pattern(
        "oracle-url-password",
        &["jdbc:oracle:"],
        r"jdbc:oracle:(?:thin|oci8?):[\w$#]{1,64}/([^@\s\[<$]{3,120})@",
        ["jdbc:oracle:thin:hr/{l8}@ora3:1521/HR", "jdbc:oracle:thin:@ora3:1521/HR"],
    ),
    SecretRule::pattern(
        "signed-url",
        &["x-amz-signature=", "x-goog-signature="],
        r"(?i)x-(?:amz|goog)-signature=([0-9a-f]{40,600})",
        ["https://b.s3.amazonaws.com/f?X-Amz-Signature={h64}", "X-Amz-Signature=abc"],
    ),
    SecretRule::pattern(
        "wireless-key",
        &["key content"],
        r"(?i)key content\s*:\s*([^\s\[<$]{4,128})",
        ["    Key Content            : {l8}", "Key Content: <key>"],
    ),
    SecretRule::slots(
        "secure-string",
        &["-securestring"],
        &[Slot::whole(Argument(0)), Slot::whole(Flag(&["-String"]))],
        ["ConvertTo-SecureString \"{l8}\" -AsPlainText", "ConvertTo-SecureString $pw -AsPlainText"],
    ),
];
