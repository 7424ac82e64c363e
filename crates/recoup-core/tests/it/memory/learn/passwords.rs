//! What stands in a password's place is not shown, however a line is written.

use proptest::prelude::*;
use recoup_core::secrets::{RedactedCommand, all_rules};

use crate::secrets::corpus::fill::fill;

/// A line, and the same as it may be shown.
const LINES: [(&str, &str); 36] = [
    // Before its value, and joined with it.
    ("mysql -p hunter2 shop", "mysql -p [hidden] shop"),
    ("mysql -phunter2 shop", "mysql -p[hidden] shop"),
    ("/usr/bin/mysqldump -u root -phunter2", "/usr/bin/mysqldump -u root -p[hidden]"),
    ("redis-cli -a hunter2 ping", "redis-cli -a [hidden] ping"),
    ("curl -u me:hunter2 https://x.example", "curl -u me:[hidden] https://x.example"),
    ("sshpass -p hunter2 ssh host", "sshpass -p [hidden] ssh host"),
    // A long flag is not the beginning of another.
    ("openssl rsa -passin hunter2 -in k", "openssl rsa -passin [hidden] -in k"),
    ("openssl rsa -passout hunter2 -out k", "openssl rsa -passout [hidden] -out k"),
    ("openssl enc -pass hunter2 -in k", "openssl enc -pass [hidden] -in k"),
    ("openssl enc -k hunter2 -in k", "openssl enc -k [hidden] -in k"),
    ("openssl rsa -passphrase-file k", "openssl rsa -passphrase-file k"),
    // By its name.
    ("tool --password hunter2 go", "tool --password [hidden] go"),
    ("tool --api_key hunter2 go", "tool --api_key [hidden] go"),
    ("vault-token hunter2", "vault-token [hidden]"),
    // Whatever stands between them.
    ("tool --password  hunter2 go", "tool --password  [hidden] go"),
    ("tool --password\thunter2 go", "tool --password\t[hidden] go"),
    ("tool --password \\\n  hunter2 go", "tool --password \\\n  [hidden] go"),
    ("cd x\nmysql -phunter2\nls", "cd x\nmysql -p[hidden]\nls"),
    ("openssl\trsa\t-passin \t hunter2", "openssl\trsa\t-passin \t [hidden]"),
    // In quotes, and in a line within a line.
    ("tool --password \"two words\" go", "tool --password [hidden] go"),
    ("mysql -p'two  words' shop", "mysql -p'[hidden]' shop"),
    ("sh -c 'mysql -phunter2 shop'", "sh -c 'mysql -p[hidden] shop'"),
    ("(/opt/redis-cli -a hunter2 ping)", "(/opt/redis-cli -a [hidden] ping)"),
    ("tool --password \"never closed", "tool --password [hidden]"),
    // As the rules have it, and as they would not.
    ("tool --password = hunter2 go", "tool --password = [hidden] go"),
    ("az login -u me -p hunter go", "az login -u me -p [hidden] go"),
    ("mongosh -u me -p hunter db", "mongosh -u me -p [hidden] db"),
    ("tool --pass hunter go", "tool --pass [hidden] go"),
    ("PGPASSWORD=hunter psql -h db", "PGPASSWORD=[hidden] psql -h db"),
    (
        "git clone https://abcDEF1234567890abcd@git.example/x",
        "git clone https://[hidden]@git.example/x",
    ),
    ("echo hunter | sudo -S ls", "echo [hidden] | sudo -S ls"),
    ("PGPASSWORD=$PW psql -h db", "PGPASSWORD=$PW psql -h db"),
    // What is no password stays.
    ("openssl req -keyout k.pem", "openssl req -keyout k.pem"),
    ("cat docs/password.md here", "cat docs/password.md here"),
    ("ssh -p 2222 host", "ssh -p 2222 host"),
    ("  grep  -n\tx  ", "  grep  -n\tx  "),
];

#[test]
fn what_stands_in_a_passwords_place_is_hidden_and_nothing_else() {
    for (line, shown) in LINES {
        assert_eq!(RedactedCommand::new(line).as_str(), shown, "{line:?}");
    }
}

#[test]
fn no_proof_of_the_table_is_left_in_a_command() {
    for rule in all_rules() {
        let line = fill(rule.secret(), 0);
        let redacted = RedactedCommand::new(&line);
        assert!(redacted.as_str() != line, "{}: {line}", rule.name());
        assert_eq!(RedactedCommand::new(&redacted), redacted, "{}", rule.name());
    }
}

proptest! {
    #[test]
    fn white_space_hides_no_password(
        flag in prop::sample::select(&["mysql -p", "openssl x -passin", "x --password", "redis-cli -a"][..]),
        between in "[ \t\n]{1,4}",
    ) {
        let line = format!("{flag} hunter2 end").replace(' ', &between);
        let shown = RedactedCommand::new(&line);
        prop_assert!(!shown.contains("hunter2"), "{line:?} became {shown:?}");
    }
}
