//! Licences of all that is linked into the program, held against `deny.toml`. `cargo deny` itself
//! looks further, and takes long to build (`cargo xtask dist --check`).

use std::collections::BTreeSet;
use std::process::Command;

use crate::files;

#[test]
fn every_licence_of_a_dependency_is_accepted() {
    let root = files::workspace();
    let configuration = files::read(&root.join("deny.toml"));
    let accepted = accepted(&configuration);
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--locked", "-p", "recoup", "--edges", "normal,build", "--prefix", "none"]);
    let output = tree.args(["--format", "{p}|{l}"]).current_dir(root).output().expect("cargo");
    let lines = String::from_utf8(output.stdout).expect("names and licences");
    assert!(lines.lines().count() > 100, "{}", String::from_utf8_lossy(&output.stderr));
    let is_refused = |line: &&str| {
        let (_, licence) = line.trim_end_matches(" (*)").split_once('|').expect("a licence");
        !is_accepted(licence, &accepted)
    };
    let refused: BTreeSet<&str> = lines.lines().filter(is_refused).collect();
    assert!(refused.is_empty(), "deny.toml does not allow: {refused:#?}");
}

/// The entries of the list `allow`.
fn accepted(configuration: &str) -> BTreeSet<&str> {
    let (_, rest) = configuration.split_once("\nallow = [").expect("a list of licences");
    rest.split(']').next().unwrap_or_default().split('"').skip(1).step_by(2).collect()
}

/// Reads an SPDX expression. `AND` binds more closely than `OR`; older packages say `A/B`.
fn is_accepted(expression: &str, accepted: &BTreeSet<&str>) -> bool {
    let mut expression = expression.replace('/', " OR ");
    // From the inside out: a group in parentheses becomes a licence that is accepted, or none.
    while let Some(end) = expression.find(')') {
        let start = expression[..end].rfind('(').expect("a parenthesis that opens");
        let value = is_accepted(&expression[start + 1..end], accepted);
        expression.replace_range(start..=end, if value { "MIT" } else { "REFUSED" });
    }
    expression
        .split(" OR ")
        .any(|choice| choice.split(" AND ").all(|licence| accepted.contains(licence.trim())))
}

#[test]
fn expressions_are_read_as_spdx_says() {
    let accepted = accepted("\nallow = [\n    \"MIT\",\n    \"ISC\",\n]\n");
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0/MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT OR GPL-3.0 AND BSD", true),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("(MIT OR GPL-3.0) AND BSD", false),
        ("ISC WITH exception OR BSD", false),
    ] {
        assert_eq!(is_accepted(expression, &accepted), expected, "{expression}");
    }
}
