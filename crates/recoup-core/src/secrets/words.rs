//! Words: where they begin and end in a text, and the lists that decide what a name or a value means,
//! one for each question, all in lower case. Not formatted by `rustfmt`: one word to a line would be
//! unreadable.
//!
//! The words with which people give a password are in the languages that they write to an agent in:
//! English, German, French, Spanish, Portuguese, Italian, Chinese and Japanese.

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

/// True for letters, digits and the underscore.
pub(super) const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True for characters of base64url, which other tokens consist of, too.
pub(super) const fn is_base64url(byte: u8) -> bool {
    is_word(byte) || byte == b'-'
}

/// True if a word may begin at `at`. The text may be escaped: results are mostly JSON, where a
/// line's first word stands behind the `n` of `\n`.
pub(super) fn is_word_start(text: &[u8], at: usize) -> bool {
    match text[..at] {
        [] | [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [.., last] => !is_word(last),
    }
}

/// True if a word may end at `at`.
pub(super) fn is_word_end(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|&byte| !is_word(byte))
}

/// True if the quote at `at` ends a string of JSON: something stands before it, and the end of a
/// value behind it.
pub(super) fn closes_string(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| text[before]);
    let ends = matches!(text.get(at + 1), None | Some(b'}' | b']' | b',' | b':' | b'\n' | b'\r'));
    let inside =
        before.is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\\=\"".contains(&byte));
    text[at] == b'"' && inside && ends
}

/// Counts the bytes from `at` on that are `wanted`, up to `most`.
pub(super) fn count_run(text: &[u8], at: usize, most: usize, wanted: fn(u8) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.iter().take(most).take_while(|&&byte| wanted(byte)).count()
}

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

/// Names of passwords, whose value may be a plain word.
#[rustfmt::skip]
pub(super) const PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "pwd", "pw", "pass", "passwort", "kennwort",
    "codewort", "contraseña", "contrasena", "senha", "mdp", "passe", "parola", "clave",
    "mot-de-passe", "pswd",
];

/// Names of generated credentials: the value must look like one.
#[rustfmt::skip]
pub(super) const TOKENS: &[&str] = &[
    "token", "secret", "key", "schlüssel", "apikey", "api-key", "jeton", "clé", "cle", "chave",
    "chiave", "segreto", "credential", "psk",
];

/// Names of numbers that open something.
#[rustfmt::skip]
pub(super) const CODES: &[&str] = &[
    "pin", "puk",
];

/// First words of names whose second word is `code`.
#[rustfmt::skip]
pub(super) const OPENS: &[&str] = &[
    "door", "access", "entry", "gate", "alarm", "security", "unlock", "lock", "garage", "safe",
    "pin", "recovery", "backup", "recovery-",
];

/// Words and signs that link a name with its value.
#[rustfmt::skip]
pub(super) const IS: &[&str] = &[
    "is", "are", "was", "ist", "lautet", "lauten", "sind", "war", "est", "sont", "es", "son", "era",
    "é", "è", "e", "sono", "sera", "será", "foi", "-", "–", "=", ":", "：", ":=", "->", "→", "は",
    "是", "为", "為",
];

/// Words that link a change with its result.
#[rustfmt::skip]
pub(super) const TO: &[&str] = &[
    "to", "auf", "into", "as", "als", "comme", "como", "come", "in", "zu", "à", "a", "en", "usa",
    "use", "usar", "utilise", "nimm",
];

/// Words between either link and the value.
#[rustfmt::skip]
pub(super) const STILL: &[&str] = &[
    "just", "simply", "still", "now", "currently", "always", "set", "changed", "reset", "updated",
    "to", "nun", "jetzt", "einfach", "aktuell", "immer", "momentan", "noch", "toujours",
    "maintenant", "siempre", "ahora", "sempre", "agora", "ora", "adesso", "literally", "actually",
];

/// Words that announce a value right behind its name.
#[rustfmt::skip]
pub(super) const WITH: &[&str] = &[
    "with", "use", "using", "as", "mit", "avec", "con", "com", "utilise", "usa", "nimm", "via",
];

/// Names of the user beside whom a password stands.
#[rustfmt::skip]
pub(super) const USER_NAMES: &[&str] = &[
    "user", "username", "login", "benutzer", "benutzername", "nutzer", "utilisateur", "identifiant",
    "usuario", "usuário", "utente", "account", "konto", "compte", "cuenta", "conta",
];

/// Words that may follow a value that is a plain word.
#[rustfmt::skip]
pub(super) const AFTER: &[&str] = &[
    "and", "but", "for", "on", "in", "at", "please", "und", "aber", "fur", "für", "auf", "et",
    "pour", "y", "para", "e", "per", "ok", "okay", "btw", "by", "so", "then", "remember",
    "everywhere", "here", "there",
];

/// Words that describe a password without giving it.
#[rustfmt::skip]
pub(super) const STATES: &[&str] = &[
    "used", "yes", "true", "false", "ja", "nein", "si", "oui", "in", "from", "under", "at", "on",
    "by", "via", "inside", "within", "wrong", "invalid", "incorrect", "missing", "empty",
    "required", "optional", "plaintext", "plain", "unset", "undefined", "null", "none", "nil",
    "broken", "fine", "ok", "okay", "good", "bad", "weak", "strong", "public", "private", "random",
    "here", "there", "below", "above", "unknown", "mandatory", "sensitive", "hidden", "unused",
    "gone", "not", "never", "always", "only", "also", "too", "the", "a", "an", "our", "your", "my",
    "his", "her", "their", "its", "this", "that", "these", "those", "what", "which", "where", "how",
    "whatever", "case-sensitive", "same", "different", "identical", "correct", "right", "valid",
    "long", "short", "set", "read", "kept", "stored", "known", "common", "default", "easy", "hard",
    "safe", "secure", "insecure", "no", "case", "min", "max", "blank", "being", "both", "either",
    "equal", "just", "more", "less", "longer", "shorter", "older", "newer", "visible", "present",
    "absent", "reset", "sent", "shown", "given", "taken", "written", "hash", "hashes", "bcrypt",
    "argon2", "text", "string", "bytes", "base64", "falsch", "leer", "gesetzt", "notig", "nötig",
    "erforderlich", "pflicht", "gehasht", "im", "aus", "unter", "am", "nicht", "das", "der", "die",
    "ein", "eine", "hier", "dort", "gleich", "abgelaufen", "vergessen", "gesperrt", "bekannt",
    "geheim", "sicher", "unsicher", "zu", "dans", "faux", "vide", "requis", "obligatoire", "stocke",
    "stocké", "pas", "le", "la", "un", "une", "sous", "chez", "en", "hache", "haché", "expire",
    "expiré", "trop", "oublie", "oublié", "incorrecta", "vacia", "vacía", "obligatoria",
    "requerida", "el", "una", "del", "caducada", "expirada", "muy", "errada", "incorreta", "vazia",
    "obrigatoria", "obrigatória", "guardada", "o", "um", "uma", "na", "nao", "não", "muito",
    "sbagliata", "vuota", "obbligatoria", "salvata", "il", "nel", "nella", "non", "scaduta",
    "troppo",
];

/// Second words that make something else of a name: a password hash.
#[rustfmt::skip]
pub(super) const COMPOUNDS: &[&str] = &[
    "hash", "hashes", "hashing", "auth", "authentication", "manager", "managers", "prompt",
    "prompts", "field", "fields", "reset", "resets", "login", "protection", "policy", "policies",
    "grant", "input", "inputs", "less", "form", "forms", "validation", "rules", "rule", "length",
    "strength", "check", "checks", "page", "screen", "file", "files", "store", "storage",
    "rotation", "change", "changes", "column", "based", "id", "ids", "name", "names", "type",
    "types", "header", "headers", "expired", "expires", "scopes", "scope",
];

/// Words for logging in.
#[rustfmt::skip]
pub(super) const LOGIN: &[&str] = &[
    "login", "signin", "log", "sign", "logon", "anmelden", "einloggen", "anmelde", "logge",
    "connecte", "connectez", "connexion", "connecter", "inicia", "sesión", "sesion", "entra",
    "entre", "acesse", "accedi", "credentials", "creds", "zugangsdaten", "zugang", "identifiants",
    "credenciales", "credenziali", "credenciais",
];

/// Words about logging in that are no secret.
#[rustfmt::skip]
pub(super) const KINDS: &[&str] = &[
    "google", "github", "gitlab", "facebook", "apple", "microsoft", "okta", "sso", "oauth", "saml",
    "email", "password", "username", "phone", "passkey", "user", "name", "mail", "ldap", "e-mail",
    "token",
];

/// Words before a name that follows its value: "use X as the password".
#[rustfmt::skip]
pub(super) const ARTICLES: &[&str] = &[
    "the", "a", "my", "our", "your", "das", "der", "die", "den", "mein", "unser", "le", "la", "mon",
    "notre", "el", "mi", "il", "o", "new", "neue", "nuevo", "nuova", "nova", "admin", "root", "db",
];

/// Names of users that many systems have.
#[rustfmt::skip]
pub(super) const USERS: &[&str] = &[
    "admin", "root", "test", "guest", "user", "demo", "postgres",
];

/// Names in runs of characters without blanks.
#[rustfmt::skip]
pub(super) const RUN_NAMES: &[&str] = &[
    "密码", "密碼", "口令", "パスワード", "暗証番号", "密钥", "密鑰", "令牌", "トークン", "鍵", "キー",
];

/// Links between such a name and its value.
#[rustfmt::skip]
pub(super) const RUN_IS: &[&str] = &[
    "是", "为", "為", "は", "改成", "改为", "換成", "换成", "：", ":", "=", "＝",
];

/// Words for the place or state of a password, in scripts without blanks.
#[rustfmt::skip]
pub(super) const RUN_STATES: &[&str] = &[
    "在", "从", "存", "放", "必", "需", "不", "加密", "哈希", "错", "正确", "过期", "空", "强", "弱", "环境", "一样", "什么",
    "多少", "我们", "应", "明文", "に", "から", "で", "を", "ハッシュ", "暗号", "変更", "違", "忘", "何", "正しい", "请", "無",
    "无", "有", "已", "長", "长", "必要", "ください", "至少", "以上",
];
