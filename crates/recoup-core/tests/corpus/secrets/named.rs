//! Credentials that only their name gives away: weak or strong, in every
//! notation in which names and values are written, and in headers, commands
//! and statements.

use super::Sample;
use super::fill::fill;

/// `N` is the name and `V` the value.
const NOTATIONS: &[(&str, &str)] = &[
    ("JSON", r#"{"user": "ada", "N": "V"}"#),
    ("compact JSON", r#"{"N":"V","port":5432}"#),
    ("JSON in JSON", r#"{"stdin": "{\"N\": \"V\"}"}"#),
    ("YAML", "db:\n  user: ada\n  N: V\n"),
    ("quoted YAML", "db:\n  N: \"V\"\n"),
    ("environment file", "PORT=1\nN=V\nDEBUG=0\n"),
    ("shell", "export N=\"V\"\n./run\n"),
    ("properties", "app.db.N=V\n"),
    ("TOML", "N = 'V'\n"),
    ("Python", "    N = \"V\"\n"),
    ("Python argument", "connect(host, N='V')\n"),
    ("JavaScript", "const config = { N: 'V', port: 1 };\n"),
    ("Rust", "const N: &str = \"V\";\n"),
    ("Go", "cfg.N = \"V\"\n"),
    ("Java", "private static final String N = \"V\";\n"),
    ("Ruby", "config[:N] = 'V'\nconfig = { 'N' => 'V' }\n"),
    ("PHP", "$N = 'V';\n"),
    ("XML", "<db><N>V</N></db>\n"),
    ("query", "POST /login?user=ada&N=V&x=1\n"),
    ("diff", "+  \"N\": \"V\",\n"),
    ("log", "login failed: user=ada N=V from 10.0.0.7\n"),
    ("flag", "serve --N=V --port 1\n"),
    ("list of pairs", r#"[{"name": "N", "value": "V"}]"#),
    ("manifest", "env:\n  - name: N\n    value: V\n"),
];

const NAMES: &[&str] = &[
    "password", "PASSWORD", "db_password", "passwd", "pwd", "secret", "SECRET_KEY",
    "client_secret", "clientSecret", "api_key", "apikey", "API_KEY", "apiKey", "access_token",
    "accessToken", "auth_token", "AWS_SECRET_ACCESS_KEY", "private_key", "passphrase", "bearer",
    "DB_PASS", "encryption_key", "refresh_token", "GITHUB_TOKEN",
];

/// From what people choose to what generators make.
const VALUES: &[&str] = &[
    "secret123", "hunter2", "Tr0ub4dor&3", "S3cr3t!pa55", "letmein99", "{a12}", "{a24}", "{h32}",
    "{h64}", "{b40}", "p@ssw0rd", "Winter2024!",
];

/// Whole texts, each with its secret.
const TEXTS: &[(&str, &str)] = &[
    ("bearer header", "Authorization: Bearer {a32}"),
    ("bearer header in JSON", r#"{"headers": {"Authorization": "Bearer {a40}"}}"#),
    ("bearer header in a command", "curl -H 'Authorization: Bearer {h40}' https://api.internal/v1"),
    ("bearer token in a log", "sent bearer {a40} to upstream"),
    ("basic header", "Authorization: Basic YWRtaW46czNjcjN0IQ=="),
    ("basic header in code", r#"headers["Authorization"] = "Basic c2hvcDpodW50ZXIy""#),
    ("curl with a user", "curl -u admin:{a12} https://api.internal/v1"),
    ("MySQL statement", "CREATE USER 'shop'@'%' IDENTIFIED BY '{a12}';"),
    ("PostgreSQL statement", "ALTER ROLE shop WITH PASSWORD '{a12}';"),
    ("npmrc", "//registry.internal/:_authToken={U}"),
    ("Docker configuration", r#"{"auths": {"registry.internal": {"auth": "{b36}"}}}"#),
    (
        "service account",
        r#"{"type": "service_account", "private_key_id": "{h40}", "private_key": "-----BEGIN PRIVATE KEY-----\n{b64}\n-----END PRIVATE KEY-----\n"}"#,
    ),
    (
        "AWS credentials file",
        "[default]\naws_access_key_id = AKIA{u16}\naws_secret_access_key = {b40}\n",
    ),
    ("secret manifest", "kind: Secret\napiVersion: v1\ndata:\n  password: aHVudGVyMg==\n"),
    ("connection string", "Server=db;Database=shop;User Id=sa;Password={a12};"),
    ("Twilio settings", "twilio:\n  sid: AC{h32}\n  auth: {h32}\n"),
    ("Datadog settings", "datadog.key: {h32}\n"),
    ("Heroku variable", "HEROKU_API_KEY={U}"),
    ("Mailchimp settings", "mailchimp_key = '{h32}-us14'"),
    ("Rails settings", "production:\n  secret_key_base: {h128}\n"),
    ("Django settings", "SECRET_KEY = 'django-insecure-{a50}'"),
    ("seed: JSON", r#"{"password": "secret123"}"#),
    ("seed: shell", "password=secret123"),
    ("seed: YAML", "PASSWORD: secret123"),
    ("seed: code", "secret_key = 'abc'"),
    ("four words", r#"{"password": "correct horse battery staple"}"#),
    ("block of YAML", "password: |\n  hunter2\nuser: ada\n"),
    ("flag with a blank", "mysqldump --password 'hunter2' shop\n"),
];

pub(crate) fn all() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (row, name) in NAMES.iter().enumerate() {
        for turn in 0..8 {
            let (notation, text) = NOTATIONS[(row + turn * 3) % NOTATIONS.len()];
            let value = fill(VALUES[(row * 7 + turn * 5) % VALUES.len()], row + turn);
            // In XML and URLs an ampersand would be written differently.
            let value = value.replace('&', "+");
            let text = text.replace('N', "\u{1}").replace('V', &value).replace('\u{1}', name);
            samples.push(Sample { name: format!("{name} in {notation}"), text });
        }
    }
    let text = |&(name, text): &(&str, &str)| Sample { name: name.into(), text: fill(text, 0) };
    samples.extend(TEXTS.iter().map(text));
    samples
}
