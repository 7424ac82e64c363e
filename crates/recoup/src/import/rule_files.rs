//! Files with rules for agents that a repository or a person has: `CLAUDE.md`, `AGENTS.md`, Cursor's
//! rules and the like. Each item of a list is one statement, for the user to choose.

use std::fs;
use std::path::{Component, Path, PathBuf};

use recoup_core::base::fsx;
use recoup_core::memory::{NoteKind, NoteSource, Statement};
use recoup_core::{Error, ErrorKind, Result};

use super::sink::{ImportSink, ItemKind};

/// Largest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// Files without an extension of their own.
const PLAIN_NAMES: [&str; 3] = [".cursorrules", ".windsurfrules", ".clinerules"];

/// Files with rules in a project, and directories whose files of that ending are such.
const FILES: [&str; 9] = [
    "CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", "AGENTS.md", "GEMINI.md", ".cursorrules",
    ".windsurfrules", ".clinerules", ".github/copilot-instructions.md",
];
const DIRECTORIES: [(&str, &str); 5] = [
    ("", ".mdc"),
    (".cursor/rules", ".mdc"),
    (".claude/rules", ".md"),
    (".windsurf/rules", ".md"),
    (".github/instructions", ".instructions.md"),
];

/// True if a file can hold rules, by its name.
pub(super) fn is_rule_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PLAIN_NAMES.contains(&&*name)
        || path.extension().is_some_and(|ending| ending == "md" || ending == "mdc")
}

/// The known files with rules in a directory; of several names of one file the first.
pub(super) fn find_rule_files(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = FILES.iter().map(|name| dir.join(name)).collect();
    for (name, ending) in DIRECTORIES {
        let Ok(files) = fs::read_dir(dir.join(name)) else { continue };
        let mut files: Vec<PathBuf> = files.filter_map(Result::ok).map(|it| it.path()).collect();
        files.retain(|path| path.to_string_lossy().ends_with(ending));
        files.sort();
        found.extend(files);
    }
    let mut seen = Vec::new();
    found.retain(|path| {
        let real = path.canonicalize().ok().filter(|real| real.is_file());
        let is_new = real.as_ref().is_some_and(|real| !seen.contains(real));
        seen.extend(real);
        is_new
    });
    found
}

pub(super) fn read_rule_file(path: &Path, sink: &mut ImportSink<'_>) -> Result<()> {
    let bytes = fsx::read_regular(path, MOST_BYTES)?.unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|error| {
        Error::new(ErrorKind::Invalid, format!("{} is not UTF-8", path.display()))
            .with_source(error)
    })?;
    let (scope, base) = sink.place_of_rule_file(path)?;
    let (front, body) = split_front_matter(&text);
    let paths = path_glob(&base, front);
    for item in statements(body) {
        if let Some(why) = reason_against(&item) {
            sink.leave_out(ItemKind::Rule, &item, why);
            continue;
        }
        let (kind, source) = (NoteKind::Preference, NoteSource::User);
        let statement = Statement::new(kind, item, source, scope.clone());
        sink.add_rule(Statement { paths: paths.clone(), ..statement })?;
    }
    Ok(())
}

/// Directory that the rules of a file are about, from the project's root: that of the file, or the
/// one that a client's own directory is in.
pub(super) fn base_directory(relative: &Path) -> String {
    let dir = relative.parent().unwrap_or(Path::new(""));
    let names = dir.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.take_while(|name| !name.starts_with('.')).collect::<Vec<_>>().join("/")
}

/// Glob of the files that the rules are about; none for all of the project.
fn path_glob(base: &str, front: &str) -> Option<String> {
    let globs = front_globs(front);
    let within = |glob: &String| match base {
        "" => glob.clone(),
        base => format!("{base}/{glob}"),
    };
    let globs: Vec<String> = globs.iter().map(within).collect();
    match &globs[..] {
        [] if base.is_empty() => None,
        [] => Some(format!("{base}/**")),
        [glob] => Some(glob.clone()),
        globs => Some(format!("{{{}}}", globs.join(","))),
    }
}

/// Globs in the front matter of Cursor's (`globs`) and Copilot's (`applyTo`) files.
fn front_globs(front: &str) -> Vec<String> {
    let value = |name: &str| {
        let line = front.lines().find_map(|line| line.trim().strip_prefix(name))?;
        line.trim_start().strip_prefix(':').map(str::trim)
    };
    if value("alwaysApply") == Some("true") {
        return Vec::new();
    }
    let listed = value("globs").or_else(|| value("applyTo")).unwrap_or_default();
    let listed = listed.trim_start_matches('[').trim_end_matches(']');
    let clean = |glob: &str| glob.trim().trim_matches(['"', '\'']).trim().to_owned();
    let globs: Vec<String> = listed.split(',').map(clean).filter(|it| !it.is_empty()).collect();
    if globs.iter().any(|glob| glob == "**" || glob == "**/*" || glob == "*") {
        return Vec::new();
    }
    globs
}

fn split_front_matter(text: &str) -> (&str, &str) {
    let opened = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    opened.and_then(|rest| rest.split_once("\n---")).unwrap_or(("", text))
}

/// Reason why an item is no statement.
fn reason_against(item: &str) -> Option<&'static str> {
    if item.ends_with(':') {
        Some("it only opens a list")
    } else if item.starts_with('@') {
        Some("it refers to another file")
    } else if item.split_whitespace().count() < 2 {
        Some("it is one word")
    } else {
        None
    }
}

/// Items of lists, each on one line; the paragraphs of a text without any.
fn statements(body: &str) -> Vec<String> {
    let (mut items, mut paragraphs) = (Vec::new(), Vec::new());
    let mut current: Option<(bool, String)> = None;
    let mut close = |current: &mut Option<(bool, String)>| match current.take() {
        Some((true, text)) => items.push(text),
        Some((false, text)) => paragraphs.push(text),
        None => {}
    };
    let mut fence: Option<&str> = None;
    for line in without_comments(body).lines() {
        let plain = line.trim();
        let opens = ["```", "~~~"].into_iter().find(|it| plain.starts_with(it));
        match (fence, opens) {
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, Some(mark)) => {
                close(&mut current);
                fence = Some(mark);
            }
            _ => {}
        }
        if fence.is_some() || opens.is_some() {
            continue;
        }
        let is_apart =
            plain.is_empty() || plain.starts_with(['#', '|', '<', '>']) || is_rule_line(plain);
        if is_apart {
            close(&mut current);
        } else if let Some(item) = item_of(plain) {
            close(&mut current);
            current = Some((true, without_emphasis(item)));
        } else if let Some((_, text)) = &mut current {
            text.push(' ');
            text.push_str(&without_emphasis(plain));
        } else {
            current = Some((false, without_emphasis(plain)));
        }
    }
    close(&mut current);
    let mut found = if items.is_empty() { paragraphs } else { items };
    found.retain(|text| !text.is_empty());
    found
}

/// True for a line that only draws something: `---`, `===`.
fn is_rule_line(plain: &str) -> bool {
    plain.len() >= 3 && plain.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' '))
}

/// Text behind the mark of a list's item.
fn item_of(plain: &str) -> Option<&str> {
    let digits = plain.len() - plain.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let rest = match digits {
        0 => plain.strip_prefix(['-', '*', '+']),
        _ => plain[digits..].strip_prefix(['.', ')']),
    }?;
    let text = rest.strip_prefix([' ', '\t'])?.trim();
    let boxes = ["[ ]", "[x]", "[X]"];
    Some(boxes.iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text).trim())
}

/// Returns the text without bold letters, which are no part of what it says.
fn without_emphasis(text: &str) -> String {
    text.replace("**", "")
}

fn without_comments(body: &str) -> String {
    let (mut kept, mut rest) = (String::new(), body);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept + rest
}
