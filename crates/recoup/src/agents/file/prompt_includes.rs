//! `{% include 'file' %}` and `{% render 'file' %}` in prompts: the text of the file takes their
//! place, relative to the file that includes it.

use std::path::{Path, PathBuf};

use super::reader::AgentFileReader;
use crate::agents::file::{AgentProblem, MAX_DEPTH, describe_cycle};
use crate::human::size;

/// Size of a prompt with everything that it includes.
const MAX_PROMPT_BYTES: usize = 1 << 20;

/// The place of an inclusion: the file that includes others, what included it, and a line.
pub(super) struct IncludeSite<'a> {
    /// The file itself, for messages and relative paths.
    pub(super) file: &'a Path,
    /// Line of the file at which the text begins.
    pub(super) line: u64,
    /// Canonical paths of the files that lead here.
    pub(super) chain: &'a [PathBuf],
}

impl AgentFileReader<'_> {
    /// The text with all inclusions in their places.
    pub(super) fn expand_includes(&mut self, text: &str, site: &IncludeSite<'_>) -> String {
        let mut expanded = String::with_capacity(text.len());
        let (mut rest, mut line) = (text, site.line);
        while let Some(start) = rest.find("{%") {
            let Some(length) = rest[start..].find("%}") else { break };
            let (tag, end) = (&rest[start..start + length + 2], start + length + 2);
            line += rest[..start].matches('\n').count() as u64;
            expanded.push_str(&rest[..start]);
            match included_name(tag) {
                Ok(name) => match self.include(name, site) {
                    Ok(text) => expanded.push_str(&text),
                    Err(message) => self.add_include_problem(site, line, tag, message),
                },
                Err(Some(message)) => self.add_include_problem(site, line, tag, message.to_owned()),
                Err(None) => {
                    let file = site.file.display();
                    self.agent.notices.push(format!(
                        "{file}:{line}: {tag} stays as it is: only include and render are known"
                    ));
                    expanded.push_str(tag);
                }
            }
            line += tag.matches('\n').count() as u64;
            rest = &rest[end..];
        }
        expanded.push_str(rest);
        expanded
    }

    fn add_include_problem(
        &mut self,
        site: &IncludeSite<'_>,
        line: u64,
        tag: &str,
        message: String,
    ) {
        let (file, key) = (site.file.display().to_string(), Some(tag.to_owned()));
        self.problems.push(AgentProblem { file, line: Some(line), key, message });
    }

    fn include(&mut self, name: &str, site: &IncludeSite<'_>) -> Result<String, String> {
        if self.prompt_bytes > MAX_PROMPT_BYTES {
            // That is a problem already.
            return Ok(String::new());
        }
        let path = super::relative_path(site.file, name);
        // Trust is bound to the agent's file, and not to what it includes from the repository.
        let is_own = match site.chain {
            [_, .., including] => !including.starts_with(&self.place.root),
            _ => true,
        };
        let (real, text) = self.read_beside(&path, is_own.then_some("include"))?;
        if let Some(cycle) = describe_cycle(site.chain, &real) {
            return Err(format!("includes itself: {cycle}"));
        }
        if site.chain.len() > MAX_DEPTH {
            return Err(format!("included files are nested more than {MAX_DEPTH} deep"));
        }
        self.prompt_bytes += text.len();
        if self.prompt_bytes > MAX_PROMPT_BYTES {
            let most = size(MAX_PROMPT_BYTES as u64);
            return Err(format!("the prompt has more than {most} with this file"));
        }
        self.agent.included.push(path.clone());
        let chain: Vec<PathBuf> = site.chain.iter().cloned().chain([real]).collect();
        let inner = IncludeSite { file: &path, line: 1, chain: &chain };
        Ok(self.expand_includes(text.trim_end_matches('\n'), &inner))
    }
}

/// The name in an inclusion; an error with a message if it is a wrong one, without if it is none.
fn included_name(tag: &str) -> Result<&str, Option<&'static str>> {
    let inner = tag.trim_start_matches("{%").trim_end_matches("%}");
    let inner = inner.trim_matches('-').trim();
    let (word, rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    if !matches!(word, "include" | "render") {
        return Err(None);
    }
    let rest = rest.trim();
    let quoted = ['\'', '"'].iter().find_map(|quote| rest.strip_prefix(*quote)?.split_once(*quote));
    match quoted {
        Some((name, "")) if !name.is_empty() => Ok(name),
        Some((_, more)) if !more.is_empty() => {
            Err(Some("parameters of an included file are not supported"))
        }
        _ => Err(Some("expected the name of a file in quotes")),
    }
}
