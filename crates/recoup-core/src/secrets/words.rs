//! The words that decide what a name or a value means, one list for each question, all in lower
//! case. Not formatted by `rustfmt`: one word to a line would be unreadable.

/// Ends of names (without separators) after which any literal is a credential.
#[rustfmt::skip]
pub(super) const SURE: &[&str] = &[
    "password", "passwd", "passphrase", "passwort", "pwd", "secret", "apikey", "secretkey",
    "secretkeybase", "privatekey", "accesskey", "accountkey", "sharedkey", "signingkey",
    "encryptionkey", "masterkey", "authkey", "accesstoken", "authtoken", "refreshtoken",
    "apitoken", "bottoken", "secrettoken", "sessiontoken", "bearertoken", "usertoken",
    "deploytoken", "personaltoken", "githubtoken", "ghtoken", "gitlabtoken", "npmtoken",
    "slacktoken", "servicetoken", "oauthtoken", "bearer", "userpass", "dbpass", "mysqlpass",
    "smtppass", "mailpass", "adminpass", "rootpass", "ftppass", "kennwort", "contrasena", "senha",
    "requirepass", "masterauth", "pswd",
];

/// Ends of names after which a value counts if it looks like a password that somebody chose.
#[rustfmt::skip]
pub(super) const CHOSEN: &[&str] = &[
    "pass", "passcode", "credential", "mdp", "pw", "wifikey", "wpakey", "psk", "presharedkey",
];

/// Ends of names after which a value counts if a generator made it.
#[rustfmt::skip]
pub(super) const GENERATED: &[&str] = &["key", "salt", "signature", "sessionid", "sid", "cookie", "auth", "jwt"];

/// Ends of names after which a value counts only if it looks like a credential.
#[rustfmt::skip]
pub(super) const MAYBE: &[&str] = &[
    "token", "credentials",
];

/// Names that end like a credential's and hold something else.
#[rustfmt::skip]
pub(super) const NEVER: &[&str] = &[
    "pagetoken", "nexttoken", "continuationtoken", "csrftoken", "xsrftoken", "padtoken",
    "synctoken", "cursortoken", "bypass", "compass", "encompass", "trespass", "idempotencytoken",
    "clientrequesttoken", "updatepassword", "resetpassword", "forgotpassword", "showpassword",
    "hidepassword", "requirepassword", "publickey", "pubkey", "primarykey", "foreignkey",
    "partitionkey", "sortkey", "cachekey", "restorekey", "idempotencykey", "hashkey", "objectkey", "sitekey",
    "publishablekey", "routingkey", "dedupkey", "translationkey", "metakey", "querykey",
    "uniquekey", "hostkey", "storagekey", "rowkey", "sitemapkey", "monkey", "hotkey", "turnkey",
    "s3key", "filekey", "messagekey", "devicekey",
];

/// Parts of a cookie's name that stand for a login.
#[rustfmt::skip]
pub(super) const SESSIONS: &[&str] = &[
    "sess", "sid", "auth", "token", "jwt", "remember", "login", "identity", "userid", "access",
];

/// Names of algorithms, formats, types and products that have a number behind them.
#[rustfmt::skip]
pub(super) const NUMBERED: &[&str] = &[
    "sha", "md", "base", "argon", "pbkdf", "bcrypt", "scrypt", "ed", "x", "aes", "rsa", "rs", "hs",
    "es", "ps", "utf", "iso", "oauth", "auth", "http", "ipv", "log", "pkcs", "secp", "p", "int",
    "uint", "float", "u", "i", "f", "h", "mp", "gpt", "ecma", "es", "python", "node", "java", "php",
    "postgres", "postgresql", "mysql", "windows", "ubuntu", "debian", "arm", "amd", "win", "tls",
    "ssl", "web", "gb", "latin", "cp", "crc", "blake", "ripemd", "chacha", "poly", "keccak", "v",
    "step", "phase", "level", "part", "chapter", "test", "user", "step", "version", "issue", "pr",
    "ticket", "rfc", "cve", "line", "totp", "k", "s", "ec", "m", "t", "c", "r", "g", "b", "d", "a",
    "k8s", "db", "srv", "host", "server", "web", "app", "port", "foo", "bar", "password", "secret",
];

/// Services whose keys have no form of their own: only the name nearby identifies them.
#[rustfmt::skip]
pub(super) const VENDORS: &[&str] = &[
    "algolia", "okta_", "okta ", "iscord", "adafruit", "asana", "bitly", "bittrex", "browserstack",
    "udinary", "dropbox", "fastly", "nnhub", "kraken", "kucoin", "lastfm",
    "mailjet", "mixpanel", "nytimes", "opsgenie", "nweathermap", "rapidapi", "rollbar", "ndbird", "snyk",
    "spotify", "squarespace", "sumologic", "trello", "twitch", "twitter", "upstash", "virustotal", "zoho", "twilio",
];

/// Words for credentials.
#[rustfmt::skip]
pub(super) const CREDENTIALS: &[&str] = &[
    "password", "passwords", "passwd", "pass", "pwd", "passphrase", "passwort", "secret",
    "secrets", "token", "tokens", "key", "keys", "apikey", "credential", "credentials", "creds",
    "bearer", "auth", "passwort", "kennwort", "contraseña", "contrasena", "senha", "mdp", "clave",
    "passcode", "pin", "username",
];

/// Words that documentation writes in place of a password.
#[rustfmt::skip]
pub(super) const STAND_INS: &[&str] = &[
    "password", "pass", "passwd", "pwd", "pw", "secret", "token", "mypassword", "pat", "userpass",
    "yourpassword", "password123", "passw0rd", "key", "apikey", "user", "test",
];

/// Passwords that everybody has on a machine of their own, and words that stand in many texts.
#[rustfmt::skip]
pub(super) const DEFAULTS: &[&str] = &[
    "password", "mypassword", "yourpassword", "passphrase", "postgres", "postgresql", "rabbitmq",
    "mongodb", "mariadb", "minioadmin", "minio", "elastic", "elasticsearch", "clickhouse",
    "keycloak", "wordpress", "sonarqube", "grafana", "opensearch", "neo4j", "development",
    "production", "staging", "testing", "localhost", "username", "database", "administrator",
    "anonymous", "superuser", "supersecret", "changeme", "changeit", "example", "examples",
    "insecure", "disabled", "required", "optional", "external", "application", "everyone",
];

/// Values of their own kind in some language or format.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[&str] = &[
    "null", "none", "nil", "undefined", "true", "false", "yes", "no", "off", "n/a", "tbd", "todo",
    "fixme", "unset", "empty", "default", "required", "optional", "redacted", "masked", "hidden",
    "removed", "filtered", "omitted", "string", "str", "text", "bytes", "byte", "char", "varchar",
    "bool", "boolean", "int", "integer", "number", "float", "any", "object", "array", "list",
    "dict", "binary", "buffer", "never", "void", "unknown", "symbol", "uuid", "self", "this",
    "input", "env", "environ", "prompt", "stdin", "inherit", "enabled", "disabled", "auto", "ok",
    "valid", "invalid", "missing", "incorrect", "wrong", "expired", "present", "absent", "set",
    "not", "changeme", "changeit", "replaceme", "placeholder", "async", "await", "new", "return",
    "write-only", "writeonly", "readonly", "generated", "random", "ignored", "warn", "error",
    "header", "cookie", "query", "basic", "bearer", "oauth", "oauth2", "apikey", "sensitive",
    "external", "file", "value", "values", "const", "let", "var", "func", "function", "lambda",
    "confidential", "public", "private", "untyped", "mixed", "type", "field", "opaque",
    "nullable", "ngmodel", "uint8array", "secretstr", "all", "only", "with", "and", "for", "the", "see", "use",
    "from", "must", "should",
];

/// Words that ask to be replaced by something real.
#[rustfmt::skip]
pub(super) const REQUESTS: &[&str] = &[
    "your", "yours", "placeholder", "example", "replace", "insert", "dummy", "changeme",
    "redacted", "todo", "fixme", "xxx", "xxxx", "xxxxx", "xxxxxx", "xxxxxxxx", "sample", "fake",
    "required", "nullable", "goes", "here", "notreal", "mock", "censored", "yourpassword",
    "yoursecret", "yourtoken", "yourapikey",
];

/// Words that hold sentences together, or labels of forms.
#[rustfmt::skip]
pub(super) const GLUE: &[&str] = &[
    "a", "an", "the", "is", "are", "be", "of", "to", "for", "in", "on", "at", "and", "or", "not",
    "no", "your", "you", "this", "that", "with", "must", "should", "can", "was", "has", "if",
    "from", "by", "please", "enter", "new", "old", "confirm", "reset", "forgot", "show",
    "invalid", "required", "it", "as", "we", "do", "will", "does", "see", "use", "too", "than",
    "le", "la", "de", "das", "der", "die", "el", "su", "il", "mot", "log", "sign", "field",
    "characters", "string", "into", "all", "only", "empty", "hardcoded", "unused", "text",
];

/// Beginnings of addresses, paths and references to a vault.
#[rustfmt::skip]
pub(super) const PLACES: &[&str] = &[
    "./", "../", "~/", "http://", "https://", "arn:", "op://", "vault:", "file:", "secret://",
    "ssm:", "projects/", "enc[", "sops:", "sha256:", "keyring:", "env:",
];

/// Ends of file names.
#[rustfmt::skip]
pub(super) const FILES: &[&str] = &[
    ".pem", ".key", ".crt", ".json", ".yaml", ".yml", ".txt", ".env", ".ts", ".js", ".py", ".rs",
    ".go", ".md", ".toml", ".pub", ".php", ".html", ".java", ".rb",
];

/// True if `word` is in `list`, in either case.
pub(super) fn contains_word(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(word))
}

/// True if `name`, in lower case, ends with a word of `list`.
pub(super) fn ends_with_word(list: &[&str], name: &[u8]) -> bool {
    list.iter().any(|known| name.ends_with(known.as_bytes()))
}

/// True if `text` begins with a word of `list`, in either case.
pub(super) fn starts_with_word(list: &[&str], text: &[u8]) -> bool {
    let begins = |known: &&str| {
        text.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known.as_bytes()))
    };
    list.iter().any(begins)
}
