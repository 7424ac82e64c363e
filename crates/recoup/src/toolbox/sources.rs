//! Sources of a call, from templates: `{path}` stands for the argument of that name. A list of
//! strings makes a source for each; a `file:` URI is the path in it. A relative path is watched in
//! every directory in which the server may look for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::params::RawMembers;

/// The characters that make a glob.
const GLOB: [char; 4] = ['*', '?', '[', '{'];

/// States as the last part of a source: no files of these names exist.
const STATES: [&str; 5] = ["git:HEAD", "git:index", "dir:list", "dir:tree", "project:files"];

/// Longest text that is looked up as a path.
const MAX_PATH_LEN: usize = 4096;

/// The directories in which a server may look for a relative path.
#[derive(Debug)]
pub(super) struct ReadingPlaces {
    cwd: PathBuf,
    /// The working directory, the directories among the command's words, and the client's roots.
    directories: Vec<PathBuf>,
}

impl ReadingPlaces {
    pub(super) fn new(cwd: &Path, command: &[OsString], roots: &[String]) -> Self {
        let mut directories = vec![cwd.to_owned()];
        let in_word = |word: &OsString| {
            // Also `--root=DIR`.
            let value = word.to_str().and_then(|word| Some(PathBuf::from(word.split_once('=')?.1)));
            [Some(PathBuf::from(word)), value]
        };
        let words = command.iter().skip(1).flat_map(in_word).flatten();
        let roots = roots.iter().filter_map(|root| local_path(root)).map(PathBuf::from);
        for path in words.chain(roots) {
            // Collected anew, a path has no `.` and no slash at its end.
            let path: PathBuf = cwd.join(path).components().collect();
            if path.is_dir() && !directories.contains(&path) {
                directories.push(path);
            }
        }
        Self { cwd: cwd.to_owned(), directories }
    }

    /// A relative source in each directory that has it; an error if none has.
    fn locate(&self, source: &str, is_glob: bool) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        for directory in &self.directories {
            if !directory.join(literal_part(source, is_glob)).exists() {
                continue;
            }
            if *directory == self.cwd {
                found.push(source.to_owned());
                continue;
            }
            let base = directory.to_str().ok_or("a directory's name is not UTF-8")?;
            let base = if is_glob { escape_glob(base) } else { base.to_owned() };
            found.push(format!("{base}/{source}"));
        }
        if found.is_empty() { Err(format!("{source:?} does not exist")) } else { Ok(found) }
    }

    fn has(&self, path: &str) -> bool {
        if path.len() > MAX_PATH_LEN || path.contains('\0') {
            return false;
        }
        let is_there = || self.directories.iter().any(|directory| directory.join(path).exists());
        Path::new(path).is_absolute() && Path::new(path).exists()
            || path.chars().nth(1).is_some() && is_there()
    }
}

/// The part of a source that must exist: a glob up to its first pattern.
fn literal_part(source: &str, is_glob: bool) -> PathBuf {
    let parts = Path::new(source).components();
    let is_literal = |part: &std::path::Component<'_>| {
        let part = part.as_os_str().to_string_lossy();
        !(STATES.contains(&&*part) || is_glob && part.contains(GLOB))
    };
    parts.take_while(is_literal).collect()
}

/// True if the arguments have, at any depth, a `file:` URI or the path of an existing file.
pub(super) fn mention_files(arguments: Option<&str>, places: &ReadingPlaces) -> bool {
    fn any_text(value: &Value, is: &impl Fn(&str) -> bool) -> bool {
        match value {
            Value::String(text) => is(text),
            Value::Array(values) => values.iter().any(|value| any_text(value, is)),
            Value::Object(members) => members.values().any(|value| any_text(value, is)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    let is_file = |text: &str| {
        let is_uri = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("file:"));
        is_uri || places.has(text)
    };
    // Arguments that cannot be read have no key.
    let arguments = serde_json::from_str::<Value>(arguments.unwrap_or("{}"));
    arguments.is_ok_and(|arguments| any_text(&arguments, &is_file))
}

/// The sources that `templates` name for a call with these arguments; else the reason why one of
/// them cannot be told.
pub(super) fn expand_templates(
    templates: &[String],
    arguments: Option<&str>,
    places: impl Fn() -> ReadingPlaces,
) -> Result<Vec<String>, String> {
    let members = RawMembers::read(arguments.unwrap_or("{}"));
    let members = members.ok_or("the arguments are not an object")?;
    let mut sources = Vec::new();
    for template in templates {
        sources.extend(expand(template, &members, &places)?);
    }
    Ok(sources)
}

fn expand(
    template: &str,
    members: &RawMembers<'_>,
    places: &impl Fn() -> ReadingPlaces,
) -> Result<Vec<String>, String> {
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
    // What the user wrote without an argument is relative to the working directory.
    if names.is_empty() || found.iter().all(|source| Path::new(source).is_absolute()) {
        return Ok(found);
    }
    let places = places();
    let located = found.into_iter().map(|source| {
        if Path::new(&source).is_absolute() {
            Ok(vec![source])
        } else {
            places.locate(&source, is_glob)
        }
    });
    Ok(located.collect::<Result<Vec<_>, _>>()?.concat())
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
#[allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests fail as tests do")]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn relative_paths_are_watched_wherever_the_server_may_look() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let shown = |path: &str| at(path).display().to_string();
        for path in ["cwd/a", "served/a", "served/b", "served/sub/x.md", "root/a", "root/c"] {
            fs::create_dir_all(at(path).parent().unwrap()).unwrap();
            fs::write(at(path), "").unwrap();
        }
        let command = ["server".into(), format!("--dir={}", shown("served")), ".".into()];
        let command = command.map(OsString::from);
        let roots = [format!("file://{}", shown("root"))];
        let places = || ReadingPlaces::new(&at("cwd"), &command, &roots);
        let expand = |template: &str, path: &str| {
            let arguments = serde_json::json!({ "path": path }).to_string();
            expand_templates(&[template.to_owned()], Some(&arguments), places)
        };
        let all = vec!["a".to_owned(), shown("served/a"), shown("root/a")];
        assert_eq!(expand("{path}", "a"), Ok(all));
        assert_eq!(expand("{path}", "b"), Ok(vec![shown("served/b")]));
        assert_eq!(expand("{path}/*.md", "sub"), Ok(vec![shown("served/sub/*.md")]));
        for state in STATES {
            let source = format!("served/sub/{state}");
            assert_eq!(expand(&format!("{{path}}/{state}"), "sub"), Ok(vec![shown(&source)]));
        }
        assert_eq!(expand("{path}", "d"), Err("\"d\" does not exist".to_owned()));
        assert_eq!(expand("{path}", "/no/such"), Ok(vec!["/no/such".to_owned()]));
        for (arguments, has_file) in [
            (r#"{"q":[{"x":"served/none"},"sub/x.md"]}"#, true),
            (r#"{"q":{"x":["FILE:///gone"]}}"#, true),
            (r#"{"q":"/"}"#, true),
            (r#"{"q":"a"}"#, false),
            (r#"{"q":"","n":1,"sub":null}"#, false),
            (r#"{"q":"how to find a file:// URI"}"#, false),
        ] {
            assert_eq!(mention_files(Some(arguments), &places()), has_file, "{arguments}");
        }
    }

    #[test]
    fn templates_take_paths_from_the_arguments() {
        let dir = tempfile::tempdir().unwrap();
        for path in ["src/a[1].rs", "a.md", "b.md", "docs/a.md", "docs/b.md"] {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        let places = || ReadingPlaces::new(dir.path(), &[], &[]);
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
            let found = expand_templates(&[template.to_owned()], Some(arguments), places);
            let expected = sources.map(|it| it.into_iter().map(str::to_owned).collect());
            assert_eq!(found, expected.map_err(str::to_owned), "{template}");
        }
    }
}
