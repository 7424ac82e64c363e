//! Sources of a call, from templates: `{path}` stands for the argument of that name. A list of
//! strings makes a source for each; a `file:` URI is the path in it.

use serde_json::Value;

use super::params::RawMembers;

/// The characters that make a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// The sources that `templates` name for a call with these arguments; else the reason why one of
/// them cannot be told.
pub(super) fn expand_templates(
    templates: &[String],
    arguments: Option<&str>,
) -> Result<Vec<String>, String> {
    let members = RawMembers::read(arguments.unwrap_or("{}"));
    let members = members.ok_or("the arguments are not an object")?;
    let mut sources = Vec::new();
    for template in templates {
        sources.extend(expand(template, &members)?);
    }
    Ok(sources)
}

fn expand(template: &str, members: &RawMembers<'_>) -> Result<Vec<String>, String> {
    let (literals, names) = split_template(template);
    let is_glob = literals.iter().any(|literal| literal.contains(GLOB));
    let mut found = vec![literals[0].to_owned()];
    for (name, literal) in names.iter().zip(&literals[1..]) {
        let values = argument_texts(name, members)?;
        let joined = found.iter().flat_map(|before| {
            values.iter().map(move |value| {
                // Only characters that the template has are special.
                let value = if is_glob { escape_glob(value) } else { value.clone() };
                format!("{before}{value}{literal}")
            })
        });
        found = joined.collect();
    }
    Ok(found)
}

/// Splits at `{name}`: the literals, one more than names, and the names between them. Braces with
/// anything else between them belong to a glob.
fn split_template(template: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut literals, mut names) = (Vec::new(), Vec::new());
    let (mut begin, mut at) = (0, 0);
    while let Some(open) = template[at..].find('{').map(|found| at + found) {
        let Some(close) = template[open..].find('}').map(|found| open + found) else { break };
        let name = &template[open + 1..close];
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if !name.is_empty() && name.chars().all(is_name) {
            literals.push(&template[begin..open]);
            names.push(name);
            begin = close + 1;
            at = begin;
        } else {
            at = open + 1;
        }
    }
    literals.push(&template[begin..]);
    (literals, names)
}

fn argument_texts(name: &str, members: &RawMembers<'_>) -> Result<Vec<String>, String> {
    let values = match members.parse::<Value>(name) {
        Some(Value::Array(values)) => values,
        Some(value) => vec![value],
        None => return Err(format!("there is no argument {name:?}")),
    };
    let text = |value: &Value| match value.as_str() {
        Some(text) if !text.is_empty() => local_path(text),
        _ => None,
    };
    let wrong = || format!("the argument {name:?} is no path");
    values.iter().map(text).collect::<Option<Vec<_>>>().ok_or_else(wrong)
}

/// The path of a `file:` URI or a plain path; `None` for other URIs.
fn local_path(text: &str) -> Option<String> {
    let Some((scheme, rest)) = text.split_once("://") else { return Some(text.to_owned()) };
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !scheme.eq_ignore_ascii_case("file") || !path.starts_with('/') {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = path.bytes();
    while let Some(byte) = rest.next() {
        let decoded = match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? << 4 | digit()?).ok()?
            }
            byte => byte,
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

fn escape_glob(text: &str) -> String {
    let escaped = |c: char| match c {
        '*' | '?' | '[' | ']' | '{' | '}' | '\\' => format!("[{c}]"),
        c => c.to_string(),
    };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_take_paths_from_the_arguments() {
        let arguments = r#"{"path":"src/a[1].rs","paths":["a.md","b.md"],"uri":"file:///tmp/a%20b",
            "n":3,"empty":"","web":"https://example.com/x"}"#;
        for (template, sources) in [
            ("{path}", Ok(vec!["src/a[1].rs"])),
            ("{paths}", Ok(vec!["a.md", "b.md"])),
            ("docs/{paths}", Ok(vec!["docs/a.md", "docs/b.md"])),
            ("{path}/**/*.{rs,ts}", Ok(vec!["src/a[[]1[]].rs/**/*.{rs,ts}"])),
            ("{uri}", Ok(vec!["/tmp/a b"])),
            ("src/**/*.rs", Ok(vec!["src/**/*.rs"])),
            ("*.{rs,ts}", Ok(vec!["*.{rs,ts}"])),
            ("git:HEAD", Ok(vec!["git:HEAD"])),
            ("{missing}", Err("there is no argument \"missing\"")),
            ("{n}", Err("the argument \"n\" is no path")),
            ("{empty}", Err("the argument \"empty\" is no path")),
            ("{web}", Err("the argument \"web\" is no path")),
        ] {
            let found = expand_templates(&[template.to_owned()], Some(arguments));
            let expected = sources.map(|it| it.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected.map_err(str::to_owned), "{template}");
        }
    }
}
